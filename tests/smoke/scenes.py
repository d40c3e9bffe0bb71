# SPDX-License-Identifier: Apache-2.0
"""Commands of Weir in which something goes wrong, what was there before them, and what must be so after."""

from __future__ import annotations

import json
import mmap
import os
import secrets
import signal
import sqlite3
import sys
from collections.abc import Callable
from contextlib import closing
from itertools import count
from pathlib import Path
from typing import Any

from weir import fabric, plan
from weir.base.topology import Topology
from weir.cli.exits import FAILED, INTERRUPTED, OK
from weir.cli.main import main
from weir.fabric import markers
from weir.fabric.reset import resets
from weir.lab import load_lab
from weir.store.open_case import OpenCaseStore
from weir.store.store import Store

from .killed import survived
from .migrated import DRAIN_MS, GUEST, impossible
from .surroundings import Surroundings
from .system_calls import ENDS_WITHIN_S, NOT_BEGUN, Ended
from .test_tuned_host import picture
from .tiny import LAB, tiny_lab

TUNED = """weir: 1
name: tiny
chain: PVP
technology: direct
cores: {tester: [CPU], functions: [CPU], switch: [CPU]}
technologies: {direct: {wire: memory}}
host: {rt: true}
"""


class Scene:
    """One command, again and again. What it deploys has a token that is known beforehand."""

    within_s = ENDS_WITHIN_S
    """After so long the command is said to hang."""

    def __init__(self, name: str, root: Path, folder: Path, technology: str = "direct") -> None:
        self.name = f"{name} {technology}"
        self.technology = technology
        self.folder = folder
        self.lab = folder / "lab.yml"
        text = LAB.read_text().replace("[direct, linux-bridge, ovs, ovs-dpdk]", technology)
        self.lab.write_text(text)
        self._tokens = secrets.token_hex(3)
        self._numbers = count()
        self._turn = count()
        self.surroundings = Surroundings(root, "tiny", self._tokens)
        self._standing_by = _stand_by()
        self.surroundings.kept = {self._standing_by.id, f"{self._standing_by.id}.journal"}
        self._parts = _parts(self._standing_by)

    @classmethod
    def lacking(cls) -> str | None:
        """What this machine has not, beside what the technology needs."""
        return None

    def before(self) -> None:
        """What the child does before anything goes wrong."""

    def prepare(self) -> None:
        """What stands when the command begins."""

    def work(self) -> None:
        """The command."""
        raise NotImplementedError

    def child(self) -> None:
        """What precedes the command, in its own process."""
        setattr(plan, "deployment_id", self.deployment_id)  # noqa: B010 - in a process of its own
        self.before()

    def deployment_id(self, name: str, _token: str = "") -> str:
        return f"{name}-{self._tokens}{next(self._numbers) % 256:02x}"

    def mine(self) -> list[fabric.Deployment]:
        """What the command has left."""
        return [one for one in fabric.deployments() if one.id != self._standing_by.id]

    def after(self, ended: Ended, when: str) -> None:
        """AssertionError if it ended as no command may, or left what the next one does not remove."""
        told = f"{self.name}, {when}: exit {ended.code}\n{ended.said}"
        assert "Traceback" not in ended.said, told
        assert "Exception ignored" not in ended.said, told
        expected = (OK, FAILED, fabric.FabricError.exit_code, INTERRUPTED, NOT_BEGUN, -9, -15, -1)
        assert ended.code in expected, told
        if ended.code not in (OK, FAILED) and ended.code > 0:
            assert "weir: " in ended.said or "interrupted" in ended.said, told
        self.at_once(ended, told)
        if next(self._turn) % 2:
            fabric.clean_leftovers()
        for one in self.mine():
            one.destroy()
        fabric.clean_leftovers()
        self.surroundings.check(told)
        assert _parts(self._standing_by) == self._parts, told
        self.then(told)

    def at_once(self, ended: Ended, told: str) -> None:
        """What holds before another Weir has done anything: nothing stands of a command that answered."""
        if ended.code in (OK, FAILED, INTERRUPTED):
            assert [one.id for one in self.mine()] == [], told

    def then(self, told: str) -> None:
        """What else holds when all is gone."""

    def rescue(self) -> None:
        """After a fault: the next attempt finds what the first one found."""
        for one in self.mine():
            for pid in {pid for name in one.processes() for pid in markers.marked(f"{one.id}/{name}")}:
                os.kill(pid, signal.SIGKILL)
            one.destroy()
        fabric.clean_leftovers()
        self.surroundings.forgive()

    def remove(self) -> None:
        for one in fabric.deployments():
            one.destroy()
        self.surroundings.remove()


