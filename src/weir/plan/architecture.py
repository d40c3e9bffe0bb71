# SPDX-License-Identifier: Apache-2.0
"""The areas and rings of one function of a chain, in each execution architecture.

Every ring has one area that fills it and one that empties it, and every port one area that receives from it
and one that sends to it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from weir.base.node import Node, NodeNf
from weir.base.topology import Topology
from weir.lab.lab import Lab
from weir.lab.nf import Scalar, network_functions
from weir.lab.router import INSIDE
from weir.plan.topology import station, swaps
from weir.protocol.configuration import (
    AreaConfig,
    ChainArea,
    DispatcherArea,
    DispatchPath,
    FunctionArea,
    HopArea,
    HopPath,
    OffloadConfig,
    Options,
    PathConfig,
    RingConfig,
    StageConfig,
    Steer,
)

RING_PACKETS = 512


@dataclass
class FunctionAreas:
    """The part of the configuration that is one function."""

    areas: list[FunctionArea] = field(default_factory=list)
    rings: list[RingConfig] = field(default_factory=list)

    def ring(self, name: str) -> str:
        """A new ring."""
        self.rings.append(RingConfig(name=name, size=RING_PACKETS))
        return name


@dataclass(frozen=True)
class _Direction:
    """One direction through the function."""

    name: str  # of the side towards which it goes
    kind: Literal["outbound", "inbound"]
    entry: str  # port or ring
    exits: tuple[str, ...]
    order: tuple[int, ...]  # of the functions that it passes

    def through(self, entry: str, *exits: str) -> _Direction:
        """The same direction between other places."""
        return _Direction(self.name, self.kind, entry, exits, self.order)


def function_areas(topology: Topology, node: Node) -> FunctionAreas:
    """The areas and rings of `node`, in the order in which packets from the left meet them."""
    left, right = f"{node.name}.left", f"{node.name}.right"
    exits = [(right, left), (right, left)] if node.both_ways else [(right,), (left,)]
    directions = (
        _Direction("right", "outbound", left, exits[0], tuple(range(len(node.chain)))),
        _Direction("left", "inbound", right, exits[1], node.inbound),
    )
    builder = _Builder(topology, node)
    {
        "run-to-completion": builder.run_to_completion,
        "pipeline": builder.pipeline,
        "dispatch": builder.dispatch,
        "separated": builder.separated,
    }[node.architecture](directions)
    return builder.made


def ring_count(node: Node) -> int:
    """How many rings `function_areas` makes."""
    per_way = {
        "run-to-completion": 0,
        "pipeline": len(node.chain) - 1,
        "dispatch": 2 * node.workers,
        "separated": node.state_cores * (1 + 2 * node.workers),
    }
    return 2 * per_way[node.architecture]


class _Builder:
    def __init__(self, topology: Topology, node: Node) -> None:
        self.node = node
        self.made = FunctionAreas()
        self._topology = topology
        # Both ends of a path are on the first core, what may be several on the others.
        self._others = node.cores[1:] or node.cores

    def run_to_completion(self, directions: tuple[_Direction, _Direction]) -> None:
        """One area."""
        self._chain(self.node.name, self.node.cores[0], directions)

    def pipeline(self, directions: tuple[_Direction, _Direction]) -> None:
        """One area a function, rings between them."""
        node, count = self.node, len(self.node.chain)
        legs: list[list[_Direction]] = [[] for _ in range(count)]
        for direction in directions:
            entry = direction.entry
            for index, following in zip(direction.order, [*direction.order[1:], None], strict=True):
                if following is None:
                    legs[index].append(direction.through(entry, *direction.exits))
                    continue
                ring = self.made.ring(f"{node.name}.{direction.name}.{max(index, following)}")
                legs[index].append(direction.through(entry, ring))
                entry = ring
        for index, name in enumerate(stage_names(one.nf for one in node.chain)):
            core = node.cores[index * len(node.cores) // count]
            self._chain(f"{node.name}.{name}", core, tuple(legs[index]), only=index)

    def dispatch(self, directions: tuple[_Direction, _Direction]) -> None:
        """A dispatcher, workers with private state, and for each port an area that takes from the workers."""
        name, workers = self.node.name, range(self.node.workers)
        fed = [
            [self.made.ring(f"{name}.{direction.name}.{index}") for index in workers]
            for direction in directions
        ]
        # A worker's ring to a port takes what it sends there, wherever that came from.
        done = {
            f"{name}.{direction.name}": [
                self.made.ring(f"{name}.{direction.name}.{index}.done") for index in workers
            ]
            for direction in directions
        }
        self._dispatcher(directions, fed, f"{name}.worker0")
        for index in workers:
            done_by = {port: rings[index] for port, rings in done.items()}
            pair = tuple(
                direction.through(fed[at][index], *(done_by[port] for port in direction.exits))
                for at, direction in enumerate(directions)
            )
            self._chain(f"{name}.worker{index}", self._other(index), pair, instance=(index, len(workers)))
        for direction, (port, rings) in zip(directions, done.items(), strict=True):
            paths = [
                PathConfig(name=f"worker{index}", in_=ring, out=port) for index, ring in enumerate(rings)
            ]
            self._run(f"{name}.collector.{direction.name}", self.node.cores[0], paths)

    def separated(self, directions: tuple[_Direction, _Direction]) -> None:
        """A dispatcher, state cores that decide, rewrite workers without state, and a collector."""
        name, state_cores, workers = self.node.name, range(self.node.state_cores), range(self.node.workers)
        fed = [
            [self.made.ring(f"{name}.{direction.name}.{index}") for index in state_cores]
            for direction in directions
        ]
        self._dispatcher(directions, fed, f"{name}.state_core0")
        applied: list[list[HopPath]] = [[] for _ in workers]
        collected = []
        for state_core in state_cores:
            paths = []
            for at, direction in enumerate(directions):
                lane = f"{name}.{direction.name}.{state_core}"
                turns = [self.made.ring(f"{lane}.{index}") for index in workers]
                done = [self.made.ring(f"{lane}.{index}.done") for index in workers]
                for index in workers:
                    applied[index].append(
                        HopPath(name=f"{direction.name}{state_core}", in_=turns[index], out=done[index])
                    )
                collected.append(
                    HopPath(name=f"{direction.name}{state_core}", in_=tuple(done), out=_out(direction.exits))
                )
                stages = self._stages(direction, instance=(state_core, len(state_cores)))
                paths.append(_path(direction, fed[at][state_core], stages, tuple(turns)))
            self._run(
                f"{name}.state_core{state_core}",
                self._other(state_core),
                paths,
                kind="state_core",
                fastpath=True,
            )
        for index in workers:
            core = self._other(len(state_cores) + index)
            self._hop(f"{name}.rewrite_worker{index}", core, "rewrite_worker", applied[index])
        self._hop(f"{name}.collector", self.node.cores[0], "collector", collected)

    def _other(self, index: int) -> int:
        return self._others[index % len(self._others)]

    def _run(
        self,
        name: str,
        core: int,
        paths: list[PathConfig],
        *,
        kind: Literal["chain", "state_core"] = "chain",
        fastpath: bool = False,
    ) -> None:
        area = ChainArea(name=name, core=core, kind=kind, paths=tuple(paths))
        if fastpath and self.node.fastpath_flows:
            offload = self.node.offload
            below = OffloadConfig(**offload.model_dump()) if offload is not None else None
            area = area.model_copy(update={"fastpath_flows": self.node.fastpath_flows, "offload": below})
        self.made.areas.append(area)

    def _hop(
        self, name: str, core: int, kind: Literal["rewrite_worker", "collector"], paths: list[HopPath]
    ) -> None:
        self.made.areas.append(HopArea(name=name, core=core, kind=kind, paths=tuple(paths)))

    def _dispatcher(
        self, directions: tuple[_Direction, _Direction], fed: list[list[str]], first: str
    ) -> None:
        known = network_functions()
        names = zip(stage_names(one.nf for one in self.node.chain), self.node.chain, strict=True)
        steering = next((stage for stage, one in names if known[one.nf].steers), None)
        self.made.areas.append(
            DispatcherArea(
                name=f"{self.node.name}.dispatcher",
                core=self.node.cores[0],
                kind="dispatcher",
                paths=tuple(
                    DispatchPath(
                        name=direction.name, direction=direction.kind, in_=direction.entry, out=tuple(rings)
                    )
                    for direction, rings in zip(directions, fed, strict=True)
                ),
                steer=Steer(area=first, stage=steering) if steering else None,
            )
        )

    def _chain(
        self,
        name: str,
        core: int,
        directions: tuple[_Direction, ...],
        *,
        only: int | None = None,
        instance: tuple[int, int] = (0, 1),
    ) -> None:
        paths = [
            _path(
                direction,
                direction.entry,
                self._stages(direction, only=only, instance=instance),
                _out(direction.exits),
            )
            for direction in directions
        ]
        self._run(name, core, paths, fastpath=True)

    def _stages(
        self, direction: _Direction, *, only: int | None = None, instance: tuple[int, int] = (0, 1)
    ) -> tuple[StageConfig, ...]:
        """The functions in the order of that direction. One that has one state is the same on both, by its
        name."""
        names = list(stage_names(one.nf for one in self.node.chain))
        return tuple(
            self._stage(direction, names[index], self.node.chain[index], instance)
            for index in direction.order
            if only in (None, index)
        )

    def _stage(self, direction: _Direction, name: str, one: NodeNf, instance: tuple[int, int]) -> StageConfig:
        if not network_functions()[one.nf].shares_state:
            return StageConfig(nf=one.nf, options=self._options(one, {"": direction.name}))
        if direction.kind == "inbound":
            return StageConfig(nf=one.nf, name=name)
        options = self._options(one, {"": "right", "inbound_": "left"})
        if instance[1] == 1:
            return StageConfig(nf=one.nf, name=name, options=options)
        return StageConfig(nf=one.nf, name=name, options=options, worker=instance[0], workers=instance[1])

    def _options(self, one: NodeNf, sides: dict[str, str]) -> Options:
        """The user's options, and the addresses of the next hops where the function rewrites them."""
        nf = network_functions()[one.nf]
        options = native_options(one.options, both_ways=one.nf if self.node.both_ways else None)
        if swaps(one):
            return options
        for prefix, side in sides.items():
            out = self._topology.port(f"{self.node.name}.{side}")
            for key, mac in (("src_mac", out.mac), ("dst_mac", station(self._topology, out).mac)):
                if nf.option(prefix + key) is not None:
                    options.setdefault(prefix + key, mac)
        return options


