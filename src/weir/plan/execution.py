# SPDX-License-Identifier: Apache-2.0
"""From a topology to its execution areas, as the cost model sees them: who takes packets from whom, where.

The same areas that weir-dp is configured with; packets are followed from the generators through every queue.
Nothing is dropped on the way.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from weir.base.node import KERNEL_PORT_KINDS
from weir.base.topology import Topology
from weir.lab.execution import SWITCH_KINDS, Area, AreaPath, Execution, StageUse
from weir.lab.frames import CAPTURE, CONNECTIONS, mean_frame_bytes
from weir.lab.function import NfOptions
from weir.lab.lab import Chain, Lab
from weir.lab.nf import Nf, NfOption, Scalar, entries, network_functions
from weir.plan.architecture import stage_names
from weir.plan.plan import configure
from weir.plan.switch_areas import EXACT_MATCHES, SwitchArea, Switched, require_modelled, switched
from weir.plan.topology import PlanError
from weir.protocol.configuration import AreaConfig, ChainArea, Configure, TesterArea

_Amounts = dict[int, float]  # of packets, by core


@dataclass
class _Queue:
    """A ring, or one direction of a wire."""

    kind: str
    places: int
    put_by: _Amounts = field(default_factory=lambda: defaultdict(float))
    """Packets by the core that put them there."""
    touched_by: _Amounts = field(default_factory=lambda: defaultdict(float))
    """Packets by the core that read or wrote their bytes last."""
    taken_on: int | None = None
    fill: float = 1.0
    """Share of a full burst that who puts packets there has for it."""
    taken_by: tuple[str, int] | None = None
    """The area, and which of its paths."""

    @property
    def share(self) -> float:
        return sum(self.put_by.values())


def _elsewhere(amounts: Mapping[int, float], core: int) -> float:
    """Share of the amounts that is another core's."""
    total = sum(amounts.values())
    return 1 - amounts.get(core, 0.0) / total if total else 0.0


def execution(topology: Topology, lab: Lab, chain: Chain, frame: str) -> Execution:
    """The areas of `topology`, which is of `chain`, and of its switch. PlanError if something forwards there
    whose areas are not known."""
    require_modelled(topology)
    if frame in (CAPTURE, CONNECTIONS):
        raise PlanError(
            f"packets of a lab's {frame} are not modelled; expected a lab with frame sizes or mixes"
        )
    config = configure(topology, lab)
    between = switched(topology, lab, config.areas)
    queues = _queues(topology, config, between)
    stages = _stage_uses(lab, chain)
    streams = len(lab.tester.directions)
    flows = lab.traffic.flows.count * streams
    areas = [
        _Area(one, between.queues, queues, stages, sent=1 / streams, flows=flows)
        for one in (*config.areas, *between.areas)
    ]
    for area in areas:
        area.claim()
    _follow(areas)
    return Execution(
        areas=tuple(area.described(flows) for area in areas),
        frame_bytes=mean_frame_bytes(frame),
        flows=flows,
        fastpath=any(isinstance(one, ChainArea) and one.fastpath_flows is not None for one in config.areas),
    )


def _queues(topology: Topology, config: Configure, between: Switched) -> dict[str, _Queue]:
    """By name: rings, wires by the port that receives, and what a switch takes from."""
    sizes = {port.name: port.rx_queue_size for port in config.ports}
    queues = {port.name: _Queue(port.kind, sizes[port.name]) for port in topology.ports}
    queues |= {name: _Queue(topology.port(port).kind, sizes[port]) for name, port in between.entries.items()}
    return queues | {ring.name: _Queue("ring", ring.size) for ring in config.rings}


def _stage_uses(lab: Lab, chain: Chain) -> dict[str, StageUse]:
    """By node and stage, as `f1.nat`: nodes are numbered, stages called as weir-dp's are."""
    found: dict[str, StageUse] = {}
    for index, name in enumerate(chain.functions):
        nfs = lab.functions[name].nfs()
        for one, stage in zip(nfs, stage_names(one.nf for one in nfs), strict=True):
            found[f"f{index + 1}.{stage}"] = StageUse(
                nf=one.nf,
                decides=network_functions()[one.nf].decides,
                rules=list_entries(one),
                state_bytes=network_functions()[one.nf].flow_bytes,
            )
    return found


