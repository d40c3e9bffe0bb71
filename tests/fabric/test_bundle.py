# SPDX-License-Identifier: Apache-2.0
"""A container's config.json is the user's, and may say anything."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from weir.base.error import FabricError
from weir.fabric.function import container
from weir.fabric.host import isolated

BUNDLE: dict[str, Any] = {
    "process": {"args": ["true"], "env": ["A=1"], "capabilities": {"bounding": ["CAP_CHOWN"]}},
    "root": {"path": "rootfs"},
    "linux": {"namespaces": [{"type": "mount"}, {"type": "network"}]},
    "mounts": [{"destination": "/proc"}],
}


def made(folder: Path, text: str) -> dict[str, Any]:
    """What the runtime is given."""
    (folder / "rootfs").mkdir()
    (folder / "config.json").write_text(text)
    params = {"bundle": str(folder), "netns": "weir-1-f1", "node": "f1", "runtime": "crun", "cores": []}
    site: Any = SimpleNamespace(directory=folder, note=lambda _facts: None)
    container.command(params, site, [], {"B": "2"})
    found: dict[str, Any] = json.loads((folder / "f1.container" / "config.json").read_text())
    return found


def test_it_is_the_users_with_the_functions_namespace_and_what_packets_take(tmp_path: Path) -> None:
    found = made(tmp_path, json.dumps(BUNDLE))
    assert found["process"]["env"] == ["A=1", "B=2"]
    assert {"CAP_CHOWN", "CAP_NET_RAW"} <= set(found["process"]["capabilities"]["bounding"])
    network = {"type": "network", "path": "/run/netns/weir-1-f1"}
    assert found["linux"]["namespaces"] == [{"type": "mount"}, network]
    assert found["mounts"][0] == {"destination": "/proc"}


@pytest.mark.parametrize(
    ("part", "key"),
    [("process", "env"), ("process", "capabilities"), ("linux", "namespaces"), (None, "mounts")],
)
@pytest.mark.parametrize("value", [None, "ALL", 3])
def test_null_is_as_absent_and_another_kind_is_refused(
    part: str | None, key: str, value: object, tmp_path: Path
) -> None:
    bundle = json.loads(json.dumps(BUNDLE))
    (bundle[part] if part else bundle)[key] = value
    if value is None:
        made(tmp_path, json.dumps(bundle))
        return
    with pytest.raises(FabricError, match=rf"config.json is no bundle that can be run: .*{key}"):
        made(tmp_path, json.dumps(bundle))


def test_one_that_is_nested_without_end_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FabricError, match="it is nested too deeply"):
        made(tmp_path, "[" * 100_000)


def test_what_the_runtime_makes_in_the_image_to_mount_at_goes_and_what_was_there_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(container, "_HUGEPAGES", tmp_path / "no hugepages")
    rootfs, run = tmp_path / "bundle" / "rootfs", tmp_path / "weir" / "own-0badcafe"
    there = Path(f"{rootfs}{tmp_path}")
    for one in (there, run):
        one.mkdir(parents=True)
    (rootfs.parent / "config.json").write_text(json.dumps(BUNDLE))
    params = {
        "bundle": str(rootfs.parent),
        "netns": "weir-1-f1",
        "node": "f1",
        "runtime": "crun",
        "cores": [],
    }
    facts: dict[str, Any] = {}
    site: Any = SimpleNamespace(directory=run, note=facts.update)
    container.command(params, site, [], {})
    monkeypatch.setattr("shutil.which", lambda _name: None)
    made = Path(f"{rootfs}{run}")
    made.mkdir(parents=True)
    container.remove(params, facts, site)
    assert [*there.iterdir()] == []
    made.mkdir(parents=True)
    (made.parent / "of the image").touch()
    container.remove(params, facts, site)
    assert [one.name for one in made.parent.iterdir()] == ["of the image"]
    container.remove(params, facts, site)


def test_no_link_in_the_image_is_followed_when_directories_go(tmp_path: Path) -> None:
    (outside := tmp_path / "outside").mkdir()
    (rootfs := tmp_path / "rootfs").mkdir()
    (rootfs / "run").symlink_to(outside)
    (outside / "weir").mkdir()
    params = {"bundle": str(tmp_path), "netns": "weir-1-f1", "node": "f1", "runtime": "crun", "cores": []}
    site: Any = SimpleNamespace(directory=tmp_path)
    container.remove(params, {"mount_points": [str(rootfs / "run" / "weir")]}, site)
    assert (outside / "weir").is_dir()


def test_on_isolated_cores_none_is_started_since_its_runtime_would_take_it_off_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(isolated, "holding", lambda cores: {2: tmp_path} if 2 in cores else {})
    params = {"bundle": str(tmp_path), "node": "f1", "function": "default", "cores": [2, 3]}
    site: Any = SimpleNamespace(directory=tmp_path)
    with pytest.raises(
        FabricError, match=r"container f1 \(default\) is to run on CPU 2, in an isolated"
    ) as no:
        container.command(params, site, [], {})
    assert "say host.isolation: none" in (no.value.fix or "")
