# SPDX-License-Identifier: Apache-2.0
"""Control groups of programs, on recorded hierarchies of both versions: what is limited where, and what is
said where nothing can be."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from weir.base.error import FabricError
from weir.fabric.function.control_group import ControlGroup
from weir.fabric.host import isolated
from weir.fabric.host.control_groups import Group, hierarchies
from weir.fabric.site import Site
from weir.plan import Step

V2, V1 = "sys/fs/cgroup", "sys/fs/cgroup/{}"
NAME = "weir-00000000-f1"


def write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)


def v2(root: Path, controllers: str, subtree: str = "") -> None:
    write(root, {f"{V2}/cgroup.controllers": controllers, f"{V2}/cgroup.subtree_control": subtree})


def both(root: Path) -> None:
    """Version 1 with the controllers, and version 2 beside it."""
    v1 = {f"{V1.format(one)}/tasks": "" for one in ("memory", "pids", "cpuset")}
    write(root, {"sys/fs/cgroup/unified/cgroup.controllers": "hugetlb", **v1})


def step(**params: Any) -> Step:
    said: dict[str, Any] = {"netns": NAME, "node": "f1", "cores": [0], "memory_limit_mb": 64, "processes": 10}
    said |= {"contained": False, "required": False}
    return Step(
        kind="control-group", name="control-group:f1", params=said | params, text="limit it", undo_text=""
    )


class Noting(SimpleNamespace):
    """A site that keeps what is noted, of the only deployment."""

    def __init__(self) -> None:
        super().__init__(noted={})

    def note(self, facts: dict[str, Any]) -> None:
        self.noted |= facts

    def elsewhere(self, kind: str) -> list[dict[str, Any]]:  # noqa: ARG002
        return []

    def alone(self) -> Noting:
        return self

    def __enter__(self) -> None: ...
    def __exit__(self, *_: object) -> None: ...


def site() -> tuple[Site, dict[str, Any]]:
    made = Noting()
    return cast(Site, made), made.noted


def texts(path: Path) -> dict[str, str]:
    return {one.name: one.read_text() for one in path.iterdir() if one.is_file()}


def test_in_version_2_both_are_limited_and_controllers_are_switched_on_first(tmp_path: Path) -> None:
    v2(tmp_path, "cpuset memory pids", "memory")
    to, noted = site()
    facts = ControlGroup(tmp_path).do(step(), to)
    path = tmp_path / V2 / NAME
    assert texts(path) == {"memory.max": str(64 << 20), "pids.max": str(10 + 4)}
    assert (path / "started").is_dir()
    assert Group((path,)).entrances() == [path / "started" / "cgroup.procs"]
    assert (tmp_path / V2 / "cgroup.subtree_control").read_text() == "+pids"
    assert noted == {"groups": [str(path)], "enabled_pids": str(tmp_path / V2)}
    assert (facts["memory_mb"], facts["without"]) == (64, [])


def test_where_both_versions_are_mounted_each_limits_what_it_has(tmp_path: Path) -> None:
    both(tmp_path)
    to, noted = site()
    assert ControlGroup(tmp_path).do(step(), to)["without"] == []
    assert texts(tmp_path / V1.format("memory") / NAME) == {"memory.limit_in_bytes": str(64 << 20)}
    assert texts(tmp_path / V1.format("pids") / NAME) == {"pids.max": "14"}
    assert not (tmp_path / V1.format("cpuset") / NAME).exists()
    assert (tmp_path / "sys/fs/cgroup/unified" / NAME / "started").is_dir()
    # A container's runtime makes one of that name in each: so all of them are removed.
    assert str(tmp_path / V1.format("cpuset") / NAME) in noted["groups"]


def test_without_a_word_of_the_lab_it_is_half_of_what_is_available(tmp_path: Path) -> None:
    v2(tmp_path, "memory pids", "memory pids")
    write(tmp_path, {"proc/meminfo": "MemTotal: 9000000 kB\nMemAvailable:    4096000 kB\n"})
    assert ControlGroup(tmp_path).do(step(memory_limit_mb=0), site()[0])["memory_mb"] == 2000


def test_what_it_has_no_controller_for_is_said(tmp_path: Path) -> None:
    v2(tmp_path, "pids", "pids")
    assert ControlGroup(tmp_path).do(step(), site()[0])["without"] == ["limit of memory"]


@pytest.mark.parametrize("controllers", ["", "cpuset"])
def test_where_nothing_is_limited_that_is_said(controllers: str, tmp_path: Path) -> None:
    v2(tmp_path, controllers)
    lacks = ControlGroup(tmp_path).do(step(), site()[0])["without"]
    assert lacks == ["limit of memory", "limit of processes", "way to end all that it starts"]


def test_a_machine_without_control_groups_is_told_from_one_that_lets_nobody_make_any(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    handler, asked = ControlGroup(tmp_path), {"cores": [0]}
    nothing = "no control groups that limit memory or processes are mounted in /sys/fs/cgroup"
    assert handler.lacking(asked) == nothing
    write(tmp_path, {f"{V1.format('cpuset')}/tasks": ""})
    assert handler.lacking(asked) == nothing
    (tmp_path / V1.format("cpuset") / "tasks").unlink()
    to, noted = site()
    assert len(handler.do(step(), to)["without"]) == 3
    assert noted == {}
    v2(tmp_path, "memory pids")
    assert handler.lacking(asked) is None
    monkeypatch.setattr("weir.fabric.host.control_groups.Hierarchy.writable", lambda _: False)
    assert handler.lacking(asked) == "/sys/fs/cgroup may not be written"


def test_on_cores_of_a_partition_it_is_said_why_there_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process is in one group of version 2, and one on these cores is in the partition."""
    v2(tmp_path, "memory pids")
    monkeypatch.setattr(isolated, "holding", lambda *_: {0: tmp_path})
    said = ControlGroup(tmp_path).lacking({"cores": [0]})
    assert said is not None
    assert "isolated partition" in said