class Deploy(Scene):
    """`weir deploy`."""

    def work(self) -> None:
        weir("deploy", self.lab)

    def at_once(self, ended: Ended, told: str) -> None:
        kept = [one for one in self.mine() if one.state() == "kept"]
        if ended.code == OK:
            (one,) = kept
            one.require_alive()
        elif ended.code == INTERRUPTED:
            assert kept == [], told


class Destroy(Scene):
    """`weir destroy` of what `weir deploy` left."""

    def prepare(self) -> None:
        lab = tiny_lab(self.technology)
        topology = plan.build_topology(lab, self.technology, lab.chains()[0], self.deployment_id("tiny"))
        assert survived(lambda: fabric.Deployment.deploy(plan.steps(topology, lab), topology).keep())
        (one,) = self.mine()
        self._id = one.id

    def work(self) -> None:
        weir("destroy", self._id)

    def at_once(self, ended: Ended, told: str) -> None:
        """It is gone, or, of a command that was stopped before it had begun, stands as it stood."""
        left = self.mine() if ended.code in (OK, FAILED, INTERRUPTED) else []
        if ended.code == INTERRUPTED and left:
            assert [(one.id, one.state()) for one in left] == [(self._id, "kept")], told
            left.pop().require_alive()
        assert left == [], told


class Run(Scene):
    """`weir run`; the store has what was committed."""

    def __init__(self, name: str, root: Path, folder: Path, technology: str = "direct") -> None:
        super().__init__(name, root, folder, technology)
        self._store = folder / "results.db"
        self._committed = mmap.mmap(-1, 8)

    def prepare(self) -> None:
        for path in self.folder.glob("results.db*"):
            path.unlink()
        self._committed[:8] = bytes(8)

    def before(self) -> None:
        for owner, method in ((Store, "add_trial"), (OpenCaseStore, "add_interval")):
            setattr(owner, method, self._counting(getattr(owner, method)))

    def _counting(self, inner: Callable[..., Any]) -> Callable[..., Any]:
        def outer(*args: Any, **options: Any) -> Any:
            found = inner(*args, **options)
            if inner.__name__ == "add_interval" and len(args) <= len(("store", "setup", "case")):
                return found  # what is known of a soak, and no interval of it
            self._committed[:8] = (self._count() + 1).to_bytes(8, "little")
            return found

        return outer

    def _count(self) -> int:
        return int.from_bytes(self._committed[:8], "little")

    def work(self) -> None:
        weir("run", self.lab, "--store", self._store, "--output", self.folder / "report")

    def then(self, told: str) -> None:
        """Every trial of which the store had said that it is committed is there, and it can be written."""
        if not self._store.exists():
            assert self._count() == 0, told
            return
        with closing(sqlite3.connect(self._store)) as database:
            assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)], told
        with Store(self._store) as store:
            result = store.latest()
        cases = [case for setup in result.setups for case in setup.cases] if result else []
        stored = sum(
            len(one.trials) + len(one.curve) + len(one.soak.intervals if one.soak else ()) for one in cases
        )
        assert stored >= self._count(), told


class Soak(Run):
    """`weir soak`."""

    def work(self) -> None:
        words = ("--rate", "5kpps", "--duration", "1s", "--interval", "300ms")
        weir("soak", self.lab, *words, "--store", self._store, "--output", self.folder / "report")


class Migrate(Run):
    """`weir migrate` of an emulated guest."""

    within_s = 300.0

    def __init__(self, name: str, root: Path, folder: Path, technology: str = "linux-bridge") -> None:
        super().__init__(name, root, folder, technology)
        guest = {"default": {"kind": "vm", "vm": GUEST.model_dump(mode="json", exclude_unset=True)}}
        text = self.lab.read_text().replace("drain_ms: 1,", f"drain_ms: {DRAIN_MS},")
        self.lab.write_text(f"{text}functions: {json.dumps(guest)}\n")

    @classmethod
    def lacking(cls) -> str | None:
        return impossible()

    def work(self) -> None:
        words = ("--rate", "400pps", "--settle", "200ms")
        weir("migrate", self.lab, *words, "--store", self._store, "--output", self.folder / "report")


