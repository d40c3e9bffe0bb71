# SPDX-License-Identifier: Apache-2.0
"""Whether SIPp's counts of calls, the functions' and Weir's agree.

Of every planned call the caller knows that it succeeded or why it failed; the first function, whether it came
and how it ended first: answered, refused or cancelled; the callee, whether it rang.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise

from weir.verify.sip.kamailio import Counters
from weir.verify.sip.sipp import CallCounts


def disagreements(
    planned: int,
    caller: CallCounts,
    rang: int,
    functions: Mapping[str, Counters],
    locations_asked: int | None,
) -> list[str]:
    """Sentences; none: they agree. `rang`: calls that came to the callee. `functions`: what each counted
    meanwhile, in the order in which a call comes to them. `locations_asked`: of the subscriber server; None:
    there is none."""
    return list(_found(planned, caller, rang, functions, locations_asked))


def _found(
    planned: int,
    caller: CallCounts,
    rang: int,
    functions: Mapping[str, Counters],
    locations_asked: int | None,
) -> Iterator[str]:
    if caller.created != planned:
        yield f"{planned} calls were planned, and SIPp made {caller.created}"
    if caller.current:
        yield f"{caller.current} calls of SIPp's have not ended"
    ended = caller.successful + caller.failed
    if ended + caller.current != caller.created:
        yield f"of {caller.created} calls SIPp counts {ended} as ended and {caller.current} as going on"
    if sum(caller.causes.values()) != caller.failed:
        yield f"of {caller.failed} failed calls SIPp has a cause for {sum(caller.causes.values())}"
    name, first = next(iter(functions.items()))
    missing = caller.created - first.invited
    if missing < 0:
        yield f"SIPp made {caller.created} calls, and {first.invited} came to {name}"
    if missing > caller.failed:
        yield f"{missing} calls did not come to {name}, and no more than {caller.failed} failed"
    if first.invited != first.answered + first.refused + first.cancelled:
        yield (
            f"of {first.invited} calls {name} counts {first.answered} as answered, {first.refused} as "
            f"refused and {first.cancelled} as cancelled"
        )
    if caller.successful > first.answered:
        yield f"{caller.successful} calls succeeded, of {first.answered} that {name} saw answered"
    yield from _along(functions)
    last_name, last = list(functions.items())[-1]
    if rang > last.invited:
        yield f"{rang} calls came to the callee, of {last.invited} that came to {last_name}"
    if rang < first.answered:
        yield f"{name} saw {first.answered} calls answered, and {rang} came to the callee"
    if locations_asked is not None and locations_asked != functions["icscf"].invited:
        came = functions["icscf"].invited
        yield f"{came} calls came to icscf, which asked the subscriber server {locations_asked} times"
    if not caller.failed and len({caller.created, rang, *_invited(functions)}) > 1:
        yield f"every call succeeded, and the callee counts {rang} of {caller.created}"


def _along(functions: Mapping[str, Counters]) -> Iterator[str]:
    """To no function came more calls than to the one before."""
    for (name, one), (next_name, following) in pairwise(functions.items()):
        if following.invited > one.invited:
            yield f"{following.invited} calls came to {next_name}, of {one.invited} that came to {name}"


def _invited(functions: Mapping[str, Counters]) -> list[int]:
    return [one.invited for one in functions.values()]
