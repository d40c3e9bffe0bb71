# SPDX-License-Identifier: Apache-2.0
"""What the hosts of a campaign have measured, as the store of its head has it: a run a host."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from weir.hosts.messages import CaseKept, CaseRemoved, RunBegun, RunKnown, SetupKnown, ToKeep, TrialKept
from weir.measure.one_case import INTERRUPTED
from weir.procedures.order import Key
from weir.procedures.resuming import measured
from weir.procedures.rounds import rounds_of
from weir.results.campaign import LeftOutRounds
from weir.results.result import Case, Result
from weir.store.store import Store


class HostRun:
    """One host's. It numbers its setups from 0, and the store has numbers of its own."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._result: Result | None = None
        self._numbers: list[int] = []
        self._setups: list[Key] = []
        self._rounds: Counter[tuple[int, str]] = Counter()

    def reopened(self, run_id: str) -> Result:
        """A stored one that goes on, if the host says so."""
        reopened, self._numbers = self._store.reopen_run(run_id)
        self._setups = [(one.name, one.chain) for one in reopened.setups]
        for number, setup in enumerate(reopened.setups):
            for case in setup.cases:
                self._rounds[number, case.frame] = _rounds(case)
        return reopened

    def setup(self, number: int) -> Key:
        """Of the number that the host has given it."""
        return self._setups[number]

    def keep(self, said: ToKeep) -> bool:
        """Writes it into the store; whether one more round of a case has come to its end by that."""
        match said:
            case RunBegun():
                self._numbers, self._setups, self._result = [], [], said.result
                self._rounds.clear()
                self._store.begin(said.result)
            case RunKnown():
                self._result = said.result
                self._store.update(said.result)
            case SetupKnown() if said.number == len(self._numbers):
                assert self._result is not None
                self._numbers.append(self._store.add_setup(self._result.id, said.setup))
                self._setups.append((said.setup.name, said.setup.chain))
            case SetupKnown():
                self._store.update_setup(self._numbers[said.number], said.setup)
            case TrialKept():
                number = self._numbers[said.number]
                self._store.add_trial(number, said.frame, said.mean_frame_bytes, said.trial)
            case CaseKept():
                self._store.add_case(self._numbers[said.number], said.case)
                before, now = self._rounds[said.number, said.case.frame], _rounds(said.case)
                self._rounds[said.number, said.case.frame] = now
                return now > before
            case CaseRemoved():
                self._store.remove_case(self._numbers[said.number], said.frame)
                self._rounds[said.number, said.frame] = 0
        return False

    def ended(self) -> None:
        """The host is gone: what it did not end itself ends here."""
        if self._result is not None and self._result.finished_at is None:
            self._result.interrupted, self._result.finished_at = True, _now()
            self._store.update(self._result)


def campaign_runs(store: Store, campaign: str) -> list[Result]:
    """The runs of that campaign, the oldest first."""
    return [store.load(one) for one in store.runs_of_campaign(campaign)]


def rounds_measured(runs: Sequence[Result]) -> Counter[tuple[str, str, str]]:
    """That came to their end on any host: by technology or variant, chain and frame."""
    found: Counter[tuple[str, str, str]] = Counter()
    for one in runs:
        found.update(measured(one))
    return found


def accounted(
    store: Store, runs: Sequence[Result], setups: Sequence[Key], frames: Sequence[str], rounds: int,
    *, stopped: bool,
) -> None:  # fmt: skip
    """Says in each run of a campaign that has ended, also in those that did not go on, what is missing of the
    whole. `stopped`: somebody has ended it."""
    left_out = list(_left_out(runs, setups, frames, rounds))
    for result in runs:
        assert result.campaign is not None
        result.campaign.left_out = left_out
        result.interrupted = stopped or (result.interrupted and bool(left_out))
        result.finished_at = result.finished_at or _now()
        store.update(result)


def _left_out(
    runs: Sequence[Result], setups: Sequence[Key], frames: Sequence[str], rounds: int
) -> Iterator[LeftOutRounds]:
    done = rounds_measured(runs)
    for name, chain in setups:
        for frame in frames:
            had = done[name, chain, frame]
            if had < rounds:
                yield LeftOutRounds(name=name, chain=chain, frame=frame, measured=had, left_out=rounds - had)


def _rounds(case: Case) -> int:
    return sum(one.problem != INTERRUPTED for one in rounds_of(case))


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
