# SPDX-License-Identifier: Apache-2.0
"""Where a frame can come to that leaves by an interface: through veth pairs, bridges, Open vSwitch and VLANs,
until interfaces take it. Pure."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from weir.results.host_graph import HostGraph, Interface, SwitchBridge, SwitchPort

_UPPER = frozenset({"macvlan", "macvtap", "ipvlan"})
_SWITCHES = frozenset({"bridge"})


@dataclass(frozen=True)
class Step:
    """Something that the frame is at, and how: it goes out of an interface, comes in, or is in a switch."""

    at: str
    way: str
    """ "out", "in", "switch"."""
    tag: str = ""
    """Its VLAN; empty: none."""
    by: str = ""
    """Of "switch": the port by which it came, where it does not go back."""


class Segments:
    """All that frames can pass on this host."""

    def __init__(self, graph: HostGraph) -> None:
        spaces = graph.namespaces
        self.interfaces = {one.id: one for space in spaces for one in space.interfaces}
        self.home = {one.id: space for space in spaces for one in space.interfaces}
        self.bridges = {one.id: one for one in graph.bridges}
        self._peer: dict[str, str] = {}
        self._master: dict[str, str] = {}
        self._members: dict[str, list[str]] = {}
        self._lower: dict[str, str] = {}
        self._upper: dict[str, list[str]] = {}
        self._switch: dict[str, tuple[SwitchBridge, SwitchPort]] = {
            port.interface: (bridge, port)
            for bridge in graph.bridges
            for port in bridge.ports
            if port.interface is not None
        }
        self._across: dict[tuple[str, str], tuple[str, str]] = {}
        for join in graph.joins:
            first, second = join.ends
            match join.kind:
                case "veth":
                    self._peer |= {first: second, second: first}
                case "member":
                    self._master[first] = second
                    self._members.setdefault(second, []).append(first)
                case "lower":
                    self._lower[first] = second
                    self._upper.setdefault(second, []).append(first)
                case "patch" | "tunnel" if join.ports is not None:
                    one, other = (first, join.ports[0]), (second, join.ports[1])
                    self._across |= {one: other, other: one}

    def walk(self, start: str) -> dict[Step, Step | None]:
        """Every step that a frame can come to that leaves by that interface, each with the one before it;
        the nearest first."""
        first = Step(start, "out")
        found: dict[Step, Step | None] = {first: None}
        waiting = deque([first])
        while waiting:
            step = waiting.popleft()
            for following in self._following(step):
                if following not in found and not self.down(following):
                    found[following] = step
                    waiting.append(following)
        return found

    def down(self, step: Step) -> bool:
        """Whether it is at an interface that passes nothing."""
        one = self.interfaces.get(step.at)
        return step.way != "switch" and one is not None and not one.up

    def _following(self, step: Step) -> Iterator[Step]:
        if step.way == "switch":
            bridge = self.bridges.get(step.at)
            yield from self._forwarded(step) if bridge is None else self._switched(bridge, step)
        elif step.way == "out":
            yield from self._sent(self.interfaces[step.at], step)
        else:
            yield from self._taken(self.interfaces[step.at], step)

    def _sent(self, one: Interface, step: Step) -> Iterator[Step]:
        if one.id in self._peer:
            yield Step(self._peer[one.id], "in", step.tag)
        elif one.kind in _SWITCHES:
            yield Step(one.id, "switch", step.tag, one.id)
        elif one.kind == "vlan" and one.id in self._lower and not step.tag:
            yield Step(self._lower[one.id], "out", one.details.get("id", ""))
        elif one.kind in _UPPER and one.id in self._lower:
            yield Step(self._lower[one.id], "out", step.tag)
            for beside in self._upper[self._lower[one.id]]:
                if beside != one.id and self.interfaces[beside].kind in _UPPER:
                    yield Step(beside, "in", step.tag)
        elif one.id in self._switch:  # internal: what its namespace sends comes into the switch
            yield from self._into_switch(one.id, step)

    def _taken(self, one: Interface, step: Step) -> Iterator[Step]:
        if one.id in self._switch:  # of a system datapath: its master is only that datapath
            if self._switch[one.id][1].type == "system":
                yield from self._into_switch(one.id, step)
        elif one.id in self._master:
            yield Step(self._master[one.id], "switch", step.tag, one.id)
        for upper in self._upper.get(one.id, ()):
            above = self.interfaces[upper]
            if above.kind == "vlan" and step.tag and above.details.get("id") == step.tag:
                yield Step(upper, "in")
            elif above.kind in _UPPER:
                yield Step(upper, "in", step.tag)

    def _forwarded(self, step: Step) -> Iterator[Step]:
        """By a bridge of the kernel, to itself and its members."""
        if step.by != step.at:
            yield Step(step.at, "in", step.tag)
        for member in self._members.get(step.at, ()):
            if member != step.by:
                yield Step(member, "out", step.tag)

    def _into_switch(self, interface: str, step: Step) -> Iterator[Step]:
        bridge, port = self._switch[interface]
        tag = _entering(port, step.tag)
        if tag is not None:
            yield Step(bridge.id, "switch", tag, port.name)

    def _switched(self, bridge: SwitchBridge, step: Step) -> Iterator[Step]:
        for port in bridge.ports:
            tag = _leaving(port, step.tag)
            if port.name == step.by or tag is None:
                continue
            if port.interface is not None:
                yield Step(port.interface, "in" if port.type == "internal" else "out", tag)
            elif (bridge.id, port.name) in self._across:
                there, name = self._across[bridge.id, port.name]
                back = next(one for one in self.bridges[there].ports if one.name == name)
                entered = _entering(back, tag)
                if entered is not None:
                    yield Step(there, "switch", entered, name)

    def across(self, bridge: str, port: str) -> tuple[str, str]:
        """The bridge and the port at the other end of a patch or a tunnel."""
        return self._across[bridge, port]

    def leaves(self, found: Sequence[Step]) -> list[Interface]:
        """By which it leaves what was read: cards, taps, tunnels of the kernel, veth ends without another."""
        return [
            one
            for step in found
            if step.way == "out" and (one := self.interfaces.get(step.at)) is not None and self._ends(one)
        ]

    def _ends(self, one: Interface) -> bool:
        inside = one.id in self._peer or one.id in self._lower or one.id in self._switch_internal()
        return not inside and one.kind not in _SWITCHES and one.kind != "loopback"

    def _switch_internal(self) -> set[str]:
        return {name for name, (_, port) in self._switch.items() if port.type == "internal"}


def _entering(port: SwitchPort, tag: str) -> str | None:
    """The VLAN in the switch of what comes in by a port; None: it is not taken."""
    if port.tag is None:
        return tag
    return str(port.tag) if not tag else None


def _leaving(port: SwitchPort, tag: str) -> str | None:
    """The tag of what goes out by it; None: it does not."""
    if port.tag is None:
        return tag
    return "" if tag == str(port.tag) else None


def steps_to(found: dict[Step, Step | None], last: Step) -> list[Step]:
    """From where it left to there."""
    way: list[Step] = []
    step: Step | None = last
    while step is not None:
        way.append(step)
        step = found[step]
    return way[::-1]
