# SPDX-License-Identifier: Apache-2.0
"""The way of an IPv4 packet: where each namespace routes it, the kernel says; between them it is followed
through what joins interfaces."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from weir.fabric.host_graph.asking import Asked, Route
from weir.fabric.host_graph.ends import End, end
from weir.fabric.host_graph.segment import Segments, Step, steps_to
from weir.results.host_graph import Hop, HostGraph, Interface, Namespace, SwitchBridge, Way

ROUTERS = 64
"""More, and it goes in a circle."""


def way(graph: HostGraph, asked: Asked, source: str, destination: str) -> Way:
    """UnknownEndError if an end is not clear."""
    return _Follower(
        graph,
        asked,
        end(graph, source, may_be_elsewhere=False),
        end(graph, destination, may_be_elsewhere=True),
    ).followed()


@dataclass
class _Follower:
    graph: HostGraph
    asked: Asked
    source: End
    destination: End
    hops: list[Hop] = field(default_factory=list)
    doubts: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.segments = Segments(self.graph)

    def followed(self) -> Way:
        stopped = self._follow()
        return Way(
            source=str(self.source),
            destination=str(self.destination),
            hops=self.hops,
            arrives=stopped is None,
            stopped=stopped,
            doubts=list(dict.fromkeys(self.doubts)),
        )

    def _follow(self) -> str | None:
        """None if it arrives; else why it does not."""
        here, came_by = self.source.namespace, None
        assert here is not None
        for _ in range(ROUTERS):
            if self._has(here, self.destination.address):
                return self._arrived(here)
            if came_by is not None:
                if here.forwards is False:
                    return f"{here.name} does not route IPv4"
                self.doubts.append(f"filters and address translation of {here.name} are not read")
            route = self.asked.route(here.id, self.destination.address, self.source.address, came_by)
            if isinstance(route, str):
                return f"{here.name} does not send it to {self.destination.address}: {route}"
            out = next((one for one in here.interfaces if one.name == route.interface), None)
            if out is None:
                return f"{here.name} sends it by {route.interface or 'an interface'} that was not seen"
            taken = self._passed(here, out, route)
            if isinstance(taken, str):
                return taken
            here, came_by = self.segments.home[taken.id], taken.name
        return f"it passes {ROUTERS} routers and goes on: a circle"

    def _arrived(self, here: Namespace) -> str | None:
        if self.destination.namespace is not None and here is not self.destination.namespace:
            return f"{here.name} has {self.destination.address} too, and takes it"
        return None

    def _has(self, space: Namespace, address: str) -> bool:
        return any(_holds(one, address) for one in space.interfaces)

    def _passed(self, here: Namespace, out: Interface, route: Route) -> Interface | str:
        """The interface that takes it; a string says why none does, or which cannot be told."""
        target = route.gateway or self.destination.address
        towards = f"via {target}" if route.gateway else "directly"
        self.hops.append(Hop(at=out.id, name=out.name, namespace=here.name, does=f"sent, {towards}: route"))
        if not out.up:
            return f"{out.name} in {here.name} is down"
        found = self.segments.walk(out.id)
        takers = [step for step in found if step.way == "in" and _holds(self._at(step), target)]
        ends = {step.at: step for step in reversed(takers)}
        if not ends:
            return self._nobody(list(found), target)
        if len(ends) > 1:
            places = ", ".join(f"{self._at(one).name} in {self._home(one)}" for one in ends.values())
            return (
                f"{target} is at {len(ends)} places that it can come to, which cannot be told apart: {places}"
            )
        (taker,) = ends.values()
        steps = steps_to(found, taker)
        self.hops += self._told(steps, self._at(taker).mac)
        return self._at(taker)

    def _nobody(self, found: list[Step], target: str) -> str:
        leaving = self.segments.leaves(found)
        if leaving:
            for one in leaving[:1]:
                home = self.segments.home[one.id]
                if one.id != self.hops[-1].at:
                    self.hops.append(Hop(at=one.id, name=one.name, namespace=home.name, does="leaves"))
            names = ", ".join(
                f"{one.name} in {self.segments.home[one.id].name}"
                + (f" ({one.holder})" if one.holder else "")
                for one in leaving
            )
            return f"it leaves what can be seen here, by {names}"
        return (
            f"no interface that it can come to has {target}; a program that takes packets from an interface"
            " itself, as weir-dp does, may pass them on"
        )

    def _told(self, steps: list[Step], mac: str | None) -> Iterator[Hop]:
        """A hop for each thing after the first, which has sent it."""
        for before, step, after in zip(steps, steps[1:], [*steps[2:], None], strict=False):
            bridge = self.segments.bridges.get(step.at)
            if bridge is not None:
                yield from self._switched(bridge, before, step)
            elif step.way == "switch":
                yield Hop(
                    at=step.at,
                    name=self._at(step).name,
                    namespace=self._home(step),
                    does=self._bridged(step, after, mac),
                )
            else:
                does = "goes out" if step.way == "out" else "comes in"
                if after is None:
                    does = "taken"
                yield Hop(at=step.at, name=self._at(step).name, namespace=self._home(step), does=does)

    def _switched(self, bridge: SwitchBridge, before: Step, step: Step) -> Iterator[Hop]:
        if before.way == "switch":  # through a patch or a tunnel: both of its ports
            there, name = self.segments.across(bridge.id, step.by)
            earlier = self.segments.bridges[there]
            if earlier.namespace != bridge.namespace:
                self.doubts.append("a tunnel is taken to keep VLANs as they are: OpenFlow rules decide it")
            yield self._port(earlier, name)
            yield self._port(bridge, step.by)
        tag = f", VLAN {step.tag}" if step.tag else ""
        place = self._place(bridge.namespace)
        yield Hop(at=bridge.id, name=bridge.name, namespace=place, does=f"switched{tag}")
        self.doubts.append(f"OpenFlow rules of {bridge.name} in {place} are not read: it is taken to learn")

    def _port(self, bridge: SwitchBridge, name: str) -> Hop:
        kind = next(one.type for one in bridge.ports if one.name == name)
        return Hop(at=f"{bridge.id}:{name}", name=name, namespace=self._place(bridge.namespace), does=kind)

    def _bridged(self, step: Step, after: Step | None, mac: str | None) -> str:
        bridge, space = self._at(step), self.segments.home[step.at]
        if bridge.details.get("vlan_filtering"):
            self.doubts.append(f"VLANs of the bridge {bridge.name} are not read")
        if after is None or after.at == step.at or mac is None:
            return "bridged"
        port, learned = self._at(after).name, self.asked.learned(space.id, bridge.name, mac)
        if learned is None:
            return f"flooded: {mac} is not learned"
        if learned != port:
            self.doubts.append(
                f"{bridge.name} in {space.name} has learned {mac} behind {learned}, not {port}"
            )
        return f"bridged to {learned}: learned"

    def _at(self, step: Step) -> Interface:
        return self.segments.interfaces[step.at]

    def _home(self, step: Step) -> str:
        return self.segments.home[step.at].name

    def _place(self, namespace: str | None) -> str:
        return next((one.name for one in self.graph.namespaces if one.id == namespace), "?")


def _holds(one: Interface, address: str) -> bool:
    return any(each.partition("/")[0] == address for each in one.addresses)
