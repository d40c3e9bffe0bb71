# SPDX-License-Identifier: Apache-2.0
"""Functions in OCI containers: every packet is accounted for, one that fails is a finding, nothing stays."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from weir import fabric
from weir.base.error import FabricError
from weir.fabric.function.control_group import ControlGroup
from weir.lab import Lab
from weir.lab.function import FunctionOptions
from weir.lab.lab import DEFAULT_FUNCTION
from weir.results.result import Trial

from .tiny import tiny_lab
from .trials import trials_of

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="makes namespaces and processes: run as root"),
]

GENTLE_PPS, DURATION_S, DRAIN_MS = 500, 0.2, 300
HERE = Path(__file__).parent
ENDS = [f"{{{side}.{value}}}" for side in ("left", "right") for value in ("name", "mac", "gateway_mac")]
FORWARDER = [os.path.realpath(sys.executable), str(HERE / "forwarder.py"), *ENDS]
GROUPS = Path("/sys/fs/cgroup")


def bundle(folder: Path, *args: str, **changes: Any) -> Path:
    """A bundle whose files are this host's: its own are its empty directories and config.json."""
    rootfs = folder / "rootfs"
    rootfs.mkdir(parents=True)
    shown = ["/usr", str(HERE), os.path.realpath(sys.base_prefix)]
    for name in ("bin", "lib", "lib64"):
        (rootfs / name).symlink_to(f"usr/{name}")
    binds = [
        {"destination": one, "type": "bind", "source": one, "options": ["rbind", "ro"]}
        for one in dict.fromkeys(shown)
    ]
    config = {
        "ociVersion": "1.0.2",
        "process": {"user": {"uid": 0, "gid": 0}, "args": [*args], "env": ["PATH=/usr/bin"], "cwd": "/"},
        "root": {"path": "rootfs"},
        "mounts": [{"destination": "/proc", "type": "proc", "source": "proc"}, *binds],
        "linux": {"namespaces": [{"type": kind} for kind in ("pid", "ipc", "uts", "mount", "network")]},
    }
    (folder / "config.json").write_text(json.dumps(config | changes))
    return folder


def require(runtime: str, folder: Path) -> None:
    """Skips where it runs nothing, without anything of ours: crun refuses control groups of both versions."""
    if shutil.which(runtime) is None:
        pytest.skip(f"{runtime} is not installed")
    folder.mkdir()
    where = bundle(folder / "probe", "true")
    argv = [
        runtime,
        "--root",
        str(folder / "state"),
        "run",
        "--bundle",
        str(where),
        f"weir-probe-{os.getpid()}",
    ]
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.skip(f"{runtime} runs nothing here: {done.stderr.strip()[-200:]}")


@pytest.fixture(autouse=True)
def _runc(request: pytest.FixtureRequest, tmp_path: Path) -> None:
    if "runtime" not in request.fixturenames:
        require("runc", tmp_path / "runc")


def container_lab(where: Path, runtime: str | None = None, **program: Any) -> Lab:
    tiny = tiny_lab("linux-bridge")
    said: dict[str, Any] = {"kind": "container", "container": {"bundle": str(where), "runtime": runtime}}
    function = FunctionOptions.model_validate(said | ({"program": program} if program else {}))
    traffic = tiny.traffic.model_copy(update={"frames": ("128",)})
    return tiny.model_copy(update={"functions": {DEFAULT_FUNCTION: function}, "traffic": traffic})


def trial_of(lab: Lab) -> Trial:
    (trial,) = trials_of(lab, 1, GENTLE_PPS, DURATION_S, drain_ms=DRAIN_MS)
    return trial


def left_behind(run_root: Path) -> list[Path]:
    return [*run_root.iterdir(), *GROUPS.glob("weir-*"), *GROUPS.glob("*/weir-*")]