def list_entries(one: NfOptions) -> int:
    """Of all lists that it is given."""
    nf = network_functions()[one.nf]
    given = [option for option in nf.options if option.name in one.options]
    return sum(_entries(nf, option, one.options[option.name]) for option in given)


def _entries(nf: Nf, option: NfOption, value: Scalar) -> int:
    """Entries of a list that stands in the option or in the file that it names. In a file commas part them
    where it is in place of an option with the list: services_file of services; else lines alone do."""
    text = str(value)
    if option.type == "file":
        text = Path(text).read_text(encoding="utf-8", errors="replace")
        beside = nf.option(option.name.removesuffix("_file"))
        if beside is None or beside.type != "text":
            text = text.replace(",", " ")
    return sum(1 for one in entries(text) if one) if option.type in ("text", "file") else 0


@dataclass(frozen=True)
class _Path:
    """From queues to queues."""

    entries: tuple[str, ...]
    outputs: tuple[str, ...]
    stages: tuple[StageUse, ...] = ()


def _paths(config: AreaConfig | SwitchArea, stages: Mapping[str, StageUse]) -> Iterator[_Path]:
    """`stages`: of the area's node, by name."""
    if isinstance(config, TesterArea):
        port = (config.port,)
        yield _Path((), port) if config.kind == "generator" else _Path(port, ())
    elif isinstance(config, SwitchArea):
        yield from (_Path((entry,), (output,)) for entry, output in config.paths)
    elif isinstance(config, ChainArea):
        for found in config.paths:
            used = (_directed(stages[one.name or one.nf], found.direction) for one in found.stages)
            yield _Path(found.inputs, found.outputs, tuple(used))
    else:
        yield from (_Path(one.inputs, one.outputs) for one in config.paths)


