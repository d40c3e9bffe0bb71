# SPDX-License-Identifier: Apache-2.0
"""Equations (1) to (6), in SI units: hertz, packets a second, bit/s. `scale` is the f of [ExecAreas]."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from weir.lab.frames import l1_bps, link_pps

Limit = Literal["cpu", "link"]


@dataclass(frozen=True)
class Parameters:
    """The four numbers of equation (4), under the names of [ExecAreas]."""

    a: float
    """Cycles a byte, for each f."""
    a0: float
    """Cycles a byte."""
    b: float
    """Cycles, for each f."""
    b0: float
    """Cycles."""


@dataclass(frozen=True)
class Point:
    """A cumulative cost, measured or read from a regression line."""

    scale: int
    frame_bytes: float
    cycles: float
    """C_Cf, cycles a packet: f times what a packet costs the fullest core of a set."""
    assumed: bool = False
    """Not measured: taken to scale as another configuration does (section 3.6)."""


@dataclass(frozen=True)
class Throughput:
    """Equations (5) and (6)."""

    pps: float
    l1_bps: float
    """On the link, with preamble, start of frame delimiter and gap."""
    limited_by: Limit
    core_cycles: float
    """C_f: what a packet costs the fullest core of a set."""


def server_pps(frequency_hz: float, utilisation: float, cycles: float) -> float:
    """(1): what one area handles that has `utilisation` (0 to 1) of a core and spends `cycles` a packet."""
    return frequency_hz * utilisation / cycles


def core_pps(frequency_hz: float, cycles: Iterable[float]) -> float:
    """(2): what a core handles whose areas spend these `cycles` a packet each."""
    return server_pps(frequency_hz, 1.0, sum(cycles))


def system_pps(scale: int, frequency_hz: float, core_cycles: float) -> float:
    """(3): what f sets carry whose fullest core spends `core_cycles` a packet, all its areas together."""
    return scale * core_pps(frequency_hz, (core_cycles,))


def measured_cycles(scale: int, frequency_hz: float, pps: float) -> float:
    """(3) the other way round: the cumulative cost C_Cf = f C_f behind a throughput (section 3.6)."""
    return scale**2 * frequency_hz / pps


def cumulative_cycles(parameters: Parameters, scale: int, frame_bytes: float) -> float:
    """(4): C_Cf = (a f + a0) S + (b f + b0). ValueError where that is no cost: too far from the points."""
    by_byte = parameters.a * scale + parameters.a0
    cycles = by_byte * frame_bytes + parameters.b * scale + parameters.b0
    if not cycles > 0:
        raise ValueError(
            f"f = {scale} and frames of {frame_bytes:g} bytes would cost {cycles:.0f} cycles; expected "
            "parameters that were calibrated nearer to that"
        )
    return cycles


def throughput(
    parameters: Parameters, *, scale: int, frequency_hz: float, frame_bytes: float, link_bps: float
) -> Throughput:
    """(5) and (6): the smaller of what f sets carry and what the link does. ValueError as (4)."""
    core_cycles = cumulative_cycles(parameters, scale, frame_bytes) / scale
    by_cores_pps = system_pps(scale, frequency_hz, core_cycles)
    by_link_pps = link_pps(link_bps, frame_bytes)
    pps = min(by_cores_pps, by_link_pps)
    return Throughput(
        pps=pps,
        l1_bps=l1_bps(pps, frame_bytes),
        limited_by="link" if by_link_pps <= by_cores_pps else "cpu",
        core_cycles=core_cycles,
    )


def calibrate(points: Sequence[Point]) -> Parameters:
    """The parameters whose (4) goes through four points, or nearest to more of them by least squares.

    ValueError unless the points have two values of f, and two frame sizes at each of two.
    """
    terms = np.array([(p.scale * p.frame_bytes, p.frame_bytes, p.scale, 1.0) for p in points]).reshape(-1, 4)
    if np.linalg.matrix_rank(terms) < 4:
        raise ValueError(
            f"{len(points)} points that do not tell a, a0, b and b0 apart; expected four or more: two frame "
            "sizes at each of two values of f"
        )
    costs = np.array([point.cycles for point in points])
    a, a0, b, b0 = (float(value) for value in np.linalg.lstsq(terms, costs)[0])
    return Parameters(a, a0, b, b0)
