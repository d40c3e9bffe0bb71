# SPDX-License-Identifier: Apache-2.0
"""Calls that were offered to SIP functions, and what became of each."""

from __future__ import annotations

from typing import Literal

from weir.base.packet_rate import of_load
from weir.base.record import Record

CallPurpose = Literal["load", "search"]


class RequestDelay(Record):
    """Session request delay of calls that rang (RFC 6076, 4.3.1): from INVITE to the first 180."""

    calls: int
    p50_ms: float
    p90_ms: float
    p95_ms: float
    p99_ms: float
    max_ms: float


class RtpCounts(Record):
    """Packets of RTP, by the kernels of both ends."""

    sent: int
    """By the caller."""
    arrived: int
    """At the callee."""
    echoed: int
    """By the callee: sent back."""
    returned: int
    """To the caller."""


class FunctionCalls(Record):
    """What a function counted, each call once."""

    name: str
    """ "pcscf"."""
    calls: int
    """That came to it."""


class CallLoad(Record):
    """Calls at one rate. `created` = `successful` + `failed`, and `failed` = Σ `causes`; where
    `disagreements` is empty, SIPp's, the functions' and Weir's counts agree."""

    purpose: CallPurpose
    vcpus: int = 0
    """CPUs that the programs of each server could run on; 0: all."""
    rate_cps: float
    """That was asked for."""
    offered_cps: float
    """That the caller kept, at most: what SIPp's counts leave open is in its favour."""
    seconds: float
    """In which calls began."""
    planned: int
    created: int
    successful: int
    """Through to the answered BYE."""
    failed: int
    causes: dict[str, int] = {}
    """Failed calls, by cause."""
    success_ratio: float
    """Of the planned ones."""
    success_low: float
    """Its interval of 95 % (Wilson's score)."""
    success_high: float
    session_establishment_ratio: float
    """Of the calls, those that were answered (RFC 6076, 4.6)."""
    ineffective_attempt_ratio: float
    """Of the calls, those whose set-up ended with 408, 500, 503 or 504 (RFC 6076, 4.8)."""
    request_delay: RequestDelay | None = None
    """None where no call rang."""
    retransmissions: int
    """Messages that the caller sent again."""
    callee_retransmissions: int
    rang: int
    """Calls that came to the callee."""
    functions: list[FunctionCalls] = []
    """In their order."""
    not_arrived: int
    """Calls that the first function has not seen."""
    answered: int
    """These and the next two, as the first function saw them end first."""
    refused: int
    cancelled: int
    rtp: RtpCounts | None = None
    """None where no media was sent."""
    disagreements: list[str] = []
    """Sentences: what does not agree."""


class CallCapacity(Record):
    """The highest rate at which enough calls succeed, by search (MLRsearch)."""

    success_ratio: float
    """That is enough."""
    rate_cps: float | None = None
    """None: none was found; `why` says why."""
    upper_cps: float | None = None
    """The lowest rate found too high."""
    tester_limited: bool = False
    """It was too high for the caller, not for the functions: they may carry more than `rate_cps`. Absent in
    older results."""
    unmeasured: bool = False
    """None was found for want of time, or of trials that can be believed. Absent in older results."""
    out_of_time: bool = False
    """The two are further apart than was asked for. Absent in older results."""
    why: str | None = None
    """Also what is to be known of a rate that was found."""
    trials: int = 0
    seconds: float = 0.0

    @property
    def rate(self) -> str:
        """ "212 calls/s"; "≥ 212 calls/s" where no rate was found too high for the functions."""
        bound = "≥ " if self.upper_cps is None or self.tester_limited else ""
        return f"{bound}{of_load(self.rate_cps)} calls/s" if self.rate_cps is not None else "none"
