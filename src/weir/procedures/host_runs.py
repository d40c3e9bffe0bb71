# SPDX-License-Identifier: Apache-2.0
"""What the hosts of a campaign have measured, as the store of its head has it: a run a host."""

from __future__ import annotations

from collections.abc import Sequence

from weir.hosts.messages import CaseKept, CaseRemoved, RunBegun, RunKnown, SetupKnown, ToKeep, TrialKept
from weir.lab.ways import Key
from weir.procedures.points import left_out_rounds
from weir.procedures.rounds import rounds_of
from weir.procedures.stored_result import now
from weir.results.result import Result
from weir.results.rounds import UNFINISHED, finished, rounds_measured
from weir.store.store import Store


class HostRun:
    """One host's. It numbers its setups from 0, and the store has numbers of its own."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._result: Result | None = None
        self._before: str | None = None
        self._numbers: list[int] = []
        self._setups: list[Key] = []
        self._rounds: dict[tuple[int, str], set[int]] = {}

    def may_go_on(self, before: Result) -> Result:
        """A stored one, as the host gets it: without what it had not finished. Until the host says something
        of it, it stays as it is: perhaps it does not go on there."""
        self._before = before.id
        setups = [
            one.model_copy(update={"cases": [case for case in one.cases if case.problem != UNFINISHED]})
            for one in before.setups
        ]
        self._setups = [(one.name, one.chain) for one in setups]
        for number, setup in enumerate(setups):
            for case in setup.cases:
                self._rounds[number, case.frame] = finished(rounds_of(case))
        return before.model_copy(update={"setups": setups, "interrupted": False, "finished_at": None})

    def setup(self, number: int) -> Key:
        """Of the number that the host has given it."""
        return self._setups[number]

    def keep(self, said: ToKeep) -> set[int]:
        """Writes it into the store; the rounds of a case that have come to their end by that."""
        match said:
            case RunBegun():
                self._numbers, self._setups, self._result = [], [], said.result
                self._rounds.clear()
                self._store.begin(said.result)
            case RunKnown():
                if self._result is None and said.result.id == self._before:
                    _, self._numbers = self._store.reopen_run(self._before)
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
                case = said.number, said.case.frame
                before, now = self._rounds.get(case, set()), finished(rounds_of(said.case))
                self._rounds[case] = now
                return now - before
            case CaseRemoved():
                self._store.remove_case(self._numbers[said.number], said.frame)
                self._rounds.pop((said.number, said.frame), None)
        return set()

    def ended(self) -> None:
        """The host is gone: what it did not end itself ends here."""
        if self._result is not None and self._result.finished_at is None:
            self._result.interrupted, self._result.finished_at = True, now()
            self._store.update(self._result)


def accounted(
    store: Store, runs: Sequence[Result], setups: Sequence[Key], frames: Sequence[str], rounds: int,
    *, stopped: bool,
) -> None:  # fmt: skip
    """Says in each run of a campaign that has ended, also in those that did not go on, what is missing of the
    whole. `stopped`: somebody has ended it."""
    done = rounds_measured(runs)
    left_out = list(left_out_rounds(setups, frames, rounds, lambda key, frame: done[*key, frame]))
    for result in runs:
        assert result.campaign is not None
        result.campaign.left_out = left_out
        result.interrupted = stopped or (result.interrupted and bool(left_out))
        result.finished_at = result.finished_at or now()
        store.update(result)
