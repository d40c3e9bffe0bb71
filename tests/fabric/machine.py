# SPDX-License-Identifier: Apache-2.0
"""A machine of plain files, which fabric's own steps change without root: namespaces and processes are files
in directories, settings are files of a tree. Weirs on it are real processes, which can be killed."""

from __future__ import annotations

import gc
import os
import shutil
import signal
import tempfile
import traceback
from collections.abc import Callable, Mapping
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from weir import plan
from weir.base.topology import Topology
from weir.fabric import (
    deployment,
    ending,
    hugepages,
    lifeline,
    namespace,
    process,
    run_directories,
    step_handlers,
)
from weir.fabric.deployment import Event
from weir.fabric.host.settings import Governor, RtThrottle
from weir.fabric.hugepages import Hugepages
from weir.fabric.links import Netns
from weir.fabric.run_directory import RunDirectory
from weir.fabric.site import Facts, Site
from weir.fabric.step_handlers import StepHandler
from weir.lab import Lab
from weir.plan import Step

GOVERNOR = "sys/devices/system/cpu/cpu1/cpufreq/scaling_governor"
RT_RUNTIME = "proc/sys/kernel/sched_rt_runtime_us"
_ONLINE = "sys/devices/system/cpu/online"
_POOL = "sys/kernel/mm/hugepages/hugepages-2048kB"
PAGES = f"{_POOL}/nr_hugepages"
_MEMORY = Path("/dev/shm")  # as /run is; on a disk a sequence takes a sixth more
BEFORE = {GOVERNOR: "schedutil", RT_RUNTIME: "950000", PAGES: "50"}
_LAB = Lab.model_validate({"weir": 1, "name": "small", "chain": "PVP", "technology": ["direct"]})
_TOPOLOGY: Topology = plan.build_topology(_LAB, "direct", _LAB.chains()[0], "small-00000000")


class Daemon:
    """A process, instead of weir-dp."""

    def do(self, step: Step, site: Site) -> Facts:  # noqa: ARG002
        return {"pid": site.spawn(["daemon"], netns=None, env={}, cores=[], log="log")}

    def undo(self, params: Mapping[str, Any], facts: Facts, site: Site) -> None:  # noqa: ARG002
        site.end()