class _Area:
    def __init__(
        self,
        config: AreaConfig | SwitchArea,
        sent_to: Mapping[tuple[int, str], str],
        queues: Mapping[str, _Queue],
        stages: Mapping[str, StageUse],
        *,
        sent: float,
        flows: int,
    ) -> None:
        self.name, self.core, self.kind = config.name, config.core, config.kind
        self._fastpath_flows = (config.fastpath_flows or 0) if isinstance(config, ChainArea) else 0
        self._hop = config.hop if isinstance(config, SwitchArea) else ""
        self._queues = queues
        self._sent = sent
        node = f"{self.name.partition('.')[0]}."
        own = {name.removeprefix(node): one for name, one in stages.items() if name.startswith(node)}
        self._paths = []
        for path in _paths(config, own):
            outputs = path.outputs
            if not isinstance(config, SwitchArea):
                outputs = tuple(sent_to.get((self.core, output), output) for output in outputs)
            self._paths.append(replace(path, outputs=_met(outputs, flows)))
        self._changes = tuple(own.values()) if self.kind == "rewrite_worker" else None
        self._given = [0.0] * len(self._paths)

    def claim(self) -> None:
        """Says where its queues are emptied."""
        for index, path in enumerate(self._paths):
            for entry in path.entries:
                self._queues[entry].taken_on = self.core
                self._queues[entry].taken_by = self.name, index

    def pass_on(self) -> bool:
        """Gives on what came in since it was last asked; whether there was something."""
        moved = False
        for index, path in enumerate(self._paths):
            share, outputs = self._share(path.entries), path.outputs
            new = share - self._given[index]
            if new <= 0:
                continue
            moved = True
            self._given[index] = share
            touched = self._touched(path)
            for output in outputs:
                self._queues[output].put_by[self.core] += new / len(outputs)
                self._queues[output].fill = self._fill(path.entries) / len(outputs)
                for core, part in touched.items():
                    self._queues[output].touched_by[core] += part * new / len(outputs)
        return moved

    def _touched(self, path: _Path) -> dict[int, float]:
        """Shares by core of who touched the bytes of what it gives on. A state core only reads them: who
        writes there after it has to get them from where they were."""
        looks = self.kind in ("generator", "rewrite_worker", *SWITCH_KINDS)
        looks = looks or (bool(path.stages) and self.kind != "state_core")
        if looks or (self.kind == "dispatcher" and len(path.outputs) > 1):
            return {self.core: 1.0}
        before = _sum(self._queues[entry].touched_by for entry in path.entries)
        return {core: part / sum(before.values()) for core, part in before.items()}

    def _share(self, entries: Sequence[str]) -> float:
        if self.kind == "generator":
            return self._sent
        return sum(self._queues[entry].share for entry in entries)

    def _fill(self, entries: Sequence[str]) -> float:
        """Of its polls. A full ring gives full bursts, and on another core's it may be; a collector goes on
        until it has one; and a port has packets of all who give to it."""
        came = [self._queues[entry] for entry in entries]
        if self.kind == "collector" or any(queue.kind != "ring" for queue in came):
            return 1.0
        if any(set(queue.put_by) - {self.core} for queue in came):
            return 1.0
        return min((queue.fill for queue in came), default=1.0)

    def described(self, flows: int) -> Area:
        """The area with what passes through it, of so many flows."""
        mine = flows * sum(self._share(path.entries) for path in self._paths)
        # Flows come in turn: one that is forgotten is asked for again as the one that will be forgotten next.
        known = float(0 < self._fastpath_flows >= mine)
        if self.kind == "pmd" and mine:
            # It keeps one new flow in a hundred, so that who is there stays, however many others come.
            known = min(1.0, EXACT_MATCHES / mine)
        return Area(self.name, self.core, self.kind, tuple(self._path(path, known) for path in self._paths))

    def _path(self, path: _Path, remembered: float) -> AreaPath:
        rewriting = tuple(dict.fromkeys(_rewriting(self._changes or path.stages)))
        came = [self._queues[entry] for entry in path.entries]
        left = [self._queues[output] for output in path.outputs]
        share = self._share(path.entries)
        return AreaPath(
            share=share,
            entry=came[0].kind if came else "nothing",
            crossing=_elsewhere(_sum(queue.put_by for queue in came), self.core),
            cold=_elsewhere(_sum(queue.touched_by for queue in came if not _copied(queue)), self.core),
            leaving=left[0].kind if left else "nothing",
            parting=sum(queue.taken_on not in (None, self.core) for queue in left) / len(left)
            if left
            else 0.0,
            outputs=len(left),
            inputs=len(came),
            stages=path.stages,
            fill=self._fill(path.entries),
            remembered=remembered,
            remembers=self._fastpath_flows > 0,
            remembers_most=self._fastpath_flows,
            takers=tuple(queue.taken_by for queue in left if queue.taken_by is not None),
            places=sum(queue.places for queue in came),
            rewriting=rewriting if self.kind == "rewrite_worker" or self._fastpath_flows else (),
            hop=self._hop,
        )


def _directed(stage: StageUse, direction: Literal["outbound", "inbound"]) -> StageUse:
    """The stage on a path with a direction."""
    if direction == "outbound":
        return stage
    state_bytes = 0 if network_functions()[stage.nf].outbound_flows_only else stage.state_bytes
    return replace(stage, inbound=True, state_bytes=state_bytes)


def _rewriting(stages: Iterable[StageUse]) -> Iterator[str]:
    for stage in stages:
        nf = network_functions()[stage.nf]
        if nf.rewrites and not (stage.inbound and nf.outbound_flows_only):
            yield stage.nf


def _copied(queue: _Queue) -> bool:
    """Whether taking from it copies the packet, so that its bytes are then this core's."""
    return queue.kind in KERNEL_PORT_KINDS


def _sum(amounts: Iterable[Mapping[int, float]]) -> dict[int, float]:
    total: dict[int, float] = {}
    for one in amounts:
        for core, part in one.items():
            total[core] = total.get(core, 0.0) + part
    return total


def _met(outputs: tuple[str, ...], flows: int) -> tuple[str, ...]:
    """Of these, to which whole flows are assigned, as many as so few flows are likely to meet."""
    if not outputs:
        return outputs
    likely = len(outputs) * (1 - (1 - 1 / len(outputs)) ** flows)
    return outputs[: max(1, round(likely))]


def _follow(areas: list[_Area]) -> None:
    """Lets packets through until nothing moves: chains have no way back to an earlier queue."""
    moving = list(areas)
    while moving:
        moving = [area for area in areas if area.pass_on()]