def native_options(options: Mapping[str, Scalar], *, both_ways: str | None = None) -> Options:
    """As weir-dp takes them: no option is a fraction, and the lab's check refuses one. `both_ways`: a
    function whose paths have outputs to both sides; it is told which one leads inside."""
    told = both_ways is not None and network_functions()[both_ways].option("inside_output") is not None
    own = {name: value for name, value in options.items() if not isinstance(value, float)}
    return {"inside_output": INSIDE, **own} if told else own


def _path(
    direction: _Direction, entry: str, stages: tuple[StageConfig, ...], out: str | tuple[str, ...]
) -> PathConfig:
    return PathConfig(name=direction.name, direction=direction.kind, in_=entry, stages=stages, out=out)


def _out(exits: tuple[str, ...]) -> str | tuple[str, ...]:
    return exits[0] if len(exits) == 1 else exits


def lab_keys(topology: Topology, lab: Lab, areas: Sequence[AreaConfig]) -> dict[str, str]:
    """What a user has written, by the place of each stage, and of an offload, in weir-dp's configuration:
    "functions.edge.chain[1]" for "areas[2].paths[0].stages[1]"."""
    nodes = {node.name: node for node in topology.functions()}
    found = {}
    for index, area in enumerate(areas):
        name = area.name.partition(".")[0]
        if not isinstance(area, ChainArea) or name not in nodes:
            continue
        key = nodes[name].function
        if key not in lab.functions:
            continue  # nothing of a chain of no lab is written anywhere
        names = list(stage_names(one.nf for one in nodes[name].chain))
        of = lab.functions[key]
        found[f"areas[{index}].offload"] = f"functions.{key}.offload"
        for at, path in enumerate(area.paths):
            for number, stage in enumerate(path.stages):
                place = f"areas[{index}].paths[{at}].stages[{number}]"
                found[place] = of.written(names.index(stage.name or stage.nf), key)
    return found


def area_of(node: str, stage: str, areas: Sequence[AreaConfig]) -> str:
    """Where the stage of a node is: a dispatcher stands for all its workers."""
    own = [one for one in areas if one.name.partition(".")[0] == node]
    dispatcher = next((one.name for one in own if isinstance(one, DispatcherArea)), None)
    return dispatcher or next(
        one.name
        for one in own
        if isinstance(one, ChainArea)
        and any(stage in (at.name, at.nf) for path in one.paths for at in path.stages)
    )


def stage_names(nfs: Iterable[str]) -> Iterator[str]:
    """As the functions of one chain are called; a second one of its kind has its number."""
    counts: dict[str, int] = {}
    for nf in nfs:
        counts[nf] = counts.get(nf, 0) + 1
        yield nf if counts[nf] == 1 else f"{nf}{counts[nf]}"
