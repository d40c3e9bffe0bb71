# SPDX-License-Identifier: Apache-2.0
"""SIPp: how it is run, and what its files say."""

from __future__ import annotations

import csv
import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from typing import NamedTuple

from weir.base.si import MS_PER_S
from weir.verify.driver import CloudError

PROGRAM = "sipp"
PORT = 5060
COUNTS, ERRORS, CALLS = "counts.csv", "errors.log", "calls.log"
ANSWER_MS = 12_000
"""After which a call that waits for a message has failed, where nobody pauses before it is sent."""
STEP_S = 0.25
"""Between two rows of its counts."""
_BEHIND_S = 0.02
"""So much may a row be behind. SIPp 3.6.1 looks each millisecond which calls are due; its rows were behind by
2.3 ms at most where twelve of them and four loops had two CPUs."""
CAUSES: Mapping[str, str] = {
    "FailedMaxUDPRetrans": "no answer, however often it was sent again",
    "FailedTimeoutOnRecv": "no answer in time",
    "FailedTimeoutOnSend": "not sent in time",
    "FailedUnexpectedMessage": "another message than expected",
    "FailedCallRejected": "rejected",
    "FailedCannotSendMessage": "could not be sent",
    "FailedOutboundCongestion": "congestion",
    "FailedTcpConnect": "no connection",
    "FailedTcpClosed": "connection closed",
}
"""Its columns, in words."""
OTHER = "other"
_UNEXPECTED_CAUSE = CAUSES["FailedUnexpectedMessage"]
SET_UP_LAST = 3
"""Of the caller's scenario: the index of the message that answers a call."""
_UNEXPECTED = re.compile(
    r"while expecting '(?P<expected>[^']*)' \(index (?P<index>\d+)\), received '"
    r"(?:SIP/2\.0 (?P<code>\d{3}) (?P<reason>[^\r\n]*)|(?P<method>[A-Z]+) )"
)


class Unexpected(NamedTuple):
    """A message that came in place of another."""

    due_index: int
    """Of the one that was due, in its scenario."""
    came: str
    due: str

    @property
    def words(self) -> str:
        """ "480 where 180 was due"."""
        return f"{self.came} where {self.due} was due"


@dataclass(frozen=True)
class CallCounts:
    """Of one SIPp, at its end."""

    created: int
    """Calls: outgoing ones of a caller, incoming ones of a callee."""
    current: int
    successful: int
    failed: int
    causes: Mapping[str, int]
    """Failed calls, by column in words; only where there are any."""
    retransmissions: int
    offered_s: float
    """Until the last call was created, within STEP_S."""
    offered_cps: float
    """Calls created a second, at most: what rows leave open is in its favour; inf: they leave all open."""

    @property
    def unexpected(self) -> int:
        """Calls that failed by a message that was not expected."""
        return self.causes.get(_UNEXPECTED_CAUSE, 0)


def caller(own: str, first: str, scenario: str, *, calls: int, rate_cps: float) -> list[str]:
    """Words. `own`: its address, `first`: of the first function, `scenario`: name of its file and, with
    ".csv", of who takes part."""
    return [
        PROGRAM, f"{first}:{PORT}",
        *_common(own, scenario),
        "-inf", f"{scenario}.csv",
        "-m", str(calls),
        "-l", str(calls),
        "-r", f"{rate_cps:.2f}",
        "-trace_rtt", "-rtt_freq", "1",
    ]  # fmt: skip


def callee(own: str, scenario: str, *, echo: bool) -> list[str]:
    """Words. `echo`: sends RTP back."""
    return [
        PROGRAM,
        *_common(own, scenario),
        "-trace_logs",
        "-log_file",
        CALLS,
        *(["-rtp_echo"] if echo else []),
    ]


def _common(own: str, scenario: str) -> list[str]:
    return [
        "-sf", f"{scenario}.xml",
        "-i", own, "-p", str(PORT), "-mi", own,
        "-recv_timeout", str(ANSWER_MS),
        "-trace_stat", "-fd", f"{STEP_S * MS_PER_S:.0f}ms", "-stf", COUNTS,
        "-trace_err", "-error_file", ERRORS,
        "-nostdin",
    ]  # fmt: skip


