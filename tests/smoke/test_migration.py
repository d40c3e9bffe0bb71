# SPDX-License-Identifier: Apache-2.0
"""A guest that is really migrated under traffic, emulated: what it says, what is counted, what is left; also
when it is interrupted or killed."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from weir import fabric
from weir.lab import Lab
from weir.lab.function import FunctionOptions
from weir.lab.lab import DEFAULT_FUNCTION
from weir.procedures.migration.course import SAID
from weir.procedures.migration.run import MigrationRun, MigrationSettings
from weir.results.migration import PhaseName
from weir.results.result import Result
from weir.store.open_case import OpenCaseStore

from .killed import kill, survived
from .migrated import DRAIN_MS, GUEST, impossible
from .surroundings import Surroundings
from .tiny import tiny_lab

pytestmark = [
    pytest.mark.root,
    pytest.mark.slow,
    pytest.mark.skipif(os.geteuid() != 0, reason="makes namespaces and processes: run as root"),
]

LOAD_PPS = 400.0


class Quiet:
    """Shows nothing."""

    def say(self, text: str) -> None: ...
    def setup(self, name: str) -> None: ...


class Ending(Quiet):
    """Does something as soon as a phase has begun."""

    def __init__(self, phase: PhaseName, do: Callable[[], None]) -> None:
        self._phase: PhaseName = phase
        self._do = do

    def say(self, text: str) -> None:
        if text.strip() == SAID[self._phase]:
            self._do()


def interrupt() -> None:
    """As Ctrl-C does."""
    os.kill(os.getpid(), signal.SIGINT)


def lab() -> Lab:
    tiny = tiny_lab("linux-bridge")
    function = FunctionOptions(kind="vm", vm=GUEST)
    trial = tiny.measure.trial.model_copy(update={"drain_ms": DRAIN_MS})
    return tiny.model_copy(
        update={
            "functions": {DEFAULT_FUNCTION: function},
            "measure": tiny.measure.model_copy(update={"trial": trial}),
        }
    )


@pytest.fixture
def possible() -> None:
    missing = impossible()
    if missing is not None:
        pytest.skip(missing)


def settings(its: Lab, **changes: object) -> MigrationSettings:
    fields: dict[str, object] = {
        "technology": "linux-bridge",
        "chain": its.chains()[0],
        "variant": None,
        "node": "f1",
        "frame": "64",
        "load": "400pps",
        "load_pps": LOAD_PPS,
        "settle_s": 2.0,
        "time_limit_s": 120.0,
        "downtime_limit_ms": 300,
        "bandwidth_bps": None,
    }
    return MigrationSettings(**(fields | changes))  # type: ignore[arg-type]


@pytest.mark.usefixtures("possible")
def test_a_loaded_guest_moves_and_every_packet_is_accounted_for(run_root: Path, tmp_path: Path) -> None:
    its = lab()
    with OpenCaseStore(tmp_path / "results.db") as store:
        run = MigrationRun(its, quick=False, store=store, progress=Quiet()).run(settings(its))
        stored = store.load(run.id)
    assert stored == run
    case = run.setups[0].cases[0]
    found = case.migration
    assert found is not None
    assert len(case.trials) == 1, found.faults
    (trial,) = case.trials
    assert (found.status, found.why, found.restored) == ("completed", None, True)
    assert [phase.name for phase in found.phases] == [
        "primary",
        "unplugging",
        "stand-by",
        "switchover",
        "replugging",
        "primary again",
    ]
    assert trial.offered == trial.delivered + sum(drop.packets for drop in trial.drops)
    assert trial.unaccounted == 0
    assert trial.duplicates == 0
    # Traffic went both ways before, by the stand-bys, and after.
    for phase in (found.phases[0], found.phases[-1]):
        for stream in phase.streams:
            assert stream.delivered > 0.9 * stream.offered > 0
    assert trial.delivered > sum(s.delivered for one in found.phases[::5] for s in one.streams)
    assert found.qemu is not None
    assert 0 < found.qemu.downtime_ms <= found.qemu.total_ms
    assert [*run_root.iterdir()] == []


@pytest.mark.usefixtures("possible")
def test_a_migration_that_takes_too_long_leaves_the_guest_where_it_was(
    run_root: Path, tmp_path: Path
) -> None:
    its = lab()
    slow = settings(its, time_limit_s=6.0, bandwidth_bps=1e6)
    with OpenCaseStore(tmp_path / "results.db") as store:
        run = MigrationRun(its, quick=False, store=store, progress=Quiet()).run(slow)
    case = run.setups[0].cases[0]
    found = case.migration
    assert found is not None
    assert (found.status, found.restored) == ("cancelled", True)
    assert found.why == "it was not over after 6 s, and was cancelled"
    last = found.phases[-1]
    assert last.name == "primary again"
    assert all(stream.delivered > 0.9 * stream.offered > 0 for stream in last.streams)
    assert case.trials[-1].unaccounted == 0
    assert [*run_root.iterdir()] == []


def ended(store: Path, progress: Ending) -> Result:
    """A migration that is not meant to come to its end."""
    its = lab()
    with OpenCaseStore(store) as kept:
        return MigrationRun(its, quick=False, store=kept, progress=progress).run(settings(its))


@pytest.mark.usefixtures("possible")
@pytest.mark.parametrize("phase", ["unplugging", "stand-by", "switchover", "replugging", "primary again"])
def test_weir_killed_in_a_migration_leaves_what_the_next_weir_removes(
    phase: PhaseName, surroundings: Surroundings, tmp_path: Path
) -> None:
    store = tmp_path / "results.db"
    assert not survived(lambda: ended(store, Ending(phase, kill)))
    (left,) = fabric.clean_leftovers()
    surroundings.tokens.add(left.rsplit("-", 1)[1])
    surroundings.check(phase)
    with OpenCaseStore(store) as kept:
        found = kept.latest()
    assert found is not None
    assert found.finished_at is None


@pytest.mark.usefixtures("possible")
@pytest.mark.parametrize("phase", ["unplugging", "stand-by", "replugging"])
def test_ctrl_c_in_a_migration_ends_both_qemus_and_keeps_what_was_seen(
    phase: PhaseName, surroundings: Surroundings, tmp_path: Path
) -> None:
    run = ended(tmp_path / "results.db", Ending(phase, interrupt))
    assert run.interrupted
    assert run.finished_at is not None
    (setup,) = run.setups
    found = setup.cases[0].migration
    assert found is not None
    assert [one.name for one in found.phases][-1] in (phase, "stand-by", "switchover")
    assert setup.topology is not None
    surroundings.tokens.add(setup.topology.deployment.rsplit("-", 1)[1])
    surroundings.check(phase)
