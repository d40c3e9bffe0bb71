# SPDX-License-Identifier: Apache-2.0
"""The areas and rings of one function of a chain, in each execution architecture.

Every ring has one area that fills it and one that empties it, and every port one area that receives from it
and one that sends to it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from weir.base.topology import Node, NodeNf, Port, Topology
from weir.lab.nf import Scalar, network_functions

RING_PACKETS = 512
_SWAP = "mac-swap"


@dataclass
class FunctionAreas:
    """What `configure` is told of one function."""

    areas: list[dict[str, Any]] = field(default_factory=list)
    rings: list[str] = field(default_factory=list)

    def ring(self, name: str) -> str:
        """A new ring."""
        self.rings.append(name)
        return name


@dataclass(frozen=True)
class _Way:
    """One direction through the function."""

    name: str  # of the side towards which it goes
    direction: str
    entry: str  # port or ring
    exits: tuple[str, ...]
    order: tuple[int, ...]  # of the functions that it passes

    def through(self, entry: str, *exits: str) -> _Way:
        """The same way between other places."""
        return _Way(self.name, self.direction, entry, exits, self.order)


def function_areas(topology: Topology, node: Node) -> FunctionAreas:
    """The areas and rings of `node`, in the order in which packets from the left meet them."""
    left, right = f"{node.name}.left", f"{node.name}.right"
    exits = [(right, left), (right, left)] if node.both_ways else [(right,), (left,)]
    ways = (
        _Way("right", "outbound", left, exits[0], tuple(range(len(node.chain)))),
        _Way("left", "inbound", right, exits[1], node.inbound),
    )
    builder = _Builder(topology, node)
    {
        "run-to-completion": builder.run_to_completion,
        "pipeline": builder.pipeline,
        "dispatch": builder.dispatch,
        "separated": builder.separated,
    }[node.architecture](ways)
    return builder.made


def ring_count(node: Node) -> int:
    """How many rings `function_areas` makes."""
    per_way = {
        "run-to-completion": 0,
        "pipeline": len(node.chain) - 1,
        "dispatch": 2 * node.workers,
        "separated": node.owners * (1 + 2 * node.workers),
    }
    return 2 * per_way[node.architecture]


def next_hop(topology: Topology, port: Port) -> Port:
    """The port at the other end of `port`'s link."""
    link = topology.links[port.link]
    return topology.port(link.right if port.name == link.left else link.left)


