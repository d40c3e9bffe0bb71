# SPDX-License-Identifier: Apache-2.0
"""A host that waits instead of measuring. It says to the head of a campaign what a real one does, and each
trial has a load of its own: so a point that was lost, or counted twice, can be told by what the store has."""

from __future__ import annotations

import secrets
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from tests.unit.store.made import run, trial
from weir.hosts.messages import (
    Begin,
    CaseKept,
    Earlier,
    End,
    Measure,
    Offered,
    Possible,
    RunBegun,
    RunKnown,
    SetupKnown,
    Showed,
    TrialKept,
    Visited,
    Word,
    to_host,
    whole,
)
from weir.hosts.transport import Heard
from weir.lab.ways import Key
from weir.procedures.rounds import combined, rounds_of
from weir.results.campaign import CampaignRecord
from weir.results.host_offer import HostOffer
from weir.results.result import Case, Result, Setup

WEIR = "1.0"
LOST = "is lost: ActorDiedError"
_LOADS = 2**48


@dataclass
class WaitingHost:
    """It, with what goes wrong there."""

    setups: Sequence[Key]
    refused: Mapping[Key, str] = field(default_factory=dict)
    """Set-ups that it says at once that it cannot build."""
    fails: Collection[Key] = ()
    """Set-ups that it finds that it cannot build when it tries to."""
    dies_at: int | None = None
    """In the middle of which of its points, from 1."""
    waits: str | None = None
    """It says that, and offers nothing."""
    goes_on: bool = True
    """With its run of before; else it begins a new one."""
    again: bool = False
    """At its end it measures its first case once more."""
    weir: str = WEIR
    pieces: list[Earlier] = field(default_factory=list)
    asked: list[Measure] = field(default_factory=list)
    end: End | None = None
    stopped: bool = False
    ended: bool = False
    _said: list[Word] = field(default_factory=list)
    _at: Iterator[None] | None = None
    _begin: Begin | None = None
    _run: Result | None = None

    def hear(self, line: str) -> None:
        """What the head says."""
        match to_host(line):
            case Begin() as begin:
                self._begin = begin
                self._offer_if_whole(begin)
            case Earlier() as piece:
                assert self._begin is not None
                self.pieces.append(piece)
                self._offer_if_whole(self._begin)
            case Measure() as order:
                assert self._at is None, "it was asked while it measures"
                self.asked.append(order)
                self._at = self._measure(order)
            case End() as end:
                self.end, self.ended = end, True
                if self.again and self._run is not None:
                    self._once_more(self._run)

    def _offer_if_whole(self, begin: Begin) -> None:
        """Once it has all pieces of its run of before."""
        if len(self.pieces) < begin.earlier_pieces:
            return
        if self.waits is not None:
            self._said.append(Showed(text=self.waits, stays=True))
            return
        self._run = whole(self.pieces) if self.pieces and self.goes_on else None
        possible = [
            Possible(name=name, chain=chain, refused=self.refused.get((name, chain)))
            for name, chain in self.setups
        ]
        self._said.append(Offered(offer=self._offer(begin.shared.host), setups=tuple(possible)))

    @property
    def begun(self) -> Begin | None:
        """What it was told first."""
        return self._begin

    def poll(self, host: str) -> Heard | None:
        """One step further."""
        if self._at is not None and not self.stopped:
            self._at = self._at if next(self._at, "over") is None else None
            if self._at is not None and self.dies_at == len(self.asked):
                self.ended, lines = True, self._lines()
                return Heard(host, lines, LOST)
        if self.ended or self.stopped:
            self.ended = True
            if self._run is not None:
                self._run.interrupted, self._run.finished_at = self.stopped, "2026-11-27T07:00:00+00:00"
                self._know()
            return Heard(host, self._lines(), "")
        lines = self._lines()
        return Heard(host, lines) if lines else None

    def _measure(self, order: Measure) -> Iterator[None]:
        """It yields in the middle of the point."""
        if self._run is None:
            self._run = self._new_run()
            self._said.append(RunBegun(result=self._run.model_copy(update={"setups": []})))
        elif len(self.asked) == 1:
            self._know()
        key = order.name, order.chain
        keys = [(one.name, one.chain) for one in self._run.setups]
        number = keys.index(key) if key in keys else len(keys)
        if number == len(keys):
            self._run.setups.append(Setup(technology=order.name, chain=order.chain, datapath="none"))
            self._said.append(SetupKnown(number=number, setup=self._run.setups[number]))
        setup = self._run.setups[number]
        bare = setup.model_copy(update={"cases": []})
        if key in self.fails:
            bare.refused = "no rule was taken"
            self._said += [SetupKnown(number=number, setup=bare), Visited()]
            return
        self._said.append(SetupKnown(number=number, setup=bare))
        one = trial(float(secrets.randbelow(_LOADS)))
        self._said.append(TrialKept(number=number, frame=order.frame, mean_frame_bytes=64, trial=one))
        yield
        self._keep(number, Case(frame=order.frame, mean_frame_bytes=64, trials=[one], round=order.round))
        self._know()
        self._said.append(Visited())

    def _keep(self, number: int, case: Case) -> None:
        setup = self._run.setups[number] if self._run is not None else None
        assert setup is not None
        known = [one for had in setup.cases if had.frame == case.frame for one in rounds_of(had)]
        now = combined([*known, case], None) if known else case
        setup.cases = [one for one in setup.cases if one.frame != case.frame] + [now]
        self._said.append(CaseKept(number=number, case=now))

    def _once_more(self, run: Result) -> None:
        assert run.campaign is not None
        one = trial(float(secrets.randbelow(_LOADS)))
        frame, number = run.setups[0].cases[0].frame, run.campaign.rounds
        self._keep(0, Case(frame=frame, mean_frame_bytes=64, trials=[one], round=number))

    def _new_run(self) -> Result:
        assert self._begin is not None
        shared = self._begin.shared
        made = run(f"{shared.host}-{secrets.token_hex(6)}")
        budget_s = self._begin.budget_s
        rounds = shared.spec["measure"]["rounds"]
        made.campaign = CampaignRecord(rounds=rounds, points=shared.points, budget_s=budget_s, shared=shared)
        return made

    def _know(self) -> None:
        assert self._run is not None
        self._said.append(RunKnown(result=self._run.model_copy(update={"setups": []})))

    def _lines(self) -> list[str]:
        said, self._said = self._said, []
        return [one.model_dump_json() for one in said]

    def _offer(self, host: str) -> HostOffer:
        return HostOffer(
            node=host, boot_id=host, architecture="x86_64", weir=self.weir, cpus=(0, 1),
            hugepages_2m_free=0, technologies={},
        )  # fmt: skip
