# SPDX-License-Identifier: Apache-2.0
"""Predictions in sentences: what limits, why the best one wins, and where the model is stretched."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from weir.base import packet_rate
from weir.base.words import counted
from weir.planning.kernel_vnf.configuration import Configuration
from weir.planning.kernel_vnf.ranking import Prediction, at_scale

UNEVEN = 0.01
"""Uneven shares that cost less than that are not worth a sentence."""


@dataclass(frozen=True)
class Basis:
    """The measurements behind the parameters."""

    frame_bytes: tuple[float, float]
    """The smallest and the largest frame."""
    mean_deviation: float | None = None
    """Of measurements from predictions, relative; None: nobody has looked."""


PUBLISHED_BASIS = Basis((64, 1500), 0.0374)
"""[ExecAreas], sections 4.1 and 5."""


def basis_of_points(configurations: Iterable[Configuration]) -> Basis:
    """For parameters that were calibrated from these points alone."""
    sizes_bytes = [point.frame_bytes for one in configurations for point in one.points]
    return Basis((min(sizes_bytes), max(sizes_bytes)))


def limits(one: Prediction) -> str:
    """What is full, and what would help."""
    if one.throughput.limited_by == "link":
        return "The link is full."
    name, sets, cycles = one.configuration.name, counted(one.scale, "set"), one.throughput.core_cycles
    said = (
        f"The processor limits: a packet costs {cycles:,.0f} cycles on the fullest core of each set. "
        f"{name} runs {sets} of {one.configuration.cores} cores (f = {one.scale})"
    )
    possible = one.case.cores // one.configuration.cores
    left = one.case.cores - one.cores
    if possible > one.scale == one.case.flows:
        return f"{said}; {possible} would fit, but a flow stays on one set: more flows would use them."
    return f"{said} and leaves {counted(left, 'core')} free." if left else f"{said}: all cores."


def verdict(
    ranking: Sequence[Prediction], *, rate_pps: float | None = None, basis: Basis = PUBLISHED_BASIS
) -> str:
    """Why the first of the ranking is the best one; `ranking` is not empty."""
    best = ranking[0]
    if rate_pps is not None:
        return _for_rate(best, ranking[1:], rate_pps, basis)
    reason = f"{_name(best)} is best: {_mpps(best)} on {counted(best.cores, 'core')}."
    if len(ranking) == 1:
        return f"{reason} No other configuration fits on {counted(best.case.cores, 'core')}."
    second = ranking[1]
    if second.throughput.pps == best.throughput.pps:
        return f"{reason} {_name(second)} fills the link too, on {counted(second.cores, 'core')}."
    less = 1 - second.throughput.pps / best.throughput.pps
    reason += f" {_name(second)} follows with {less:.1%} less: {_contrast(best, second)}."
    if _within(less, basis) and second.cores < best.cores:
        reason += (
            f" That is within the published mean error of {basis.mean_deviation:.2%}, and {_name(second)} "
            f"takes {counted(second.cores, 'core')}."
        )
    return reason


def _for_rate(best: Prediction, others: Sequence[Prediction], rate_pps: float, basis: Basis) -> str:
    required = packet_rate.said(rate_pps)
    if not best.meets(rate_pps):
        full = "the link" if best.throughput.limited_by == "link" else "the processor"
        nearest = f"{_name(best)} comes nearest with {_mpps(best)}"
        return f"No configuration carries {required}: {nearest}; {full} limits."
    margin = best.throughput.pps / rate_pps - 1
    reason = (
        f"{_name(best)} is best: {required} on {counted(best.cores, 'core')}, with a margin of {margin:.1%}"
    )
    if _within(margin, basis):
        reason += f", less than the published mean error of {basis.mean_deviation:.2%}"
    second = next((one for one in others if one.meets(rate_pps)), None)
    if second is None:
        return f"{reason}. No other configuration carries it."
    return f"{reason}. {_name(second)} takes {counted(second.cores, 'core')} and could carry {_mpps(second)}."


def _contrast(best: Prediction, second: Prediction) -> str:
    """What tells two configurations apart: sets side by side, and the cost on the fullest core of each."""
    if best.throughput.limited_by == "link":
        return "it does not fill the link"
    sets = "as many sets"
    if second.scale != best.scale:
        sets = f"{counted(second.scale, 'set')} instead of {best.scale}"
    theirs, ours = second.throughput.core_cycles, best.throughput.core_cycles
    return f"{sets}, and {theirs:,.0f} cycles a packet on the fullest core instead of {ours:,.0f}"


def _within(share: float, basis: Basis) -> bool:
    return basis.mean_deviation is not None and share < basis.mean_deviation


def caveats(predictions: Sequence[Prediction], *, basis: Basis = PUBLISHED_BASIS) -> list[str]:
    """Where predictions lie outside what was measured, or the model assumes, a sentence each."""
    return [
        *dict.fromkeys(said for one in predictions for said in (*_scales(one), *_shares(one))),
        *_frames({one.case.frame_bytes for one in predictions}, basis),
    ]


def _scales(one: Prediction) -> Iterator[str]:
    name, scales = one.configuration.name, sorted({point.scale for point in one.configuration.points})
    if scales and not scales[0] <= one.scale <= scales[-1]:
        listed = " and ".join(map(str, scales))
        yield f"{name} at f = {one.scale} is extrapolated: it was calibrated at f = {listed}."
    elif any(point.assumed for point in one.configuration.points) and one.scale > 1:
        yield f"{name} at f = {one.scale} was not measured: [ExecAreas] assumes that it scales as 3+1 does."


def _shares(one: Prediction) -> Iterator[str]:
    flows, scale = one.case.flows, one.scale
    if 1 - one.evenness > UNEVEN:
        yield (
            f"{flows} flows do not share {scale} sets evenly, as the model assumes: a set with "
            f"{math.ceil(flows / scale)} of them is full when all together carry {one.evenness:.0%} of "
            f"what is said of {_name(one)}."
        )


def _frames(sizes_bytes: Iterable[float], basis: Basis) -> Iterator[str]:
    low, high = basis.frame_bytes
    outside = sorted(size for size in sizes_bytes if not low <= size <= high)
    if outside:
        listed = ", ".join(f"{size:g}" for size in outside)
        yield f"Frames of {listed} bytes are extrapolated: {low:g} to {high:g} were measured."


def disagreement(one: Prediction, other: Configuration) -> float | None:
    """How far the throughput is from that by `other`'s parameters, relative; None: no cost."""
    try:
        return one.throughput.pps / at_scale(other, one.case, one.scale).throughput.pps - 1
    except ValueError:
        return None


def _name(one: Prediction) -> str:
    return one.configuration.name


def _mpps(one: Prediction) -> str:
    return packet_rate.said(one.throughput.pps)
