# SPDX-License-Identifier: Apache-2.0
"""Calls at one rate through functions that stand."""

from __future__ import annotations

import json
from dataclasses import dataclass

from weir.results.calls import CallLoad, CallPurpose, FunctionCalls, RtpCounts
from weir.verify.case import NotSoError
from weir.verify.driver import CloudError, Program
from weir.verify.sip import figures, functions, media, scenarios, sipp
from weir.verify.sip.accounting import disagreements
from weir.verify.sip.functions import CALLEE, CALLER, FIRST, SUBSCRIBERS
from weir.verify.sip.kamailio import Counters
from weir.verify.sip.sipp import CallCounts
from weir.verify.sip.standing_functions import RUN, StandingFunctions
from weir.verify.sip.subscribers import Subscribers

_LISTENS_S = 0.3
"""Until a callee that was started is of use."""
_ENDS_S = 45.0
"""How long the last calls may take beyond their own time: with all that is sent again."""
_DRAIN_S = 30.0
"""How long functions may take to give up what nobody ends: transactions of INVITE take 20 s for that, and the
time that it rings."""
_LAST_S = 1.5
"""Until a callee ends by itself, which has no call left."""
_LOCATIONS = "LIR"
_COUNTED_S = 1.0
"""Until the subscriber server has written its counts: it does so twice a second."""


@dataclass(frozen=True)
class _Load:
    """What was asked for; `place`: the directory of its files."""

    purpose: CallPurpose
    place: str
    rate_cps: float
    planned: int
    rtp_before: RtpCounts | None


