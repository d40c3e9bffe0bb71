# SPDX-License-Identifier: Apache-2.0
"""A campaign over several hosts, at its head: hands points out, and writes what hosts find into one store.

A run is of one machine, so each host's points are a run of its own; the campaign is what these runs share.
What the store has is what counts: a point is done when its round is in the store, and no sooner.
"""

from __future__ import annotations

import time
from typing import Protocol

from weir.fabric import stop_signals
from weir.hosts.messages import (
    Begin,
    CaseKept,
    CaseRemoved,
    Earlier,
    End,
    Failed,
    Measure,
    MessageError,
    Offered,
    RunBegun,
    RunKnown,
    SetupKnown,
    Showed,
    ToKeep,
    TrialKept,
    Visited,
    Word,
    from_host,
    pieces,
)
from weir.hosts.placement import Placement
from weir.hosts.times import HOSTS_END_S, OFFERS_S
from weir.hosts.transport import Heard, Hosts, HostsError
from weir.lab.ways import Key
from weir.procedures.host_runs import HostRun, accounted
from weir.procedures.order import Budget
from weir.procedures.rounds import rounds_of
from weir.procedures.wanted import Wanted
from weir.results.result import Case, Result
from weir.store.store import Store

_LOOK_S = 0.5


class HostsProgress(Protocol):
    """Whoever shows where a campaign is, host by host."""

    def say(self, text: str) -> None: ...
    def planned(self, cases: int, budget_s: float | None = None) -> None: ...
    def skipped(self, cases: int) -> None: ...
    def at(self, host: str, what: str) -> None: ...
    def setup(self, name: str) -> None: ...
    def case(self, case: Case) -> None: ...


