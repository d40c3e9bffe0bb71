# SPDX-License-Identifier: Apache-2.0
"""Whatever system call of whatever command weir is killed or stopped at, or which fails: nothing is lost,
left behind or touched that is not Weir's, and no command hangs or ends in a traceback.

A command is run once to see its calls (`system_calls`), and then again for each of them, which does not
happen: a signal comes in its place, or it returns an error (`points`). Where there are too many, WEIR_SEED
chooses others. All of them take hours: WEIR_PART=3/20 tries the third of twenty parts. WEIR_RECORD=1 writes
down what was tried (tools/regime.py).
"""

from __future__ import annotations

import os
import sys
import time
import traceback
from pathlib import Path

import pytest

from tests.part import Part
from tools import regime
from weir import fabric
from weir.cli.exits import FAILED, OK

from .points import Choice, Point
from .scenes import Deploy, Destroy, Migrate, Reset, Run, Scene, Soak, Tune, Untune
from .system_calls import NOT_BEGUN, Call, Ended, strace_works, traced
from .tiny import TECHNOLOGIES

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="makes namespaces and processes: run as root"),
    pytest.mark.skipif(not strace_works(), reason="strace is not there, or may not trace"),
]

SEED = int(os.environ.get("WEIR_SEED") or 0)
PART = Part.asked()
A_FEW = 2
"""Points that another course of the command may leave out, where a part has hardly more."""


class Trials:
    """Attempts at one scene."""

    def __init__(self, scene: Scene, folder: Path) -> None:
        self._scene = scene
        self._folder = folder
        self.faults: list[str] = []
        self.came = self.missed = 0

    def _traced(self, inject: str | None = None) -> Ended:
        scene = self._scene
        return traced(scene.work, self._folder, inject, before=scene.child, within_s=scene.within_s)

    def calls(self) -> list[Call]:
        """Those of the command when nothing happens."""
        self._scene.prepare()
        ended = self._traced()
        self._scene.after(ended, "nothing")
        assert ended.code in (OK, FAILED), ended.said  # a noisy machine lets no rate be found
        return ended.calls

    def attempt(self, point: Point) -> None:
        call = point.call
        try:
            self._scene.prepare()
        except AssertionError:  # the machine is full of others'
            self.missed += 1
            self._scene.rescue()
            return
        when = f"{point.what} at {call.name} number {call.number}: {call.text}"
        try:
            inject = f"{call.name}:{point.what}:when={call.number}"
            ended = self._traced(inject)
            came = ended.came_to(call) and ended.code != NOT_BEGUN
            self.came += came
            self.missed += not came
            now = [one.text for one in ended.calls if (one.name, one.number) == (call.name, call.number)]
            self._scene.after(ended, f"{when}; in this run {now}")
        except Exception as fault:
            (*_, place) = traceback.extract_tb(fault.__traceback__)
            self.faults.append(f"{when}: {place.name}: {place.line}: {type(fault).__name__}: {fault}"[:6000])
            self._scene.rescue()


def tried(
    kind: type[Scene], technology: str, choice: Choice, root: Path, folder: Path, *, record: bool
) -> Trials:
    refusal = fabric.check(technology)
    if refusal is not None:
        pytest.skip(f"{technology} cannot run here: {refusal.missing}")
    missing = kind.lacking()
    if missing is not None:
        pytest.skip(missing)
    command, began_s = _named(kind, technology), time.monotonic()
    scene = kind(kind.__name__.lower(), root, folder, technology)
    try:
        trials = Trials(scene, folder)
        points = choice.points(command, trials.calls())
        try:
            for one in points:
                trials.attempt(one)
        finally:  # of what Ctrl-C ends, too
            if record:
                regime.record(
                    regime.Tried.now(
                        "points", command, part=str(choice.part), seed=choice.seed, asked=len(points),
                        tried=trials.came, not_come_to=trials.missed, faults=len(trials.faults),
                        seconds=time.monotonic() - began_s,
                    )
                )  # fmt: skip
    finally:
        scene.remove()
    return trials


def _named(kind: type[Scene], technology: str) -> str:
    return f"{kind.__name__.lower()} under {technology}"


SCENES: list[tuple[type[Scene], str]] = [
    *((kind, name) for kind in (Deploy, Destroy, Run) for name in TECHNOLOGIES),
    *((Reset, name) for name in TECHNOLOGIES if name != "direct"),
    *((kind, "direct") for kind in (Tune, Untune, Soak)),
    (Migrate, "linux-bridge"),
]
FEW: dict[tuple[type[Scene], str], int] = {
    (Deploy, "direct"): 60, (Deploy, "linux-bridge"): 8, (Deploy, "ovs"): 3, (Deploy, "ovs-dpdk"): 2,
    (Destroy, "direct"): 36, (Destroy, "linux-bridge"): 8, (Reset, "linux-bridge"): 4,
    (Tune, "direct"): 38, (Untune, "direct"): 38, (Run, "direct"): 3,
}  # fmt: skip
"""How many of each in `make test-long`, by what one costs."""
FEWEST = (Deploy, "direct"), 12
"""In `make test`."""
MEASURING, OF_A_MEASUREMENT = (Run, Soak), 500
OF_A_MIGRATION = 40  # two emulated guests are booted for each


def _many(kind: type[Scene], _technology: str) -> int:
    """All of what builds and takes down; of measurements, which have thousands and take seconds, some. Or
    WEIR_POINTS."""
    most = OF_A_MEASUREMENT if kind in MEASURING else sys.maxsize
    return int(os.environ.get("WEIR_POINTS") or (OF_A_MIGRATION if kind is Migrate else most))


@pytest.mark.parametrize(
    ("kind", "technology", "choice"),
    [
        *(
            pytest.param(
                *scene, Choice(_many(*scene), SEED, PART), marks=pytest.mark.slow, id=f"{_named(*scene)}-many"
            )
            for scene in SCENES
        ),
        *(
            pytest.param(
                *scene, Choice(few, SEED, PART), marks=pytest.mark.long, id=f"{_named(*scene)}-{few}"
            )
            for scene, few in FEW.items()
        ),
        pytest.param(*FEWEST[0], Choice(FEWEST[1], SEED, PART), id=f"{_named(*FEWEST[0])}-{FEWEST[1]}"),
    ],
)
def test_a_system_call_that_does_not_happen(  # noqa: PLR0917 - fixtures
    kind: type[Scene],
    technology: str,
    choice: Choice,
    run_root: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    started = time.monotonic()
    many = choice.most == _many(kind, technology)
    trials = tried(kind, technology, choice, run_root, tmp_path, record=many and regime.wanted())
    with capsys.disabled():
        print(
            f"\n{_named(kind, technology)}, seed {SEED}, part {PART}: {trials.came} points, "
            f"{trials.missed} not come to, {len(trials.faults)} faults, {time.monotonic() - started:.1f} s"
        )
    assert trials.faults == [], "\n\n".join(trials.faults)
    assert trials.missed <= max(A_FEW, trials.came)
