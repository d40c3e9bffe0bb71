# SPDX-License-Identifier: Apache-2.0
"""Bits a second of captures: a trial begins with a file's first frame and may end long before its last, so
what counts is what was sent, not the file's mean."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from weir.lab.frames import BITS_PER_BYTE, l1_bps
from weir.protocol.traffic_results import CaptureFacts
from weir.results.result import Throughput, Trial


def of_what_was_sent(
    found: Throughput, trials: Sequence[Trial], captured: Mapping[int, CaptureFacts]
) -> Throughput:
    """The same with the bits of the frames that its trials sent, and a remark where that is a part of a
    file. `trials`: of the case so far, those that confirm it last."""
    load_pps, lower_pps = found.load_pps, found.lower_bound_pps
    if load_pps is None or lower_pps is None or not captured:
        return found
    valid = [trial for trial in reversed(trials) if trial.valid]
    nearest = min(valid, key=lambda trial: abs(trial.intended_load_pps - lower_pps), default=None)
    sent = [stream for stream in (nearest.streams if nearest else ()) if stream.offered_bytes]
    if not sent:
        return found
    mean_bytes = sum(one.offered_bytes for one in sent) / sum(one.offered for one in sent)
    parts = " and ".join(
        f"the first {one.offered:,} of {captured[one.stream].frames:,} frames of the capture {one.direction}"
        for one in sent
        if one.offered < captured[one.stream].frames
    )
    said = (found.why, f"Its trials sent {parts}." if parts else None)
    return found.model_copy(
        update={
            "l2_bps": load_pps * mean_bytes * BITS_PER_BYTE,
            "l1_bps": l1_bps(load_pps, mean_bytes),
            "why": " ".join(filter(None, said)) or None,
        }
    )
