# SPDX-License-Identifier: Apache-2.0
"""The graph of a host is what was built there: on topologies drawn at random, and on each kind of thing."""

from __future__ import annotations

import fcntl
import os
import secrets
import struct
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from weir.fabric import namespace as netns
from weir.fabric.host_graph import read
from weir.results.host_graph import HostGraph, Interface, Namespace

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="makes namespaces: run as root"),
]

EXAMPLES, MORE_EXAMPLES = 8, 200
End = tuple[int, str]  # number of a namespace, name of an interface
Joined = tuple[str, End, End]


@dataclass
class Wanted:
    """What is to be built. Interfaces are numbered through, so that names say nothing of what they join."""

    namespaces: int
    veths: list[tuple[End, End]] = field(default_factory=list)
    bridges: list[End] = field(default_factory=list)
    members: dict[End, End] = field(default_factory=dict)
    macvlans: dict[End, End] = field(default_factory=dict)

    def joins(self) -> set[Joined]:
        found: set[Joined] = {("veth", min(pair), max(pair)) for pair in self.veths}
        found |= {("member", end, bridge) for end, bridge in self.members.items()}
        return found | {("lower", end, below) for end, below in self.macvlans.items()}


@st.composite
def topologies(draw: st.DrawFn) -> Wanted:
    count = draw(st.integers(1, 4))
    place = st.integers(0, count - 1)
    wanted = Wanted(count)
    for number in range(draw(st.integers(0, 3))):
        wanted.bridges.append((draw(place), f"b{number}"))
    for number in range(draw(st.integers(0, 7))):
        wanted.veths.append(((draw(place), f"v{number}l"), (draw(place), f"v{number}r")))
    for end in [end for pair in wanted.veths for end in pair]:
        here = [bridge for bridge in wanted.bridges if bridge[0] == end[0]]
        use = draw(st.sampled_from(["none", "member", "macvlan"]))
        if use == "member" and here:
            wanted.members[end] = draw(st.sampled_from(here))
        elif use == "macvlan":
            wanted.macvlans[draw(place), f"m{len(wanted.macvlans)}"] = end
    return wanted


@contextmanager
def built(wanted: Wanted) -> Iterator[list[str]]:
    """The names of its namespaces."""
    token = secrets.token_hex(4)
    names = [f"weirgraph-{token}-{number}" for number in range(wanted.namespaces)]
    try:
        for name in names:
            subprocess.run(["ip", "netns", "add", name], check=True)
        for place, bridge in wanted.bridges:
            _ip(names[place], "link", "add", bridge, "type", "bridge")
        for (place, one), (there, other) in wanted.veths:
            peer = ["peer", "name", other, "netns", names[there]]
            _ip(names[place], "link", "add", one, "type", "veth", *peer)
        for end, master in wanted.members.items():
            _ip(names[end[0]], "link", "set", end[1], "master", master[1])
        for (place, name), below in wanted.macvlans.items():
            _ip(names[below[0]], "link", "add", "link", below[1], "name", name, "type", "macvlan")
            if place != below[0]:
                _ip(names[below[0]], "link", "set", name, "netns", names[place])
        yield names
    finally:
        for name in names:
            subprocess.run(["ip", "netns", "del", name], check=False, capture_output=True)


def _ip(netns: str, *words: str) -> None:
    subprocess.run(["ip", "-n", netns, *words], check=True, capture_output=True)


def seen(graph: HostGraph, names: list[str]) -> tuple[set[End], set[Joined]]:
    """Interfaces but the loopbacks, and joins, of these namespaces alone."""
    numbers = {name: number for number, name in enumerate(names)}
    ends = {
        one.id: (numbers[namespace.name], one.name)
        for namespace in graph.namespaces
        if namespace.name in numbers
        for one in namespace.interfaces
        if one.kind != "loopback"
    }
    joins: set[Joined] = set()
    for join in graph.joins:
        first, second = (ends.get(end) for end in join.ends)
        if first is None or second is None:
            assert first is second, f"{join} leads out of what was built"
            continue
        if join.kind == "veth":
            first, second = min(first, second), max(first, second)
        joins.add((join.kind, first, second))
    return set(ends.values()), joins


def check(wanted: Wanted) -> None:
    with built(wanted) as names:
        interfaces, joins = seen(read(), names)
    expected = {end for pair in wanted.veths for end in pair}
    assert interfaces == expected | set(wanted.bridges) | set(wanted.macvlans)
    assert joins == wanted.joins()