@pytest.mark.long
@pytest.mark.parametrize("runtime", ["runc", "crun"])
def test_what_a_container_forwards_and_what_it_loses_is_accounted_for(
    runtime: str, tmp_path: Path, run_root: Path
) -> None:
    require(runtime, tmp_path / runtime)
    where = bundle(tmp_path / "bundle", "true")
    before = (where / "config.json").read_text()
    whole = trial_of(container_lab(where, runtime, command=FORWARDER, ready="forwarding"))
    assert whole.delivered == whole.offered > 0, whole.drops
    trial = trial_of(container_lab(where, runtime, command=[*FORWARDER, "drop=5"], ready="forwarding"))
    lost = {(drop.place, drop.reason): drop.packets for drop in trial.drops if drop.packets}
    assert lost == {("f1/program", "not_returned"): trial.offered // 5}
    assert (whole.unaccounted, trial.unaccounted) == (0, 0)
    assert any(area.name.startswith("program:f1") for area in trial.areas), trial.areas
    assert (where / "config.json").read_text() == before
    assert not Path(f"{where}/rootfs{run_root}").exists()
    assert left_behind(run_root) == []


@pytest.mark.long
def test_its_image_says_what_is_started_where_the_lab_does_not(tmp_path: Path, run_root: Path) -> None:
    script = "cat /proc/self/cgroup; ls /sys/class/net /run > /dev/null; echo forwarding; exec sleep 3600"
    where = bundle(tmp_path / "bundle", "sh", "-c", script)
    trial = trial_of(container_lab(where, ready="forwarding"))
    assert [(one.place, one.reason) for one in trial.drops] == [("f1/program", "not_returned")]
    assert left_behind(run_root) == []


@pytest.mark.long
def test_its_first_process_which_signals_do_not_reach_is_killed_after_its_time(
    tmp_path: Path, run_root: Path
) -> None:
    where = bundle(tmp_path / "bundle", "sh", "-c", "echo forwarding; while :; do sleep 0.1; done")
    assert trial_of(container_lab(where, ready="forwarding", stop_time_limit_s=0.3)).unaccounted == 0
    assert left_behind(run_root) == []


@pytest.mark.long
def test_a_container_that_ends_early_is_said_with_its_last_words(tmp_path: Path, run_root: Path) -> None:
    where = bundle(tmp_path / "bundle", "sh", "-c", "echo no licence; exit 3")
    with pytest.raises(FabricError, match="exit code 3 before it was ready: no licence"):
        trial_of(container_lab(where, ready="forwarding"))
    assert left_behind(run_root) == []


@pytest.mark.parametrize(
    ("script", "limits", "said"),
    [
        ("echo forwarding; x=y; while :; do x=$x$x; done", {"memory_limit_mb": 64}, "more than its 64 MB"),
        ("echo forwarding; while :; do sleep 9 & done", {"processes": 40}, "more than its 40 processes"),
    ],
)
def test_a_container_that_takes_too_much_comes_to_its_limit_and_is_ended(
    script: str, limits: dict[str, Any], said: str, tmp_path: Path, run_root: Path
) -> None:
    if ControlGroup().lacking({"cores": []}) is not None:
        pytest.skip("control groups cannot be made")
    where = bundle(tmp_path / "bundle", "sh", "-c", script)
    with pytest.raises(FabricError, match=said):
        trial_of(container_lab(where, ready="nothing that it says", **limits))
    assert left_behind(run_root) == []


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"process": None}, "it has no process"),
        ({"root": {"path": "elsewhere"}}, "elsewhere, and there is no such directory"),
        ({"linux": {"namespaces": [{"type": "user"}]}}, "it has a user namespace"),
        ({"process": {"cwd": "/"}}, "process.args is empty"),
    ],
)
def test_a_bundle_that_cannot_be_run_is_refused_with_its_file(
    changes: dict[str, Any], said: str, tmp_path: Path, run_root: Path
) -> None:
    where = bundle(tmp_path / "bundle", "true", **changes)
    with pytest.raises(FabricError, match=said) as refused:
        trial_of(container_lab(where))
    assert str(where / "config.json") in str(refused.value)
    assert left_behind(run_root) == []


def test_a_machine_without_a_runtime_refuses(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    lab = container_lab(bundle(tmp_path / "bundle", "true"))
    (needed,) = [one for one in lab.programs("PVP") if one.or_else]
    refusal = fabric.check("linux-bridge", programs=[needed])
    assert refusal is not None
    assert "runc or crun not installed" in refusal.missing
    assert "install the Debian package runc" in refusal.fix
