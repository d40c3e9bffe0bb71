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
    mean_bytes = None
    if found.load_pps is not None and found.lower_bound_pps is not None:
        trial = _nearest(trials, found.lower_bound_pps)
        mean_bytes = mean_frame_bytes(trial) if trial is not None else None
    if mean_bytes is None or trial is None or found.load_pps is None:
        return found
    part = " and ".join(_parts(trial, captured))
    remark = f"Its trials sent {part}." if part else None
    return found.model_copy(
        update={
            "l2_bps": found.load_pps * mean_bytes * BITS_PER_BYTE,
            "l1_bps": l1_bps(found.load_pps, mean_bytes),
            "why": " ".join(one for one in (found.why, remark) if one) or None,
        }
    )


def mean_frame_bytes(trial: Trial) -> float | None:
    """Of frames of captures; None: it sent none."""
    sent = [stream for stream in trial.streams if stream.offered_bytes]
    if not sent:
        return None
    return sum(stream.offered_bytes for stream in sent) / sum(stream.offered for stream in sent)


def _nearest(trials: Sequence[Trial], load_pps: float) -> Trial | None:
    """Of that load; of several the last, which is as long as any."""
    valid = [trial for trial in reversed(trials) if trial.valid]
    return min(valid, key=lambda trial: abs(trial.intended_load_pps - load_pps), default=None)


def _parts(trial: Trial, captured: Mapping[int, CaptureFacts]) -> list[str]:
    known = [(stream, captured[stream.stream]) for stream in trial.streams if stream.stream in captured]
    return [
        f"the first {stream.offered:,} of {facts.frames:,} frames of the capture {stream.direction}"
        for stream, facts in known
        if stream.offered < facts.frames
    ]
