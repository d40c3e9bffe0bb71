# SPDX-License-Identifier: Apache-2.0
"""What an execution area's cost is made of: named terms, and how much of each there is.

The cost of an area on one path, in cycles a packet that comes in, is linear in its parameters: the sum over
its terms of amount x parameter. Terms are called by what costs:

- `nf NAME`: the function's own work; `nf NAME rules`, times log2(1 + entries of its lists);
  `nf NAME memory`, times the latency of the memory that the state of this core's functions lies in;
- `nf NAME handed over`: how much more, or less, it costs on a state core, where it decides only;
- `fast path`: looking for the flow, and what its entry says; `fast path memory`, as that of functions;
  `fast path miss`: looking for it in vain, and remembering what the functions, which then run, decide;
  `fast path stage`: what each of them costs more then;
- `nf NAME short burst`, `fast path short burst`, `chain short burst`, `generator short burst` …: what a burst
  costs however few packets it has, times the bursts more that a packet takes than if all were full;
  `short burst memory`: of what keeps state, times the latency of its memory too, since fewer packets wait
  for it together; `short burst across cores`, `short burst from another core`: likewise, of what goes between
  cores, and of bytes that another one touched;
- `nf NAME inbound`: how much more, or less, it costs on the way from the outside;
- `rewriting NAME`: making a function's changes of the packet, by a rewrite worker or a fast path;
- `headers`: parsing them, once an area;
- `bytes KIND`: a kilobyte of frame, at a kind of port;
- `take KIND`, `give KIND`: the driver of a kind of port, or a ring;
- `take KIND across cores`, `headers from another core` …: what comes from another core's cache, times the
  distance of the cores in hundreds of cycles;
- `generator memory`, `receiver memory`: that functions' state takes the cache from the tester;
- `generator`, `receiver`, `dispatcher`, `forwarder`, `state_core`, `rewrite_worker`, `collector`: these
  areas' own work;
- `receiver out of order`: what it takes more for packets that overtook others;
- `pmd hop`, `bridge hop`, `netfilter bridge hop`, `openvswitch hop`, `veth hop`, `switch thread hop`: a
  packet from one port of a network to the other one, with taking, looking up and giving: every packet has all
  of it, so no trial tells these apart;
- `… hop across cores`: times the distance of the cores, of what other cores put there or take there;
- `bytes pmd`, `bytes bridge` …: a kilobyte of frame, copied on the way;
- `pmd memory`: times the excess latency of as much memory as the flows in a polling thread's exact-match
  cache take, which all networks share;
- `pmd classifier`: what more a packet costs that the polling thread's exact-match cache does not know.

Sources: equation (1) of [ExecAreas] (a + b S, and c0 + c1 S for virtual switches); f_i of [Lean], II.C.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from weir.base.node import KERNEL_PORT_KINDS
from weir.lab.execution import (
    SWITCH_KINDS,
    TESTER_KINDS,
    Area,
    AreaKind,
    AreaPath,
    Execution,
    StageUse,
)

KILOBYTE = 1000.0
HOP = " hop"
EXACT_ENTRY_BYTES = 576
"""About, of a flow in the exact-match cache: struct emc_entry of Open vSwitch's dpif-netdev-private-dfc.h."""


def hop_terms(path: AreaPath, execution: Execution, excess_cycles: float = 0.0) -> dict[str, float]:
    """Of one packet that comes in on a path of a switch's area. `excess_cycles`: latency of the memory that
    the polling thread's exact-match cache lies in."""
    distance = execution.distance()
    found = {
        f"{path.hop}{HOP}": 1.0,
        f"{path.hop}{HOP} across cores": (path.crossing + path.parting) * distance,
        f"bytes {path.hop}": execution.frame_bytes / KILOBYTE,
    }
    if path.hop == "pmd":
        found["pmd classifier"] = 1 - path.remembered
        found["pmd memory"] = excess_cycles
    return {name: amount for name, amount in found.items() if amount}


def smallest_hop(path: AreaPath, execution: Execution) -> dict[str, float]:
    """The same of a frame of hardly any bytes, of a flow that is known."""
    return hop_terms(replace(path, remembered=1.0), replace(execution, frame_bytes=0.0))


Terms = Mapping[str, float]
HANDED_OVER = " handed over"
INBOUND = " inbound"
SHORT_BURST = "short burst"
FASTPATH = "fast path"
FASTPATH_ENTRY_BYTES = 128
"""Of memory that a packet of a known flow needs: struct weir_flow_entry, and its place in the table."""
PREDICTED_FLOWS = 1000
"""About as many branches in their order as a core's predictor remembers."""
READERS: frozenset[AreaKind] = frozenset({"receiver", "state_core", "dispatcher", "rewrite_worker"})
"""Areas that read packets' bytes themselves."""
NO_PORT = frozenset({"ring", "nothing"})
"""Ends of a path that are no port: nobody touches a frame's bytes there."""