class Loads:
    """One after the other, each with SIPps of its own."""

    def __init__(self, standing: StandingFunctions) -> None:
        self._at = standing
        self._number = 0
        if standing.application.media:
            media.begin(standing.hosts)

    def run(self, purpose: CallPurpose, rate_cps: float, duration_s: float) -> CallLoad:
        """Calls that begin in that time. CloudError if a function ends, or SIPp does not do its work."""
        at, application = self._at, self._at.application
        self._number += 1
        place = f"load-{self._number}"
        planned = max(1, round(rate_cps * duration_s))
        before, asked_before = at.all_counters(), self._locations()
        rtp_before = media.counted(at.hosts) if application.media else None
        called = self._callee(place)
        try:
            offered = self._caller(place, planned, rate_cps)
            try:
                within_s = planned / rate_cps + scenarios.call_s(application) + _ENDS_S
                code = at.wait(offered, within_s, f"a load of {planned} calls")
            finally:
                offered.end(_LAST_S)
            if code not in (0, 1):  # 1: a call has failed
                raise NotSoError(f"SIPp gave up: {at.why(CALLER, place) or offered.said()}")
            after = self._drained(before)
        finally:
            called.end(_LAST_S, quietly=True)
        return self._found(_Load(purpose, place, rate_cps, planned, rtp_before), after, asked_before)

    def _callee(self, place: str) -> Program:
        at, application = self._at, self._at.application
        files = {"callee.xml": scenarios.callee(application)}
        at.hosts.write(CALLEE, {f"{place}/{name}": text for name, text in files.items()})
        words = sipp.callee(at.hosts.address(CALLEE), "callee", echo=application.media)
        program = at.hosts.start(CALLEE, place, words)
        until = at.run.took_s() + _LISTENS_S
        while at.run.took_s() < until:
            at.run.pause()
        if program.exit_code() is not None:
            raise NotSoError(f"the callee's SIPp does not run: {program.said()}")
        return program

    def _caller(self, place: str, planned: int, rate_cps: float) -> Program:
        at, application = self._at, self._at.application
        callers = Subscribers(application.subscribers, application.variant).callers()
        files = {"caller.xml": scenarios.caller(application), "caller.csv": callers}
        if application.media:
            files[scenarios.AUDIO] = scenarios.audio()
        at.hosts.write(CALLER, {f"{place}/{name}": text for name, text in files.items()})
        words = sipp.caller(
            at.hosts.address(CALLER), at.hosts.address(at.first), "caller", calls=planned, rate_cps=rate_cps
        )
        return at.hosts.start(CALLER, place, words)

    def _drained(self, before: dict[str, Counters]) -> dict[str, Counters]:
        """What the functions counted meanwhile, when no transaction is left; whatever is after a while."""
        at = self._at
        deadline = at.run.took_s() + at.application.ring_s + _DRAIN_S
        while True:
            at.require_alive()
            found = at.all_counters()
            if not any(one.active for one in found.values()) or at.run.took_s() > deadline:
                return {name: one.since(before[name]) for name, one in found.items()}
            at.run.left_s()
            at.run.pause()

    def _locations(self) -> int | None:
        """Times that the subscriber server was asked who serves whom, so far; None: there is none."""
        if SUBSCRIBERS not in functions.SERVERS[self._at.application.variant]:
            return None
        try:
            return int(
                json.loads(self._at.hosts.read(SUBSCRIBERS, f"{RUN}/answered.json")).get(_LOCATIONS, 0)
            )
        except ValueError as error:
            raise CloudError(f"the subscriber server's counts cannot be read: {error}") from error

    def _locations_since(self, before: int | None, expected: int) -> int | None:
        """As above; it may be a little late with them."""
        if before is None:
            return None
        until = self._at.run.took_s() + _COUNTED_S
        while True:
            found = (self._locations() or 0) - before
            if found == expected or self._at.run.took_s() > until:
                return found
            self._at.run.pause()

    def _found(self, load: _Load, after: dict[str, Counters], asked_before: int | None) -> CallLoad:
        at, application, planned = self._at, self._at.application, load.planned
        caller = sipp.counts(at.hosts.read(CALLER, f"{load.place}/{sipp.COUNTS}"))
        callee = sipp.counts(at.hosts.read(CALLEE, f"{load.place}/{sipp.COUNTS}"))
        rang = self._rang(load.place)
        named = at.unexpected(CALLER, load.place, caller)
        asked = self._locations_since(asked_before, after["icscf"].invited) if "icscf" in after else None
        first = after[FIRST[application.variant]]
        low, high = figures.interval(caller.successful, planned)
        return CallLoad(
            purpose=load.purpose,
            vcpus=at.vcpus,
            rate_cps=load.rate_cps,
            offered_cps=_offered_cps(caller, load.rate_cps),
            seconds=round(caller.offered_s, 3),
            planned=planned,
            created=caller.created,
            successful=caller.successful,
            failed=caller.failed,
            causes=sipp.with_names(caller.causes, named),
            success_ratio=caller.successful / planned,
            success_low=low,
            success_high=high,
            session_establishment_ratio=first.answered / planned,
            ineffective_attempt_ratio=figures.ineffective(named) / planned,
            request_delay=figures.request_delay(self._delays_ms(load.place)),
            retransmissions=caller.retransmissions,
            callee_retransmissions=callee.retransmissions,
            rang=rang,
            functions=[FunctionCalls(name=name, calls=one.invited) for name, one in after.items()],
            not_arrived=caller.created - first.invited,
            answered=first.answered,
            refused=first.refused,
            cancelled=first.cancelled,
            rtp=self._rtp(load.rtp_before),
            disagreements=disagreements(planned, caller, rang, after, asked),
        )

    def _delays_ms(self, place: str) -> list[float]:
        try:
            text = self._at.hosts.read(CALLER, f"{place}/caller_*_rtt.csv")
        except CloudError:
            return []  # SIPp writes no file before a call rings
        return sipp.delays_ms(text)

    def _rang(self, place: str) -> int:
        try:
            return sipp.rang(self._at.hosts.read(CALLEE, f"{place}/{sipp.CALLS}"))
        except CloudError:
            return 0  # it writes no file before the first one

    def _rtp(self, before: RtpCounts | None) -> RtpCounts | None:
        """Since then; None without media."""
        if before is None:
            return None
        return media.since(media.counted(self._at.hosts), before)


def _offered_cps(caller: CallCounts, rate_cps: float) -> float:
    """SIPp was told the rate with two decimals."""
    kept_cps = round(caller.offered_cps, 2)
    return rate_cps if kept_cps >= round(rate_cps, 2) else kept_cps