@pytest.mark.parametrize(
    ("controllers", "online", "isolated_cpus", "said"),
    [
        ("cpuset memory pids", "0-3", [0, 1], True),
        ("cpuset memory pids", "0-3", [1], False),  # another core than the program's
        ("cpuset memory pids", "0-3", [], False),
        ("cpuset memory pids", "0-1", [0, 1], False),  # none would be left to the system: no partition
        ("memory pids", "0-3", [0, 1], False),  # nothing here to make a partition by
    ],
)
def test_that_the_deployments_own_partition_will_hold_its_cores_is_said_before_it_is_made(
    controllers: str, online: str, isolated_cpus: list[int], said: bool, tmp_path: Path
) -> None:
    v2(tmp_path, controllers)
    write(tmp_path, {"sys/devices/system/cpu/online": online})
    why = ControlGroup(tmp_path).lacking({"cores": [0], "isolated": isolated_cpus})
    assert (why is not None and "isolated partition" in why) is said


def test_where_version_1_limits_a_partition_is_no_reason(tmp_path: Path) -> None:
    both(tmp_path)
    write(tmp_path, {"sys/fs/cgroup/unified/cgroup.controllers": "cpuset"})
    write(tmp_path, {"sys/devices/system/cpu/online": "0-3"})
    assert ControlGroup(tmp_path).lacking({"cores": [0], "isolated": [0]}) is None


def test_a_group_of_somebody_elses_is_left_alone(tmp_path: Path) -> None:
    both(tmp_path)
    (tmp_path / V1.format("cpuset") / NAME).mkdir()
    to, noted = site()
    with pytest.raises(FabricError, match=rf"there is a .*cpuset/{NAME} already"):
        ControlGroup(tmp_path).do(step(), to)
    assert noted == {}


def test_controllers_are_switched_off_again_where_nobody_limits_by_them(tmp_path: Path) -> None:
    v2(tmp_path, "memory pids")
    facts = {"groups": [], "enabled_memory": str(tmp_path / V2), "enabled_pids": str(tmp_path / V2)}
    write(tmp_path, {f"{V2}/users/memory.max": "1000", f"{V2}/users/pids.max": "max"})
    ControlGroup(tmp_path).undo({}, facts, site()[0])
    assert (tmp_path / V2 / "cgroup.subtree_control").read_text() == "-pids"


def test_hierarchies_are_told_by_version_and_controller(tmp_path: Path) -> None:
    both(tmp_path)
    found = hierarchies(tmp_path)
    assert {one.top.name: (one.version, one.controllers) for one in found} == {
        "unified": (2, ()),
        "cpuset": (1, ()),
        "memory": (1, ("memory",)),
        "pids": (1, ("pids",)),
    }
    assert found[0].version == 2


@pytest.mark.parametrize("refused", ["memory.failcnt", "memory.memsw.failcnt"])
def test_version_1_tells_a_refusal_by_the_limit_of_memory_or_by_that_of_memory_and_swap(
    refused: str, tmp_path: Path
) -> None:
    counts = dict.fromkeys(("memory.failcnt", "memory.memsw.failcnt"), "0\n")
    write(tmp_path, counts)
    assert not Group((tmp_path,)).refused_memory()
    write(tmp_path, {refused: "3\n"})
    assert Group((tmp_path,)).refused_memory()
