# SPDX-License-Identifier: Apache-2.0
"""What the benches *-nftables and *-ipvs measure: one of Weir's functions and Linux in its place, in turn.

The same chain behind the same bridge, one direction, so many flows, as fast as the tester can: what arrives a
second (the forwarding rate at maximum offered load of RFC 2285, 3.6.2). Each side is built anew for each
measurement, and has seen all flows before it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bench.bridged import AS_FAST_AS_IT_CAN, FRAME, bridged, seen
from bench.pairs import Line, interleave, line
from weir.lab import Lab

PAIRS = 5
FLOWS = 10_000
_WARM_UP_S, _SECONDS = 0.3, 0.5


def against_linux(name: str, nf: str, options: dict[str, Any], *, by: str | None, target: float) -> Line:
    """Ratio of packets a second. `by`: of `weir.lab.counterparts.OTHER_WAYS`; None: nftables. SkipError."""
    kernel = {} if by is None else {"kernel": {"counterpart": by}}
    ours = bridged({"nf": nf, "options": options}, flows=FLOWS)
    peer = bridged({"nf": nf, "options": options, "kind": "kernel", **kernel}, flows=FLOWS)
    lost: dict[str, float] = {}
    taken = interleave(_rate_of(ours, "ours", lost), _rate_of(peer, "peer", lost), PAIRS)
    found = line(name, taken, target=target, unit="pps")
    found.detail.update(flows=FLOWS, frame=FRAME, lost_ratio_last=lost)
    return found


def _rate_of(lab: Lab, side: str, lost: dict[str, float]) -> Callable[[], float]:
    def rate_pps() -> float:
        last = seen(lab, AS_FAST_AS_IT_CAN, warm_up_s=_WARM_UP_S, seconds=_SECONDS)
        lost[side] = 1 - last.trial.delivered / last.trial.offered
        return last.delivered_pps

    return rate_pps
