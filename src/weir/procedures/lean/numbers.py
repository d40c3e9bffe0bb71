# SPDX-License-Identifier: Apache-2.0
"""A lean result from what weir-lean answered: cycles and instructions of the chain and of each stage."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict

from weir.base.error import FAILED, WeirError
from weir.results.lean import FastPathUse, LeanCost, LeanSamples, LeanState, Prediction, Spread

BATCH = 32
CHAIN = "chain"
FASTPATH = "fast path"
OUTSIDE = "in no stage"
BEYOND = 1.1
"""Times what the core was seen to retire at most is impossible: both are known to some percent."""


class ImpossibleError(WeirError):
    """What was measured cannot be. Says what, why, and what to do."""

    exit_code = FAILED


class _Answer(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class TimedStage(_Answer):
    """Cycles are of the batches that nothing interrupted; packets and drops of all."""

    name: str
    packets_in: int
    packets_out: int
    cycles: int
    middle: float
    """Cycles of a batch, mean of the middle half."""
    drops: dict[str, int]


class TimedFastPath(_Answer):
    """Packets that the fast path knew, and those that walked; cycles that are in no stage."""

    hits: int
    slow_packets: int
    cycles: int
    middle: float | None = None
    """Cycles of a batch, as of stages; an older weir-lean does not tell them."""


class Timed(_Answer):
    """The answer to `time`."""

    batches: int
    packets: int
    forwarded: int
    interrupted: int
    cycled: int
    """Packets of the batches that nothing interrupted."""
    cycles: int
    middle: float
    core_per_tsc: float = 0
    """Cycles of the core for one of the time-stamp counter, meanwhile; 0: not known."""
    by_hardware: bool = False
    stages: tuple[TimedStage, ...]
    fastpath: TimedFastPath | None = None

    @property
    def outside(self) -> int:
        """Cycles that are in no stage."""
        if self.fastpath is not None:
            return self.fastpath.cycles
        return max(0, self.cycles - sum(stage.cycles for stage in self.stages))


class Stepped(_Answer):
    """The answer to `step`: instructions of the path, and of each stage if there is no fast path."""

    batches: int
    packets: int
    instructions: int
    stages: tuple[int, ...]


class Target(_Answer):
    """What was counted around one thing, over so many batches."""

    label: str
    batches: int
    packets: int
    instructions: int = 0
    cycles: int | None = None
    l1d_misses: int | None = None
    llc_misses: int | None = None


class Counted(_Answer):
    """The answer to `count`: targets "empty", "path", "stage 0", …"""

    targets: tuple[Target, ...]
    shared: bool = False
    """Other programs had the counters meanwhile: of no use."""


@dataclass(frozen=True)
class Misses:
    """What hardware counters say, a packet of the chain. Without what counting itself costs."""

    l1d_misses: float | None
    llc_misses: float | None


def misses(counted: Counted) -> dict[str, Misses]:
    """By label: "path", "stage 0", …"""
    empty = next(target for target in counted.targets if target.label == "empty")
    return {target.label: _misses(target, empty) for target in counted.targets if target.label != "empty"}


def _misses(target: Target, empty: Target) -> Misses:
    def a_packet(event: str) -> float | None:
        value, nothing = getattr(target, event), getattr(empty, event)
        if value is None or nothing is None:
            return None
        return float(max(0.0, value - nothing * target.batches / empty.batches) / target.packets)

    return Misses(l1d_misses=a_packet("l1d_misses"), llc_misses=a_packet("llc_misses"))


def spread(values: Sequence[float]) -> Spread:
    """Median, minimum and maximum of the repeats."""
    return Spread(median=statistics.median(values), min=min(values), max=max(values))


def state(
    timed: Sequence[Timed], stepped: Stepped | None = None, counted: Sequence[Counted] = ()
) -> LeanState | None:
    """The chain, its stages and what is in none, from all repeats. None if the host interrupted every batch.

    `stepped`: instructions of the same packets; `counted`: misses, of hardware counters.
    """
    whole = [one for one in timed if one.cycled and one.core_per_tsc]
    if not whole:
        return None
    found = [misses(one) for one in counted]
    packets = sum(one.packets for one in timed)
    chain = LeanCost(
        name=CHAIN,
        packets_in=packets,
        packets_out=sum(one.forwarded for one in timed),
        drops=_added(stage.drops for one in timed for stage in one.stages),
        cycles_per_packet=_core(whole, lambda one: one.cycles),
        tsc_cycles_per_packet=_tsc(whole, lambda one: one.cycles),
    )
    stages = [_stage(timed, whole, index) for index in range(len(timed[0].stages))]
    outside = LeanCost(
        name=FASTPATH if timed[0].fastpath is not None else OUTSIDE,
        packets_in=packets,
        packets_out=packets,
        cycles_per_packet=_core(whole, lambda one: one.outside),
        tsc_cycles_per_packet=_tsc(whole, lambda one: one.outside),
    )
    chain = _with_misses(chain, found, "path")
    stages = [_with_misses(stage, found, f"stage {index}") for index, stage in enumerate(stages)]
    if stepped is not None:
        chain = _with_instructions(chain, stepped.instructions / stepped.packets)
        if stepped.stages:
            each = [instructions / stepped.packets for instructions in stepped.stages]
            stages = [_with_instructions(*pair) for pair in zip(stages, each, strict=True)]
            rest = (stepped.instructions - sum(stepped.stages)) / stepped.packets
            outside = outside.model_copy(update={"instructions_per_packet": rest})
    return LeanState(chain=chain, stages=stages, outside=outside)


def _stage(timed: Sequence[Timed], whole: Sequence[Timed], index: int) -> LeanCost:
    own = [one.stages[index] for one in timed]
    return LeanCost(
        name=own[0].name,
        packets_in=sum(stage.packets_in for stage in own),
        packets_out=sum(stage.packets_out for stage in own),
        drops=_added(stage.drops for stage in own),
        cycles_per_packet=_core(whole, lambda one: one.stages[index].cycles),
        tsc_cycles_per_packet=_tsc(whole, lambda one: one.stages[index].cycles),
    )


def _core(timed: Sequence[Timed], of: Callable[[Timed], int]) -> Spread:
    """Per packet that enters the chain, so that stages add up."""
    return spread([of(one) * one.core_per_tsc / one.cycled for one in timed])


def _tsc(timed: Sequence[Timed], of: Callable[[Timed], int]) -> Spread:
    return spread([of(one) / one.cycled for one in timed])


def _with_instructions(cost: LeanCost, ipp: float) -> LeanCost:
    cpp = cost.cycles_per_packet.median
    ipc = ipp / cpp if cpp else None
    return cost.model_copy(update={"instructions_per_packet": ipp, "ipc": ipc, "eipc": ipc})


def _with_misses(cost: LeanCost, found: Sequence[dict[str, Misses]], label: str) -> LeanCost:
    """The cost with what counters say; as it is if they say nothing of it (stages behind a fast path)."""
    own = [one[label] for one in found if label in one]
    return cost.model_copy(
        update={
            "l1d_misses_per_packet": _median(own, lambda one: one.l1d_misses),
            "llc_misses_per_packet": _median(own, lambda one: one.llc_misses),
        }
    )


def refuse_impossible(found: LeanState, retires_most: float) -> None:
    """ImpossibleError if the chain or a stage executes more instructions a cycle than the core can."""
    for cost in (found.chain, *found.stages):
        if cost.ipc is not None and cost.ipc > BEYOND * retires_most:
            raise ImpossibleError(
                f"{cost.name}: {cost.instructions_per_packet:.1f} instructions in "
                f"{cost.cycles_per_packet.median:.1f} cycles a packet cannot be: this core was seen "
                f"to retire {retires_most:.1f} a cycle at most. Instructions and cycles are not of the same "
                "work, or the core's clock was misread; measure again with fewer programs beside, and report "
                "it if it stays"
            )


def _median(own: Sequence[Misses], value: Callable[[Misses], float | None]) -> float | None:
    known = [found for found in map(value, own) if found is not None]
    return statistics.median(known) if known else None


def _added(drops: Iterable[dict[str, int]]) -> dict[str, int]:
    total: dict[str, int] = {}
    for one in drops:
        for reason, packets in one.items():
            total[reason] = total.get(reason, 0) + packets
    return total


def samples(launches: Sequence[Sequence[Timed]]) -> list[LeanSamples]:
    """Cycles of the time-stamp counter per packet of each repeat: chain, fast path, and each stage.

    Means over the batches that nothing interrupted: a single reading is known to a step of the counter, tens
    of cycles on some processors, but readings begin anywhere in a step, so that their mean is not rounded.
    Stages that some repeat did not meet, as behind a fast path, have none: there is nothing to compare.
    """
    found = []
    for name in _means(launches[0][0]):
        all_ = [[_means(one)[name] for one in launch] for launch in launches]
        if all(cycles > 0 for launch in all_ for cycles in launch):
            found.append(LeanSamples(name=name, launches=all_))
    return found


def _means(timed: Timed) -> dict[str, float]:
    """Cycles a packet; of all batches alike where every one was interrupted."""

    def mean(cycles: int, middle: float) -> float:
        return cycles / timed.cycled if timed.cycled else middle / BATCH

    found = {CHAIN: mean(timed.cycles, timed.middle)}
    if timed.fastpath is not None and timed.fastpath.middle is not None:
        found[FASTPATH] = mean(timed.fastpath.cycles, timed.fastpath.middle)
    return found | {stage.name: mean(stage.cycles, stage.middle) for stage in timed.stages}


def fastpath_use(timed: Sequence[Timed]) -> FastPathUse | None:
    """Hits and slow packets of all repeats; None without a fast path."""
    used = [one.fastpath for one in timed if one.fastpath is not None]
    if not used:
        return None
    return FastPathUse(hits=sum(one.hits for one in used), slow_packets=sum(one.slow_packets for one in used))


def predicted(cost: LeanCost, frequency_hz: float, cur: float) -> Prediction:
    """Equation (6) of [Lean]: pps = frequency x CUR / CPP."""
    return Prediction(
        frequency_hz=frequency_hz, cur=cur, pps=frequency_hz * cur / cost.cycles_per_packet.median
    )