def counts(text: str) -> CallCounts:
    """From COUNTS. CloudError if it is no such."""
    rows = list(csv.DictReader(StringIO(text), delimiter=";"))
    if not rows:
        raise CloudError("SIPp has written no counts")
    try:
        return _counts(rows)
    except (KeyError, TypeError, ValueError) as error:
        raise CloudError(f"SIPp's counts cannot be read: {error!r}") from error


def _counts(rows: Sequence[Mapping[str, str]]) -> CallCounts:
    last = rows[-1]
    failed = int(last["FailedCall(C)"])
    causes = Counter(
        {words: int(last[f"{column}(C)"]) for column, words in CAUSES.items() if int(last[f"{column}(C)"])}
    )
    if failed > causes.total():
        causes[OTHER] = failed - causes.total()
    created = int(last["TotalCallCreated"])
    last_created = next(n for n, row in enumerate(rows) if int(row["TotalCallCreated"]) == created)
    return CallCounts(
        created=created,
        current=int(last["CurrentCall"]),
        successful=int(last["SuccessfulCall(C)"]),
        failed=failed,
        causes=dict(causes),
        retransmissions=int(last["Retransmissions(C)"]),
        offered_s=_since_first(rows, last_created),
        offered_cps=_offered_cps(rows, last_created),
    )


def _offered_cps(rows: Sequence[Mapping[str, str]], last_created: int) -> float:
    """By the row before that of the last call, in which the next call may have been all but due: a caller
    that is too slow shows there without a STEP_S of grace. By that row itself, where it came right after the
    call."""
    before = max(last_created - 1, 0)
    found = []
    for row, due in ((before, 1), (last_created, 0)):
        seconds = _since_first(rows, row) - _BEHIND_S
        calls = int(rows[row]["TotalCallCreated"]) + due
        found.append(calls / seconds if seconds > 0 else math.inf)
    return max(found)


def _since_first(rows: Sequence[Mapping[str, str]], row: int) -> float:
    """It writes the first one when it begins to make calls, some milliseconds after its start."""
    return _second(rows[row]["CurrentTime"]) - _second(rows[0]["CurrentTime"])


def _second(text: str) -> float:
    """Of a time: "2026-11-26\\t10:03:54.992144\\t1795687434.992144"."""
    return float(text.rsplit("\t", maxsplit=1)[-1])


def delays_ms(text: str) -> list[float]:
    """From the file of response times, in the order of their ends. CloudError if it is no such."""
    rows = text.splitlines()
    if not rows or rows[0].split(";")[:2] != ["Date_ms", "response_time_ms"]:
        raise CloudError("SIPp's response times cannot be read")
    try:
        return [float(row.split(";")[1]) for row in rows[1:] if row]
    except (IndexError, ValueError) as error:
        raise CloudError(f"SIPp's response times cannot be read: {error!r}") from error


def rang(text: str) -> int:
    """From CALLS: calls that came to a callee. SIPp counts one anew whose INVITE comes after its end."""
    return len({line for line in text.splitlines() if line})


def unexpected(text: str) -> Counter[Unexpected]:
    """From ERRORS: how often each message came in place of the expected one."""
    return Counter(
        Unexpected(int(one["index"]), one["code"] or one["method"], one["expected"])
        for one in _UNEXPECTED.finditer(text)
    )


def with_names(causes: Mapping[str, int], named: Counter[Unexpected]) -> dict[str, int]:
    """Causes of failed calls, those by messages that SIPp has named by these."""
    found = Counter(causes)
    found[_UNEXPECTED_CAUSE] -= named.total()
    for one, times in named.items():
        found[one.words] += times
    return {cause: times for cause, times in found.items() if times}


def first_error(text: str) -> str | None:
    """From ERRORS: its first line without the time; None if there is none."""
    lines = [line for line in text.splitlines() if line and not line.startswith("The following events")]
    return lines[0].split(": ", 1)[-1].strip() if lines else None