class Machine:
    """It, with fabric put onto it for as long as `patch` lasts."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.place = Path(tempfile.mkdtemp(prefix="weir-machine", dir=_MEMORY if _MEMORY.is_dir() else None))
        self.root = self.place / "run"
        self.namespaces, self.processes, self._tree = (
            self.place / name for name in ("netns", "processes", "tree")
        )
        for one in (self.root, self.namespaces, self.processes):
            one.mkdir()
        for path, text in {_ONLINE: "0-3", f"{_POOL}/free_hugepages": "0", **BEFORE}.items():
            (self._tree / path).parent.mkdir(parents=True, exist_ok=True)
            (self._tree / path).write_text(text)
        (self._tree / _POOL / "surplus_hugepages").write_text("0")
        self._pids = count(1)
        self._fuse = -1
        patch.setenv("WEIR_RUN_DIR", str(self.root))
        patch.setattr(run_directories, "USUAL", self.place / "usual")
        patch.setenv(lifeline.OFF, "1")
        patch.setattr(namespace, "DIRECTORY", self.namespaces)
        patch.setattr(namespace, "create", self._create)
        patch.setattr(namespace, "delete", self._delete)
        patch.setattr(process, "spawn", self._spawn)
        patch.setattr(ending, "end_marked", self._end_marked)
        patch.setattr(hugepages, "DIRECTORY", self._tree / _POOL)
        patch.setattr(hugepages, "NODES", self.place / "no-nodes")
        patch.setattr(deployment, "EXEC_S", 0.0)
        handlers: dict[str, StepHandler] = {
            "run-directory": RunDirectory(),
            "hugepages": Hugepages(),
            "governor": Governor(self._tree, self._write),
            "rt-throttle": RtThrottle(self._tree, self._write),
            "netns": Netns(),
            "weir-dp": Daemon(),
        }
        patch.setattr(deployment, "step_handler", handlers.__getitem__)
        assert set(handlers) <= set(step_handlers._HANDLERS)

    def remove(self) -> None:
        shutil.rmtree(self.place)

    # --- what the kernel does; each change is a point at which a weir may be killed ---

    def _burn(self) -> None:
        self._fuse -= 1
        if self._fuse == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    def _write(self, path: Path, text: str) -> None:
        self._burn()
        path.write_text(text)
        self._burn()

    def _create(self, name: str) -> None:
        self._burn()
        (self.namespaces / name).touch(exist_ok=False)
        self._burn()

    def _delete(self, name: str) -> None:
        self._burn()
        (self.namespaces / name).unlink(missing_ok=True)
        self._burn()

    def _spawn(self, argv: list[str], *, marker: str, **_: Any) -> int:  # noqa: ARG002
        self._burn()
        pid = os.getpid() * 1000 + next(self._pids)
        (self.processes / str(pid)).write_text(marker)
        self._burn()
        return pid

    def _end_marked(self, marker: str, *_: object) -> None:
        for one in list(self.processes.iterdir()):
            if one.read_text() == marker:
                one.unlink()
                self._burn()

    # --- what the administrator sees and sets ---

    def value(self, path: str) -> str:
        return (self._tree / path).read_text().strip()

    def put(self, path: str, text: str) -> None:
        (self._tree / path).write_text(text)

    def parts(self, name: str) -> set[Path]:
        """All that there is of a deployment."""
        token = name.rsplit("-", 1)[1]
        found = {path for path in (self.root / name,) if path.exists()}
        found |= {path for path in self.namespaces.iterdir() if path.name.startswith(f"weir-{token}-")}
        for path in self.processes.iterdir():
            with suppress(FileNotFoundError):
                if path.read_text().startswith(f"{name}/"):
                    found.add(path)
        return found

    # --- Weirs ---

    def steps(self, name: str) -> list[Step]:
        token = name.rsplit("-", 1)[1]
        asked: list[tuple[str, str, dict[str, Any]]] = [
            ("run-directory", "run-directory", {}),
            ("hugepages", "hugepages", {"memory_mb": 100, "cpus": [1]}),
            ("governor", "governor", {"cpus": [1], "governor": "performance"}),
            ("rt-throttle", "rt-throttle", {"cpus": [1]}),
            ("netns", "netns:l", {"netns": f"weir-{token}-l"}),
            ("netns", "netns:r", {"netns": f"weir-{token}-r"}),
            ("weir-dp", "weir-dp", {}),
        ]
        return [
            Step.model_validate(
                {"kind": kind, "name": called, "params": params, "text": called, "undo_text": ""}
            )
            for kind, called, params in asked
        ]

    def deploy(self, name: str) -> deployment.Deployment:
        about = _TOPOLOGY.model_copy(update={"deployment": name})
        return deployment.Deployment.deploy(self.steps(name), about, self._event, shares_cores=True)

    def destroy(self, name: str) -> None:
        (one,) = [one for one in deployment.deployments() if one.id == name]
        one.destroy(self._event)

    def _event(self, _event: Event) -> None:
        self._burn()

    def weir(self, work: Callable[[], object], fuse: int = -1) -> bool:
        """A weir that does it, killed at that change if there are so many. Whether it came to its end."""
        return _ended(self.begun(work, fuse))

    def begun(self, work: Callable[[], object], fuse: int = -1) -> int:
        """Its pid; it may not have ended."""
        pid = os.fork()
        if pid == 0:
            gc.disable()  # it touches all of pytest's objects, whose pages would be copied
            code = 1
            try:
                self._fuse = fuse
                work()
                code = 0
            except BaseException:  # nothing may get back into the child's copy of pytest
                os.write(2, traceback.format_exc().encode())
            os._exit(code)
        return pid


class Running:
    """A weir that has deployed, and works with it until it is told what to do."""

    def __init__(self, machine: Machine, name: str) -> None:
        (asked, self._tell), (said, answer) = os.pipe(), os.pipe()

        def work() -> None:
            os.close(self._tell)
            one = machine.deploy(name)
            os.write(answer, b".")
            if os.read(asked, 1) == b"k":
                one.keep()
            else:
                one.destroy()

        self.pid = machine.begun(work)
        os.close(asked)
        os.close(answer)
        assert os.read(said, 1) == b".", "it did not deploy"
        os.close(said)

    def keep(self) -> None:
        os.write(self._tell, b"k")
        self._end(0)

    def finish(self) -> None:
        os.write(self._tell, b"d")
        self._end(0)

    def kill(self) -> None:
        os.kill(self.pid, signal.SIGKILL)
        self._end(-signal.SIGKILL)

    def _end(self, code: int) -> None:
        os.close(self._tell)
        assert os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1]) == code


def _ended(pid: int) -> bool:
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    assert code in (0, -signal.SIGKILL), "a weir ended in a traceback"
    return code == 0