@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
@given(topologies())
def test_what_was_built_is_what_is_seen(wanted: Wanted) -> None:
    check(wanted)


@pytest.mark.slow
@settings(max_examples=MORE_EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
@given(topologies())
def test_what_was_built_is_what_is_seen_many_times(wanted: Wanted) -> None:
    check(wanted)


def test_pairs_with_the_same_numbers_in_many_namespaces_are_told_apart() -> None:
    wanted = Wanted(8)
    for number in range(0, 8, 2):
        wanted.veths.append(((number, "left"), (number + 1, "right")))
    check(wanted)


def _namespace(graph: HostGraph, name: str) -> Namespace:
    return next(one for one in graph.namespaces if one.name == name)


def _interface(namespace: Namespace, name: str) -> Interface:
    return next(one for one in namespace.interfaces if one.name == name)


def test_addresses_states_kinds_and_forwarding_are_told() -> None:
    with built(Wanted(2, veths=[((0, "left"), (1, "right"))])) as names:
        _ip(names[0], "address", "add", "192.0.2.1/24", "dev", "left")
        _ip(names[0], "link", "set", "left", "up", "mtu", "1400")
        _ip(
            names[0],
            "link",
            "add",
            "vx",
            "type",
            "vxlan",
            "id",
            "42",
            "remote",
            "192.0.2.2",
            "dstport",
            "4789",
        )
        subprocess.run(
            ["ip", "netns", "exec", names[1], "sysctl", "-qw", "net.ipv4.ip_forward=1"], check=True
        )
        graph = read()
    left, right = _namespace(graph, names[0]), _namespace(graph, names[1])
    one = _interface(left, "left")
    assert (one.kind, one.up, one.mtu_bytes) == ("veth", True, 1400)
    assert "192.0.2.1/24" in one.addresses
    assert not _interface(right, "right").up
    assert (left.forwards, right.forwards) == (False, True)
    tunnel = _interface(left, "vx")
    assert tunnel.kind == "vxlan"
    assert (tunnel.details["id"], tunnel.details["remote"]) == ("42", "192.0.2.2")


def test_a_namespace_without_a_name_is_called_by_its_process() -> None:
    own = Path("/proc/self/ns/net").stat().st_ino
    process = subprocess.Popen(["unshare", "--net", "sleep", "60"])
    try:
        deadline = time.monotonic() + 10
        while (there := Path(f"/proc/{process.pid}/ns/net").stat().st_ino) == own:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        namespace = next(one for one in read().namespaces if one.id == str(there))
    finally:
        process.kill()
        process.wait()
    assert namespace.name in (f"sleep ({process.pid})", f"unshare ({process.pid})")
    assert namespace.processes == 1


def test_who_has_a_tap_open_is_told_of_the_tap_in_its_namespace() -> None:
    with built(Wanted(2)) as names:
        for name in names:
            _ip(name, "tuntap", "add", "tap0", "mode", "tap")
        with netns.inside(names[1]), Path("/dev/net/tun").open("r+b", buffering=0) as tun:
            fcntl.ioctl(tun, 0x400454CA, struct.pack("16sH22x", b"tap0", 0x1002))
            holder = subprocess.Popen(["sleep", "60"], stdin=tun)
        try:
            graph = read()
        finally:
            holder.kill()
            holder.wait()
    held = [_interface(_namespace(graph, name), "tap0").holder for name in names]
    assert held == [None, f"sleep ({holder.pid})"]


def test_rates_are_those_of_the_time_between_two_looks() -> None:
    with built(Wanted(2, veths=[((0, "left"), (1, "right"))])) as names:
        for name, interface, own in ((names[0], "left", "192.0.2.1/24"), (names[1], "right", "192.0.2.2/24")):
            _ip(name, "address", "add", own, "dev", interface)
            _ip(name, "link", "set", interface, "up")
        ping = ["ip", "netns", "exec", names[0], "ping", "-q", "-i", "0.01", "-w", "10", "192.0.2.2"]
        pinging = subprocess.Popen(ping, stdout=subprocess.DEVNULL)
        try:
            graph = read(0.5)
        finally:
            pinging.kill()
            pinging.wait()
    one = _interface(_namespace(graph, names[0]), "left")
    assert one.rates is not None
    assert 0 < one.rates.tx_pps <= 110
    assert graph.seconds == 0.5
