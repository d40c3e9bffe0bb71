# SPDX-License-Identifier: Apache-2.0
"""Killed at the landmarks of a run, weir leaves nothing that the next weir cannot remove; its store is good.

A run is a sequence of calls: to fabric, to weir-dp, to the store, to whoever shows progress. Between two of
them nothing outside its own memory changes. So its points are: each call as it begins, each as it has
returned, and each command of weir-dp once as it is unsent and once as it is unanswered, when weir-dp works
on it. Every system call of a run is a point in `test_system_calls`.
"""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from weir import fabric, plan
from weir.cli.destroy import destroy
from weir.measure.one_case import Event
from weir.procedures.campaign import Campaign
from weir.protocol import DataPlaneClient
from weir.results.result import Case
from weir.store.store import Store

from .killed import kill, survived
from .surroundings import Surroundings
from .tiny import TECHNOLOGIES, tiny_lab

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="makes namespaces and processes: run as root"),
]

# Where `make test` kills a run: in which deployment, the place, and the how manyeth time that it is come to
# from its beginning on: how many trials there are is the machine's to say. The first deployment is the tester
# alone, the second one the chain. Technologies differ in the ports that weir-dp is opening, and in what
# stands while packets flow.
OF_EACH_TECHNOLOGY = (
    (2, "weir-dp configure unanswered", 1),
    (2, "weir-dp traffic.start unanswered", 1),
)
# The same under every technology: one has to do.
OF_ONE = (
    (1, "deploy returned", 1),
    (1, "weir-dp traffic.start unanswered", 1),
    (1, "destroy returned", 1),
    (2, "weir-dp announce unanswered", 1),
    (2, "add_trial returned", 2),
    (2, "weir-dp traffic.result unanswered", 2),
    (2, "add_case returned", 1),
    (2, "destroy begins", 1),
    (2, "update begins", 2),
)
Reached = Callable[[str], None]


class Quiet:
    """Shows next to nothing; each search and each phase of it is a point."""

    def __init__(self, reached: Reached) -> None:
        self._reached = reached

    def say(self, text: str) -> None:
        print(text, flush=True)  # shown if the test fails

    def planned(self, cases: int, budget_s: float | None = None) -> None: ...
    def skipped(self, cases: int) -> None: ...
    def setup(self, name: str) -> None: ...
    def case(self, case: Case) -> None: ...

    def event(self, event: Event) -> None:
        self._reached(f"event {type(event).__name__}")


def watch(reached: Reached) -> None:
    """Makes every call of a run tell when it begins and when it has returned."""

    def around(owner: Any, name: str) -> None:
        inner = getattr(owner, name)

        def outer(*args: Any, **options: Any) -> Any:
            reached(f"{name} begins")
            result = inner(*args, **options)
            reached(f"{name} returned")
            return result

        setattr(owner, name, staticmethod(outer) if name == "deploy" else outer)

    for name in ("check", "clean_leftovers"):
        around(fabric, name)
    for name in ("deploy", "destroy", "counters"):
        around(fabric.Deployment, name)
    for name in ("begin", "update", "add_setup", "update_setup", "add_trial", "add_case"):
        around(Store, name)
    around(DataPlaneClient, "wait")
    send = DataPlaneClient._send

    def sending(client: DataPlaneClient, line: bytes) -> None:
        command = json.loads(line)["cmd"]
        reached(f"weir-dp {command} unsent")
        send(client, line)
        reached(f"weir-dp {command} unanswered")

    setattr(DataPlaneClient, "_send", sending)  # noqa: B010 - in a process of its own


class Killed:
    """Runs of the tiny lab, killed."""

    def __init__(self, technology: str, root: Path, store: Path) -> None:
        self._lab = tiny_lab(technology)
        self.landmarks = OF_EACH_TECHNOLOGY + (OF_ONE if technology == "direct" else ())
        self._store = store
        self._tokens = secrets.token_hex(3)
        self._count = 0
        self.surroundings = Surroundings(root, self._lab.name, self._tokens)

    def at(self, deployment: int, place: str, number: int) -> str | None:
        """One run, killed as it comes to that place for the `number`th time of that deployment.

        The place and which point of the run it was; None: the run came to its end.
        """
        reader, writer = os.pipe()
        with os.fdopen(reader) as said, os.fdopen(writer, "wb", buffering=0) as saying:
            self._store.unlink(missing_ok=True)
            if survived(lambda: self._run(deployment, place, number, saying.fileno())):
                return None
            saying.close()
            where, trials = said.read().split("\t")
        with Store(self._store) as store:
            result = store.latest()
        cases = [case for setup in result.setups for case in setup.cases] if result else []
        stored = sum(len(case.trials) + len(case.curve) for case in cases)
        assert stored - int(trials) in (0, 1), where  # one may have been stored as the kill came
        return where

    def _run(self, deployment: int, wanted: str, number: int, writer: int) -> None:
        points = times = trials = begun = 0

        def reached(place: str) -> None:
            nonlocal points, times, trials, begun
            points += 1
            begun += place == "deploy begins"
            times += begun == deployment and wanted == place
            trials += place == "add_trial returned"
            if times == number:
                os.write(writer, f"point {points}, {place}\t{trials}".encode())
                kill()

        deployments = iter(range(256))

        def deployment_id(name: str, _token: str) -> str:
            return f"{name}-{self._tokens}{next(deployments):02x}"

        setattr(plan, "deployment_id", deployment_id)  # noqa: B010 - in a process of its own
        watch(reached)
        with Store(self._store) as store:
            Campaign(self._lab, quick=False, store=store, progress=Quiet(reached)).run()


@pytest.fixture(
    params=[
        one if one == "linux-bridge" else pytest.param(one, marks=pytest.mark.long) for one in TECHNOLOGIES
    ]
)
def killed(request: pytest.FixtureRequest, run_root: Path, tmp_path: Path) -> Iterator[Killed]:
    refusal = fabric.check(request.param)
    if refusal is not None:
        pytest.skip(f"{request.param} cannot run here: {refusal.missing}")
    runs = Killed(request.param, run_root, tmp_path / "results.db")
    yield runs
    runs.surroundings.remove()


def by_destroy() -> None:
    """`weir destroy --all`."""
    destroy(everything=True)


def by_the_next_start() -> None:
    """What `weir run` and `weir deploy` begin with."""
    fabric.clean_leftovers()


def test_killed_at_the_landmarks_of_a_run(killed: Killed) -> None:
    for index, (deployment, place, number) in enumerate(killed.landmarks):
        where = killed.at(deployment, place, number)
        assert where is not None, f"deployment {deployment} does not come to {place} for the {number}th time"
        (by_the_next_start if index % 2 else by_destroy)()
        killed.surroundings.check(where)