class Reset(Scene):
    """What a chain passes through is reset, and then all is taken down."""

    def before(self) -> None:
        lab = tiny_lab(self.technology)
        topology = plan.build_topology(lab, self.technology, lab.chains()[0], self.deployment_id("tiny"))
        self._deployed = fabric.Deployment.deploy(plan.steps(topology, lab), topology)

    def work(self) -> None:
        try:
            (reset,) = resets(self._deployed)
            reset.do()
        except fabric.FabricError as error:
            print(f"weir: {error}")
            raise SystemExit(error.exit_code) from None
        except KeyboardInterrupt:
            print("interrupted")
            raise SystemExit(INTERRUPTED) from None
        finally:
            self._taken_down()

    def _taken_down(self) -> None:
        try:
            self._deployed.destroy()
        except fabric.FabricError as error:
            print(f"weir: {error}")
            raise SystemExit(error.exit_code) from None
        except KeyboardInterrupt:
            print("interrupted")
            raise SystemExit(INTERRUPTED) from None


class Tune(Scene):
    """`weir tune`; the settings are the administrator's again."""

    def __init__(self, name: str, root: Path, folder: Path, technology: str = "direct") -> None:
        super().__init__(name, root, folder, technology)
        self.lab.write_text(TUNED.replace("CPU", "1"))
        self._picture = picture()

    def child(self) -> None:
        setattr(plan, "tuning", self._tuning)  # noqa: B010 - in a process of its own
        self.before()

    def _tuning(self, lab: Any, _token: str) -> Any:
        return _TUNING(lab, f"{self._tokens}{next(self._numbers) % 256:02x}")

    def work(self) -> None:
        weir("tune", self.lab)

    def at_once(self, ended: Ended, told: str) -> None:
        kept = [one for one in self.mine() if one.state() == "kept"]
        if ended.code == OK:
            assert len(kept) == 1, told
            assert picture() != self._picture, told
        elif ended.code == INTERRUPTED:
            assert kept == [], told

    def then(self, told: str) -> None:
        assert picture() == self._picture, told


class Untune(Tune):
    """`weir tune --undo`."""

    def prepare(self) -> None:
        assert survived(self._tuned)

    def _tuned(self) -> None:
        sys.stdout = sys.__stdout__  # pytest's has no descriptor
        self.child()
        weir("tune", self.lab)

    def work(self) -> None:
        weir("tune", self.lab, "--undo")

    def at_once(self, ended: Ended, told: str) -> None:
        if ended.code == OK:
            assert self.mine() == [], told


_TUNING = plan.tuning


def weir(*words: object) -> None:
    """The command line, in this process."""
    sys.argv = ["weir", *map(str, words)]
    try:
        main()
    except SystemExit as end:
        if end.code:
            raise


def _stand_by() -> fabric.Deployment:
    """A deployment that is kept while all others come and go: namespaces, links and a directory. It polls on
    no core that they want."""
    lab = load_lab(LAB, quick=False, cpus=[1000, 1001, 1002, 1003]).model_copy(update={"name": "standing"})
    topology: Topology = plan.build_topology(
        lab, "linux-bridge", lab.chains()[0], plan.deployment_id(lab.name, secrets.token_hex(4))
    )
    steps = [
        step
        for step in plan.steps(topology, lab)
        if step.kind in ("run-directory", "netns", "sysctl", "veth", "bridge", "bridge-port")
    ]
    deployment = fabric.Deployment.deploy(steps, topology, shares_cores=True)
    deployment.keep()
    deployment._journal.close()
    (kept,) = [one for one in fabric.deployments() if one.id == deployment.id]
    return kept


def _parts(kept: fabric.Deployment) -> set[str]:
    """What stands of it: its state, its directory, its namespaces and the links in them."""
    assert kept.state() == "kept"
    assert kept.topology is not None
    found = {str(kept.run_dir)} if kept.run_dir.is_dir() else set()
    names = {port.netns for port in kept.topology.ports if port.netns is not None}
    with closing(kept._site()) as site:
        for name in names:
            found |= {f"{name}/{link.get('ifname')}" for link in site.route(name).get_links()}
    return found
