# SPDX-License-Identifier: Apache-2.0
"""The result of a run that begins now, and how that of a campaign gets into the store as it is measured."""

from __future__ import annotations

import secrets
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Protocol

from weir import __version__, fabric
from weir.base.record import spec_sha256
from weir.base.started import boot_id
from weir.lab import Lab
from weir.lab.file_digests import digests
from weir.measure.machine_state import MachineState
from weir.measure.one_case import Event
from weir.measure.reductions import reductions
from weir.procedures.driver import RunningChain
from weir.procedures.order import Asked
from weir.procedures.rounds import MeasuredSetup
from weir.results.campaign import CampaignRecord, LeftOutRounds
from weir.results.result import Case, MachineBest, Result, Setup, Trial
from weir.store.store import Store

if TYPE_CHECKING:
    from weir.lab.tenants import TenantsFile


def new_result(lab: Lab | TenantsFile, *, quick: bool, baseline: str, kind: str = "") -> Result:
    """Of a run that begins now, without setups. `kind` follows the lab's name in its id, such as "-soak"."""
    spec = lab.model_dump(mode="json")
    began = datetime.now(UTC)
    return Result(
        weir=__version__,
        id=f"{lab.name}{kind}-{began:%Y%m%d-%H%M%S}-{secrets.token_hex(2)}",
        lab=lab.name,
        title=lab.title or lab.name,
        quick=quick,
        spec_sha256=spec_sha256(lab),
        seed=lab.measure.seed,
        started_at=began.isoformat(timespec="seconds"),
        baseline=baseline,
        fingerprint=fabric.fingerprint(0, "unknown", {}),
        spec=spec,
        files_sha256=digests(lab) if isinstance(lab, Lab) else {},
    )


def seconds_before(store: Store, lab: Lab | TenantsFile) -> Sequence[float]:
    """What the newest runs of that lab, whole ones, took on this machine; none where there were none."""
    here = fabric.fingerprint(0, "unknown", {})
    return store.seconds_of(spec_sha256(lab), here.cpu, here.cores)


class Progress(Protocol):
    """Whoever shows where a run is."""

    def say(self, text: str) -> None: ...
    def setup(self, name: str) -> None: ...


class CampaignProgress(Progress, Protocol):
    """Whoever shows where a campaign is."""

    def planned(self, cases: int, budget_s: float | None = None) -> None: ...
    def skipped(self, cases: int) -> None: ...
    def event(self, event: Event) -> None: ...
    def case(self, case: Case) -> None: ...


class RunStore(Protocol):
    """Where a campaign keeps what it measures: `weir.store.store.Store`, or that of another host."""

    @property
    def name(self) -> str: ...
    def begin(self, result: Result) -> None: ...
    def update(self, result: Result) -> None: ...
    def add_setup(self, run_id: str, setup: Setup) -> int: ...
    def update_setup(self, number: int, setup: Setup) -> None: ...
    def add_trial(self, setup: int, frame: str, mean_frame_bytes: float, trial: Trial) -> None: ...
    def add_case(self, setup: int, case: Case) -> None: ...
    def remove_case(self, setup: int, frame: str) -> None: ...
    def reopen_run(self, run_id: str) -> tuple[Result, list[int]]: ...
    def machine_best(self, boot_id: str, version: str) -> MachineBest: ...


class KeptRun:
    """A campaign's run. What is known of it is in the store at once: so it can be gone on with, whatever ends
    it."""

    def __init__(self, store: RunStore, result: Result, state: MachineState) -> None:
        """The store knows `result`. `state`: of this machine, as its trials find it."""
        self.result = result
        self.state = state
        self._store = store
        self._versions: dict[str, str] = {}
        self._before_s = result.seconds
        self._began_s = time.monotonic()

    @classmethod
    def begun(cls, store: RunStore, result: Result, asked: Asked, *, rounds: int, points: int) -> KeptRun:
        """A new one, which can be gone on with. `points`: planned."""
        handed_out, budget_s = asked.handed_out, asked.budget_s
        shared = handed_out.shared if handed_out is not None else None
        if handed_out is not None:
            budget_s = handed_out.budget_s
        result.campaign = CampaignRecord(
            rounds=rounds, points=points, seed=asked.seed, budget_s=budget_s, shared=shared
        )
        return cls.begun_once(store, result)

    @classmethod
    def begun_once(cls, store: RunStore, result: Result) -> KeptRun:
        """A new one, which cannot."""
        store.begin(result)
        return cls(store, result, _state(store))

    @classmethod
    def reopened(cls, store: RunStore, run_id: str, asked: Asked) -> tuple[KeptRun, list[int]]:
        """A stored one that goes on, within the budget that is asked for, and the numbers of its setups."""
        result, numbers = store.reopen_run(run_id)
        assert result.campaign is not None
        result.campaign.left_out = []
        result.campaign.resumed_at.append(now())
        if asked.handed_out is not None:
            result.campaign.budget_s = asked.handed_out.budget_s
        elif asked.budget_s is not None:
            result.campaign.budget_s = result.seconds + asked.budget_s
        store.update(result)
        state = _state(store)
        if result.machine is not None:
            state = MachineState(state.best().with_better(result.machine))
        return cls(store, result, state), numbers

    def add(self, setup: Setup) -> int:
        """Its number in the store."""
        self.result.setups.append(setup)
        return self._store.add_setup(self.result.id, setup)

    def stands(self, visited: MeasuredSetup, chain: RunningChain) -> None:
        """What was built for it. The fingerprint has the versions of all technologies so far."""
        chain.describe(visited.setup)
        self._versions |= chain.versions()
        self.result.fingerprint = fabric.fingerprint(chain.hello.tsc_hz, chain.hello.memory, self._versions)
        self._store.update_setup(visited.number, visited.setup)
        self._store.update(self.result)

    def trial(self, visited: MeasuredSetup, frame: str, mean_frame_bytes: float, trial: Trial) -> None:
        """One that has finished, of the case that is measured."""
        self._store.add_trial(visited.number, frame, mean_frame_bytes, trial)

    def case(self, visited: MeasuredSetup, case: Case) -> None:
        """One more round of it: it is not measured again, however this run ends."""
        self._store.add_case(visited.number, visited.add(case, visited.way.lab.sla, self.state))
        self.keep()

    def judged_again(self, visited: MeasuredSetup, frames: Sequence[str]) -> None:
        """By what is known of the machine by now; without what has no round."""
        for frame in frames:
            if frame in visited.rounds:
                case = visited.judge(frame, visited.way.lab.sla, self.state)
                self._store.add_case(visited.number, case)
            else:
                self._store.remove_case(visited.number, frame)

    def visited(self, visited: MeasuredSetup) -> None:
        """What is known of the setup by now."""
        self._store.update_setup(visited.number, visited.setup)

    def ends(self, points: int, left_out: Sequence[LeftOutRounds]) -> None:
        """`points`: that were planned here, without what this machine cannot run."""
        self.result.reductions = reductions(self.result)
        self.result.finished_at = now()
        if self.result.campaign is not None:
            self.result.campaign.points = points
            self.result.campaign.left_out = list(left_out)
        self.keep()

    def keep(self) -> None:
        """What is known of the run by now."""
        self.result.machine = self.state.seen()
        self.result.seconds = round(self._before_s + time.monotonic() - self._began_s, 1)
        self._store.update(self.result)


def _state(store: RunStore) -> MachineState:
    return MachineState(store.machine_best(boot_id(), fabric.weir_version()))


def now() -> str:
    """As results have it: RFC 3339, UTC."""
    return datetime.now(UTC).isoformat(timespec="seconds")