class _Builder:
    def __init__(self, topology: Topology, node: Node) -> None:
        self.node = node
        self.made = FunctionAreas()
        self._topology = topology
        # The ends of the way in on the first core, what may be several on the others.
        self._others = node.cores[1:] or node.cores

    def run_to_completion(self, ways: tuple[_Way, _Way]) -> None:
        """One area."""
        self._chain(self.node.name, self.node.cores[0], ways)

    def pipeline(self, ways: tuple[_Way, _Way]) -> None:
        """One area a function, rings between them."""
        node, count = self.node, len(self.node.chain)
        legs: list[list[_Way]] = [[] for _ in range(count)]
        for way in ways:
            entry = way.entry
            for index, following in zip(way.order, [*way.order[1:], None], strict=True):
                if following is None:
                    legs[index].append(way.through(entry, *way.exits))
                    continue
                ring = self.made.ring(f"{node.name}.{way.name}.{max(index, following)}")
                legs[index].append(way.through(entry, ring))
                entry = ring
        for index, name in enumerate(_stage_names(node)):
            core = node.cores[index * len(node.cores) // count]
            self._chain(f"{node.name}.{name}", core, tuple(legs[index]), only=index)

    def dispatch(self, ways: tuple[_Way, _Way]) -> None:
        """A dispatcher, workers with private state, and for each port an area that takes from the workers."""
        name, workers = self.node.name, range(self.node.workers)
        fed = [[self.made.ring(f"{name}.{way.name}.{index}") for index in workers] for way in ways]
        # A worker's ring to a port takes what it sends there, wherever that came from.
        done = {
            f"{name}.{way.name}": [self.made.ring(f"{name}.{way.name}.{index}.done") for index in workers]
            for way in ways
        }
        self._dispatcher(ways, fed, f"{name}.worker0")
        for index in workers:
            done_by = {port: rings[index] for port, rings in done.items()}
            pair = tuple(
                way.through(fed[at][index], *(done_by[port] for port in way.exits))
                for at, way in enumerate(ways)
            )
            self._chain(f"{name}.worker{index}", self._other(index), pair, instance=(index, len(workers)))
        for way, (port, rings) in zip(ways, done.items(), strict=True):
            paths = [{"name": f"worker{index}", "in": ring, "out": port} for index, ring in enumerate(rings)]
            self._add(f"{name}.collector.{way.name}", self.node.cores[0], "chain", paths)

    def separated(self, ways: tuple[_Way, _Way]) -> None:
        """A dispatcher, owners of the state that decide, appliers without state, and a collector."""
        name, owners, workers = self.node.name, range(self.node.owners), range(self.node.workers)
        fed = [[self.made.ring(f"{name}.{way.name}.{index}") for index in owners] for way in ways]
        self._dispatcher(ways, fed, f"{name}.owner0")
        applied: list[list[dict[str, Any]]] = [[] for _ in workers]
        collected = []
        for owner in owners:
            paths = []
            for at, way in enumerate(ways):
                lane = f"{name}.{way.name}.{owner}"
                dealt = [self.made.ring(f"{lane}.{index}") for index in workers]
                done = [self.made.ring(f"{lane}.{index}.done") for index in workers]
                for index in workers:
                    path = {"name": f"{way.name}{owner}", "in": dealt[index], "out": done[index]}
                    applied[index].append(path)
                collected.append({"name": f"{way.name}{owner}", "in": done, "out": _out(way.exits)})
                stages = self._stages(way, instance=(owner, len(owners)))
                paths.append(_path(way, fed[at][owner], stages, dealt))
            self._add(f"{name}.owner{owner}", self._other(owner), "owner", paths, **self._fastpath())
        for index in workers:
            self._add(f"{name}.applier{index}", self._other(len(owners) + index), "applier", applied[index])
        self._add(f"{name}.collector", self.node.cores[0], "collector", collected)

    def _other(self, index: int) -> int:
        return self._others[index % len(self._others)]

    def _fastpath(self) -> dict[str, int]:
        return {"fastpath_flows": self.node.fastpath_flows} if self.node.fastpath_flows else {}

    def _add(self, name: str, core: int, kind: str, paths: list[dict[str, Any]], **more: Any) -> None:
        self.made.areas.append({"name": name, "core": core, "kind": kind, "paths": paths, **more})

    def _dispatcher(self, ways: tuple[_Way, _Way], fed: list[list[str]], first: str) -> None:
        paths = [
            {"name": way.name, "direction": way.direction, "in": way.entry, "out": rings}
            for way, rings in zip(ways, fed, strict=True)
        ]
        known = network_functions()
        steering = [
            stage
            for stage, one in zip(_stage_names(self.node), self.node.chain, strict=True)
            if known[one.nf].steers
        ]
        steer = {"steer": {"area": first, "stage": steering[0]}} if steering else {}
        self._add(f"{self.node.name}.dispatcher", self.node.cores[0], "dispatcher", paths, **steer)

    def _chain(
        self,
        name: str,
        core: int,
        ways: tuple[_Way, ...],
        *,
        only: int | None = None,
        instance: tuple[int, int] = (0, 1),
    ) -> None:
        paths = [
            _path(way, way.entry, self._stages(way, only=only, instance=instance), _out(way.exits))
            for way in ways
        ]
        self._add(name, core, "chain", paths, **self._fastpath())

    def _stages(
        self, way: _Way, *, only: int | None = None, instance: tuple[int, int] = (0, 1)
    ) -> list[dict[str, Any]]:
        """The functions in the order of that way. One that decides is the same, by its name, on both."""
        names = list(_stage_names(self.node))
        return [
            self._stage(way, names[index], self.node.chain[index], instance)
            for index in way.order
            if only in (None, index)
        ]

    def _stage(self, way: _Way, name: str, one: NodeNf, instance: tuple[int, int]) -> dict[str, Any]:
        if not network_functions()[one.nf].decides:
            return {"nf": one.nf, "options": self._options(one, {"": way.name})}
        stage: dict[str, Any] = {"nf": one.nf, "name": name}
        if way.direction == "outbound":
            stage["options"] = self._options(one, {"": "right", "inbound_": "left"})
            if instance[1] > 1:
                stage |= {"worker": instance[0], "workers": instance[1]}
        return stage

    def _options(self, one: NodeNf, sides: dict[str, str]) -> dict[str, Scalar]:
        """The user's options, and the addresses of the next hops where the function rewrites them."""
        nf = network_functions()[one.nf]
        options = dict(one.options)
        mode = nf.option("mode")
        if options.get("mode", mode.default if mode else None) == _SWAP:
            return options
        for prefix, side in sides.items():
            out = self._topology.port(f"{self.node.name}.{side}")
            for key, mac in (("src_mac", out.mac), ("dst_mac", next_hop(self._topology, out).mac)):
                if nf.option(prefix + key) is not None:
                    options.setdefault(prefix + key, mac)
        return options


def _path(way: _Way, entry: str, stages: list[dict[str, Any]], out: str | list[str]) -> dict[str, Any]:
    return {"name": way.name, "direction": way.direction, "in": entry, "stages": stages, "out": out}


def _out(exits: tuple[str, ...]) -> str | list[str]:
    return exits[0] if len(exits) == 1 else list(exits)


def _stage_names(node: Node) -> Iterator[str]:
    """As their functions are called; a second one of its kind has its number."""
    seen: dict[str, int] = {}
    for one in node.chain:
        seen[one.nf] = seen.get(one.nf, 0) + 1
        yield one.nf if seen[one.nf] == 1 else f"{one.nf}{seen[one.nf]}"
