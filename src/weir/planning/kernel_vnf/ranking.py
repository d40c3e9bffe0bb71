# SPDX-License-Identifier: Apache-2.0
"""What a configuration carries on given cores, and which one is best (section 3.1, last paragraph)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from weir.planning.kernel_vnf.configuration import Configuration
from weir.planning.kernel_vnf.equations import Throughput, system_pps, throughput


@dataclass(frozen=True)
class Case:
    """A machine, its link, and traffic: flows of equal rate, frames of one size."""

    frequency_hz: float
    cores: int
    """n, for infrastructure and functions together."""
    link_bps: float
    flows: int
    frame_bytes: float


@dataclass(frozen=True)
class Question:
    """What `weir model kernel-vnf` is asked."""

    cases: tuple[Case, ...]
    """Flow counts in the order given, for each the frame sizes in theirs."""
    configurations: Mapping[str, Configuration]
    source: str
    """Where the parameters are from."""


@dataclass(frozen=True)
class Prediction:
    """What one configuration carries in a case."""

    case: Case
    configuration: Configuration
    scale: int
    """f, the sets of x + y cores in use."""
    throughput: Throughput

    @property
    def cores(self) -> int:
        """f (x + y)"""
        return self.scale * self.configuration.cores

    @property
    def evenness(self) -> float:
        """Share of what the sets could carry when the one with the most flows is full: 1 if flows divide."""
        return self.case.flows / (self.scale * math.ceil(self.case.flows / self.scale))

    def meets(self, rate_pps: float) -> bool:
        """It carries that rate, by the model: with flows shared evenly."""
        return self.throughput.pps >= rate_pps


def predict(configuration: Configuration, case: Case) -> Prediction:
    """With as many sets as cores and flows allow. ValueError: not one set fits, or (4) gives no cost."""
    scale = configuration.scale(case.cores, case.flows)
    if scale < 1:
        raise ValueError(
            f"{configuration.name} needs {configuration.cores} cores; expected at least as many, not "
            f"{case.cores}"
        )
    return at_scale(configuration, case, scale)


def rank(
    configurations: Iterable[Configuration], case: Case, *, rate_pps: float | None = None
) -> list[Prediction]:
    """Those that fit on the cores, best first; empty if none does.

    Without a rate: the highest throughput first; of equals, as at the link's rate, the fewest cores. With a
    rate: those that meet it, fewest cores first, then the others by throughput. No more sets are in use than
    that takes. ValueError as `predict`.
    """
    wanted_pps = math.inf if rate_pps is None else rate_pps
    fitting = (one for one in configurations if one.scale(case.cores, case.flows))
    found = [_with_fewest_sets(predict(one, case), wanted_pps) for one in fitting]
    return sorted(found, key=lambda one: _place(one, wanted_pps))


def _place(one: Prediction, wanted_pps: float) -> tuple[float, float, float]:
    pps = one.throughput.pps
    return (0, one.cores, -pps) if one.meets(wanted_pps) else (1, -pps, one.cores)


def at_scale(configuration: Configuration, case: Case, scale: int) -> Prediction:
    """With that many sets, whether they fit or not. ValueError: (4) gives no cost."""
    try:
        carried = throughput(
            configuration.parameters,
            scale=scale,
            frequency_hz=case.frequency_hz,
            frame_bytes=case.frame_bytes,
            link_bps=case.link_bps,
        )
    except ValueError as error:
        raise ValueError(f"{configuration.name}: {error}") from None
    return Prediction(case, configuration, scale, carried)


def _with_fewest_sets(most: Prediction, wanted_pps: float) -> Prediction:
    """The same configuration with no more sets than the rate takes, or what `most` carries of it.

    To leave sets out must not rest on an even sharing that whole flows do not allow.
    """
    enough_pps = min(wanted_pps, most.throughput.pps)
    for scale in range(1, most.scale):
        try:
            fewer = at_scale(most.configuration, most.case, scale)
        except ValueError:  # f far below the points that it was calibrated from
            continue
        by_cores_pps = system_pps(scale, most.case.frequency_hz, fewer.throughput.core_cycles)
        if fewer.meets(enough_pps) and by_cores_pps * fewer.evenness >= enough_pps:
            return fewer
    return most