class AcrossHosts:
    """One campaign."""

    def __init__(
        self, wanted: Wanted, hosts: Hosts, store: Store, progress: HostsProgress, weir: str
    ) -> None:
        """`weir`: the version and revision that hosts must have."""
        self._wanted = wanted
        self._hosts = hosts
        self._store = store
        self._progress = progress
        self._weir = weir
        self._runs: dict[str, HostRun] = {}
        self._asked: set[str] = set()
        self._words: dict[str, str] = {}
        self._ending: set[str] = set()
        self._budget = Budget(wanted.budget_s)
        self._mark_s: dict[str, float] = {}
        self._placement = Placement(list(wanted.left()))
        for setup, chain, case in wanted.known():
            self._budget.took((setup, chain), [case.seconds] if case.seconds else [])
        for block, host in wanted.begun():
            self._placement.begun(block, host)
        self._refused: list[str] = []
        self._spent = self._stopped = False

    def run(self) -> list[Result]:
        """Measures what can be measured, and returns the runs of this campaign, also those of before. Ctrl-C:
        what was finished, marked interrupted. HostsError where no host can measure anything."""
        with stop_signals.held():
            try:
                try:
                    self._begin()
                    self._measure()
                except KeyboardInterrupt:
                    self._stop()
                    stop_signals.discard()
            finally:
                self._hosts.close()
            return self._accounted()

    def _begin(self) -> None:
        if not self._hosts.names:
            raise HostsError(
                "no node of the cluster offers itself to Weir; start Ray there with `ray start --address=… "
                "$(weir offer --ray)`"
            )
        for host in self._hosts.names:
            self._asked.add(host)
            self._runs[host] = HostRun(self._store)
            self._hosts.begin(host)
            shared = self._wanted.shared.model_copy(update={"host": host})
            earlier = self._before(host)
            begin = Begin(
                shared=shared,
                quick=self._wanted.quick,
                seed=self._wanted.seed,
                budget_s=self._wanted.budget_of_all_s,
                earlier_pieces=len(earlier),
            )
            for one in (begin, *earlier):
                self._hosts.send(host, one.model_dump_json())
        until_s = time.monotonic() + OFFERS_S
        while self._asked and time.monotonic() < until_s:
            self._hear()
        for host in sorted(self._asked):
            self._hosts.stop(host)
            word = f"; its last word: {self._words[host]}" if host in self._words else ""
            self._gone(host, f"has offered nothing within {OFFERS_S:.0f} s{word}")
        if not self._placement.hosts:
            raise HostsError(f"no host can measure: {'; '.join(self._refused)}")
        everything = {point.setup for point in self._placement.waiting}
        impossible = self._placement.impossible()
        if everything and everything == set(impossible):
            raise HostsError(f"no host can measure anything of this lab: {_lacking(impossible)}")
        self._progress.planned(len(self._placement.waiting), self._wanted.budget_s)
        self._give_up_impossible()

    def _before(self, host: str) -> list[Earlier]:
        """The run of that host that may go on; empty: none."""
        for result in self._wanted.before:
            shared = result.campaign.shared if result.campaign is not None else None
            if shared is not None and shared.host == host:
                return pieces(self._runs[host].may_go_on(result))
        return []

    def _measure(self) -> None:
        while self._placement.hosts:
            stop_signals.check()
            for host in self._placement.hosts:
                self._hand_out(host)
            self._hear()
            self._give_up_impossible()
        if self._placement.waiting and not self._spent:
            self._progress.say(f"{len(self._placement.waiting)} points are left, and no host to measure them")

    def _hand_out(self, host: str) -> None:
        if host in self._ending or not self._placement.may_work(host):
            return
        point = None if self._spent else self._placement.next(host)
        if point is not None and not self._budget.fits(point.setup):
            self._placement.free(host)
            self._spent, point = True, None
            self._progress.skipped(len(self._placement.waiting))
        if point is not None:
            self._mark_s[host] = time.monotonic()
            order = Measure(name=point.name, chain=point.chain, frame=point.frame, round=point.round)
            self._hosts.send(host, order.model_dump_json())
        elif self._spent or not (self._placement.waiting or self._placement.under_way):
            self._placement.ending(host)
            self._ending.add(host)
            self._hosts.send(host, End(left_s=self._budget.left_s).model_dump_json())

    def _hear(self) -> None:
        for heard in self._hosts.heard(_LOOK_S):
            self._take(heard)

    def _take(self, heard: Heard) -> None:
        host = heard.host
        if host not in self._runs:  # one that was given up: its points are measured elsewhere
            return
        for line in heard.lines:
            try:
                self._apply(host, from_host(line))
            except (HostsError, MessageError) as error:
                self._hosts.stop(host)
                self._gone(host, str(error))
                return
        if heard.ended is not None:
            as_it_should = host in self._ending or self._stopped
            self._gone(host, heard.ended or ("" if as_it_should else "its weir has ended"))

    def _apply(self, host: str, said: Word) -> None:
        match said:
            case Offered():
                self._offered(host, said)
            case Showed(stays=True):
                self._words[host] = said.text
                self._progress.say(f"{host}: {said.text}")
            case Showed():
                self._progress.at(host, said.text)
            case Visited():
                self._visited(host)
            case Failed():
                raise HostsError(said.why)
            case RunBegun() | RunKnown() | SetupKnown() | TrialKept() | CaseKept() | CaseRemoved():
                self._keep(host, said)
            case _:
                raise HostsError(f"said what is not for the head: {said.kind}; install the same Weir there")

    def _offered(self, host: str, said: Offered) -> None:
        self._asked.discard(host)
        if said.offer.weir != self._weir:
            raise HostsError(f"has Weir {said.offer.weir}, and here it is {self._weir}; install the same")
        refused = {(one.name, one.chain): one.refused for one in said.setups if one.refused is not None}
        self._placement.offered(host, said.offer, refused)
        offer = said.offer
        self._progress.say(
            f"{host}: {offer.node}, {offer.architecture}, {len(offer.cpus)} CPUs, "
            f"{len(offer.cpus_shared) or 'none'} of them shared with Ray, "
            f"{len(said.setups) - len(refused)} of {len(said.setups)} set-ups can be measured there"
        )

    def _keep(self, host: str, said: ToKeep) -> None:
        run, at = self._runs[host], self._placement.at(host)
        more = run.keep(said)
        if isinstance(said, SetupKnown) and said.setup.refused is not None:
            if at is not None and at.setup == run.setup(said.number):
                self._placement.refused(host, at.setup, said.setup.refused)
        elif isinstance(said, CaseKept) and more:
            setup = run.setup(said.number)
            if at is not None and (at.setup, at.frame) == (setup, said.case.frame) and at.round in more:
                self._placement.finished(host)  # it counts: the store has it
                self._budget.took(setup, [time.monotonic() - self._mark_s[host]])
                self._progress.setup(f"{host}: {' '.join(setup)}")
                self._progress.case(rounds_of(said.case)[-1])

    def _visited(self, host: str) -> None:
        at = self._placement.at(host)
        if at is not None:  # nothing came of it: it is not tried there again
            self._placement.refused(host, at.setup, "it could not be measured there")
        self._placement.free(host)

    def _gone(self, host: str, why: str) -> None:
        """`why`: empty: it has done all that it was asked for."""
        self._asked.discard(host)
        run, at = self._runs.pop(host), self._placement.gone(host)
        self._progress.at(host, "")
        if why:
            self._refused.append(f"{host}: {why}")
            again = f"; {at} is measured again elsewhere" if at is not None and not self._stopped else ""
            self._progress.say(f"{host}: given up: {why}{again}")
        run.ended()

    def _give_up_impossible(self) -> None:
        impossible = self._placement.impossible() if self._placement.hosts else {}
        if impossible:
            self._progress.say(f"left out, since no host can measure it: {_lacking(impossible)}")
            self._progress.skipped(self._placement.give_up(impossible))

    def _stop(self) -> None:
        """As Ctrl-C on each host."""
        self._stopped = True
        for host in list(self._runs):
            self._hosts.stop(host)
        until_s = time.monotonic() + HOSTS_END_S
        while self._runs and time.monotonic() < until_s:
            self._hear()
        for host in list(self._runs):
            self._gone(host, f"has not ended within {HOSTS_END_S:.0f} s")
        self._progress.say(
            f"interrupted: hosts took everything down; what was finished is in {self._store.name}"
        )

    def _accounted(self) -> list[Result]:
        """All runs of the campaign, with what is missing of it, also of those that did not go on."""
        wanted = self._wanted
        found = self._store.runs_of_campaign(wanted.shared.id)
        for result in found:
            assert result.campaign is not None
            result.campaign.budget_s = wanted.budget_of_all_s
        accounted(self._store, found, wanted.setups, wanted.frames, wanted.rounds, stopped=self._stopped)
        return found


def _lacking(impossible: dict[Key, dict[str, str]]) -> str:
    """ "ovs PVP (nfv1: ovs-vswitchd not installed; nfv2: …)"."""
    return "; ".join(
        f"{' '.join(setup)} ({'; '.join(f'{host}: {why}' for host, why in lacking.items()) or 'no host'})"
        for setup, lacking in impossible.items()
    )