@dataclass(frozen=True)
class MemoryCurve:
    """Cycles of one load that depends on the last, by the bytes over which loads wander, ascending."""

    points: tuple[tuple[float, float], ...]

    def excess_cycles(self, size_bytes: float) -> float:
        """Above that of the smallest size, in the mean over all sizes up to this one: a part of what is used
        in turn stays in a cache that is too small for the whole. Flat beyond the largest size."""
        sizes = np.array([size for size, _ in self.points])
        above = np.array([cycles for _, cycles in self.points]) - self.points[0][1]
        within = sizes[sizes < size_bytes]
        last = float(np.interp(size_bytes, sizes, above))
        ends = np.concatenate([within, [max(size_bytes, 1.0)]])
        heights = np.concatenate([above[: len(within)], [last]])
        area = (
            float(np.sum((ends[1:] - ends[:-1]) * (heights[1:] + heights[:-1]) / 2)) if len(ends) > 1 else 0.0
        )
        return area / size_bytes if size_bytes > 0 else 0.0


def state_bytes(execution: Execution, core: int) -> float:
    """Bytes of flows' state that one core goes through, over and over."""
    return sum(
        path.share * execution.flows * _flow_bytes(path)
        + min(path.share * execution.flows, path.remembers_most) * FASTPATH_ENTRY_BYTES
        for area in execution.on(core)
        for path in area.paths
    )


def _flow_bytes(path: AreaPath) -> float:
    """That a packet of each flow needs on a path."""
    if path.hop == "pmd":
        return path.remembered * EXACT_ENTRY_BYTES
    return (1 - path.remembered) * sum(stage.state_bytes for stage in path.stages)


def touched_elsewhere(execution: Execution, core: int) -> float:
    """Share of the packets that functions on other cores had in hand: their buffers come back to this core in
    another one's cache."""
    return min(
        1.0,
        sum(
            path.share
            for area in execution.areas
            if area.core != core and area.kind not in TESTER_KINDS
            for path in area.paths
            if path.stages or area.kind == "rewrite_worker"
        ),
    )


def overtaken(execution: Execution) -> float:
    """Share of the packets that leave in another order than they came: of several workers, each time that an
    area puts together what they have."""
    merged = [
        area.share()
        for area in execution.areas
        if area.kind == "chain" and sum(bool(path.share and not path.stages) for path in area.paths) > 1
    ]
    collected = [
        path.share
        for area in execution.areas
        if area.kind == "collector"
        for path in area.paths
        if path.inputs > 1
    ]
    return min(1.0, sum(merged) + sum(collected))


def mispredicted(path: AreaPath, execution: Execution) -> float:
    """Share of the packets of which a dispatcher's core mispredicts where they go: its branch predictor knows
    the order of few flows."""
    return (1 - 1 / max(1, path.outputs)) * execution.flows / (execution.flows + PREDICTED_FLOWS)


def stage_terms(
    stage: StageUse,
    path: AreaPath,
    execution: Execution,
    *,
    first: bool,
    handed_over: bool,
    excess_cycles: float,
) -> dict[str, float]:
    """Of one stage. `first`: no function before it in the area has looked at the packet.

    `handed_over`: a state core runs it, which has parsed the headers before.
    """
    found = {f"nf {stage.nf}": 1.0}
    if handed_over:
        found[f"nf {stage.nf}{HANDED_OVER}"] = 1.0
    short = 1 / path.fill - 1
    if short:
        found[f"nf {stage.nf} {SHORT_BURST}"] = short
        if stage.state_bytes:
            found[f"{SHORT_BURST} memory"] = short * excess_cycles
    if stage.inbound:
        found[f"nf {stage.nf}{INBOUND}"] = 1.0
    if stage.rules:
        found[f"nf {stage.nf} rules"] = math.log2(1 + stage.rules)
    if excess_cycles and stage.state_bytes:
        found[f"nf {stage.nf} memory"] = excess_cycles
    if first and not handed_over:
        if stage.decides:
            found["headers"] = 1.0
        found["headers from another core"] = path.cold * execution.distance()
        found[f"{SHORT_BURST} from another core"] = short * path.cold * execution.whole_distance()
    return {name: amount for name, amount in found.items() if amount}


def rest_terms(
    area: Area, path: AreaPath, execution: Execution, excess_cycles: float = 0.0
) -> dict[str, float]:
    """Of an area on one path, without its stages: ports, rings, and its own work."""
    if area.kind in SWITCH_KINDS:
        return hop_terms(path, execution, excess_cycles)
    found = _own_work(area, path, execution)
    distance = execution.distance()
    if path.entry != "nothing":
        found[f"take {path.entry}"] = 1
        found[f"take {path.entry} across cores"] = path.crossing * distance
    if path.leaving != "nothing":
        found[f"give {path.leaving}"] = 1
        found[f"give {path.leaving} across cores"] = path.parting * distance
    if path.cold and area.kind in READERS:
        found[f"{area.kind} from another core"] = path.cold * distance
    if area.kind == "generator" and path.leaving not in KERNEL_PORT_KINDS:
        found["generator from another core"] = touched_elsewhere(execution, area.core) * distance
    if area.kind == "receiver":
        found["receiver out of order"] = overtaken(execution)
    if area.kind in TESTER_KINDS:
        found[f"{area.kind} memory"] = excess_cycles
    short = 1 / path.fill - 1
    if short:
        found[f"{area.kind} {SHORT_BURST}"] = short
        away = short * execution.whole_distance()
        found[f"{SHORT_BURST} across cores"] = away * (path.crossing + path.parting)
        found[f"{SHORT_BURST} from another core"] = away * path.cold * (area.kind in READERS)
    for kind in {path.entry, path.leaving} - NO_PORT:
        copies = (path.entry, path.leaving).count(kind) if kind in KERNEL_PORT_KINDS else 1
        found[f"bytes {kind}"] = copies * execution.frame_bytes / KILOBYTE
    return {name: amount for name, amount in found.items() if amount}


def _own_work(area: Area, path: AreaPath, execution: Execution) -> dict[str, float]:
    """What areas do besides taking, running functions and giving."""
    if area.kind == "chain":
        return {}
    if area.kind == "dispatcher":
        own = "forwarder" if path.outputs < 2 else "dispatcher"
        return {own: 1.0, "dispatcher unforeseen": mispredicted(path, execution)}
    rewriting = path.rewriting if area.kind == "rewrite_worker" else ()
    return {area.kind: 1.0} | {f"rewriting {nf}": 1.0 for nf in rewriting}


def path_terms(
    area: Area, path: AreaPath, execution: Execution, excess_cycles: float
) -> tuple[list[dict[str, float]], dict[str, float]]:
    """Of each stage of a path, and of the rest of its area."""
    stages = []
    rest = rest_terms(area, path, execution, excess_cycles)
    if path.remembers:
        rest |= fastpath_terms(area, path, execution, excess_cycles)
    looked = parsed = path.remembers
    for stage in path.stages:
        first = not looked or (stage.decides and not parsed)
        stages.append(
            stage_terms(
                stage,
                replace(path, cold=0.0) if looked else path,
                execution,
                first=first,
                handed_over=area.kind == "state_core",
                excess_cycles=excess_cycles,
            )
        )
        looked = True
        parsed = parsed or stage.decides
    if path.remembers:
        stages = [one | {f"{FASTPATH} stage": 1.0} for one in stages]
    walked = 1 - path.remembered
    return [{name: walked * amount for name, amount in one.items() if walked} for one in stages], rest


def fastpath_terms(
    area: Area, path: AreaPath, execution: Execution, excess_cycles: float
) -> dict[str, float]:
    """Of a fast path, which reads the headers itself unless a state core has."""
    found = {FASTPATH: path.remembered, f"{FASTPATH} miss": 1 - path.remembered}
    found |= {f"rewriting {nf}": path.remembered * (area.kind != "state_core") for nf in path.rewriting}
    found[f"{FASTPATH} memory"] = excess_cycles
    short = 1 / path.fill - 1
    found[f"{FASTPATH} {SHORT_BURST}"] = short
    found[f"{SHORT_BURST} memory"] = short * excess_cycles
    if area.kind == "state_core":
        found[f"{FASTPATH}{HANDED_OVER}"] = 1.0
    else:
        found["headers"] = 1.0
        found["headers from another core"] = path.cold * execution.distance()
        found[f"{SHORT_BURST} from another core"] = short * path.cold * execution.whole_distance()
    return {name: amount for name, amount in found.items() if amount}


def area_terms(area: Area, execution: Execution, memory: MemoryCurve) -> dict[str, float]:
    """Of a whole area, for each packet that the tester sends."""
    excess = memory.excess_cycles(state_bytes(execution, area.core))
    parts = []
    for path in area.paths:
        if not path.share:
            continue
        stages, rest = path_terms(area, path, execution, excess)
        parts += [(path.share, terms) for terms in (*stages, rest)]
    return weighted(parts)


def core_terms(execution: Execution, core: int, memory: MemoryCurve) -> dict[str, float]:
    """Of all areas on one core, for each packet that the tester sends."""
    areas = execution.on(core)
    return weighted((1.0, area_terms(area, execution, memory)) for area in areas if area.share())


def weighted(parts: Iterable[tuple[float, Terms]]) -> dict[str, float]:
    """The sum of the parts, each times its weight."""
    total: dict[str, float] = {}
    for weight, terms in parts:
        for name, amount in terms.items():
            total[name] = total.get(name, 0.0) + weight * amount
    return total
