# SPDX-License-Identifier: Apache-2.0
"""The way of a packet is the one that packets go: on lines of routers drawn at random, and kind by kind."""

from __future__ import annotations

import os
import secrets
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from weir.fabric.host_graph import read
from weir.fabric.host_graph.ends import UnknownEndError
from weir.results.host_graph import Way

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="makes namespaces: run as root"),
]

EXAMPLES = 8
PING_S = "1"


@dataclass
class Line:
    """Namespaces in a line, each but the ends a router, and what is wrong with it."""

    links: list[str]
    """Of each: "veth", "bridge", "vlan", "macvlan"."""
    idle: set[int]
    """Those that do not route."""
    lost: set[int]
    """Those without routes to what is not at their side."""
    cut: set[int]
    """Links that are down."""


def makes(*arguments: str) -> bool:
    """Whether this kernel makes such an interface on another one; some have no VLAN devices."""
    command = ["unshare", "-n", "ip", "link", "add", "link", "lo", "name", "probe", "type", *arguments]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


STACKED = {"vlan": ("vlan", "id", "7"), "macvlan": ("macvlan", "mode", "bridge")}
KINDS = ["veth", "bridge", *(kind for kind, arguments in STACKED.items() if makes(*arguments))]


@st.composite
def lines(draw: st.DrawFn) -> Line:
    links = draw(st.lists(st.sampled_from(KINDS), min_size=1, max_size=3))
    one = st.sets(st.integers(0, len(links)), max_size=1)
    return Line(links, draw(one), draw(one), draw(st.sets(st.integers(0, len(links) - 1), max_size=1)))


def ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True)


@contextmanager
def built(line: Line) -> Iterator[list[str]]:
    token = secrets.token_hex(4)
    names = [f"weirway-{token}-{number}" for number in range(len(line.links) + 1)]
    switch = f"weirway-{token}-switch"
    try:
        for name in [*names, switch]:
            ip("netns", "add", name)
            ip("-n", name, "link", "set", "lo", "up")
        for number, kind in enumerate(line.links):
            link(names[number], names[number + 1], switch, number, kind)
            if number in line.cut:
                ip("-n", names[number], "link", "set", f"r{number}", "down")
        for number, name in enumerate(names):
            setting = f"net.ipv4.ip_forward={int(number not in line.idle)}"
            subprocess.run(["ip", "netns", "exec", name, "sysctl", "-qw", setting], check=True)
            for subnet in range(len(line.links)) if number not in line.lost else ():
                left, right = subnet < number - 1, subnet > number
                via = f"10.9.{number - 1}.1" if left else f"10.9.{number}.2"
                if left or right:
                    # A route over an interface that is down cannot be made, and is not missed.
                    route = ["ip", "-n", name, "route", "add", f"10.9.{subnet}.0/24", "via", via]
                    subprocess.run(route, check=False, capture_output=True)
        yield names
    finally:
        for name in [*names, switch]:
            subprocess.run(["ip", "netns", "del", name], check=False, capture_output=True)


def link(left: str, right: str, switch: str, number: int, kind: str) -> None:
    """Ends r<number> at the left and l<number> at the right, with the addresses .1 and .2."""
    ends = ((left, f"r{number}", "1"), (right, f"l{number}", "2"))
    if kind == "bridge":
        ip("-n", switch, "link", "add", f"br{number}", "up", "type", "bridge")
        for place, name, _ in ends:
            ip("-n", place, "link", "add", name, "type", "veth", "peer", "name", f"p{name}", "netns", switch)
            ip("-n", switch, "link", "set", f"p{name}", "up", "master", f"br{number}")
    else:
        own, other = (name if kind == "veth" else f"u{name}" for _, name, _ in ends)
        ip("-n", left, "link", "add", own, "type", "veth", "peer", "name", other, "netns", right)
        for place, name, _ in ends if kind != "veth" else ():
            ip("-n", place, "link", "set", f"u{name}", "up")
            ip("-n", place, "link", "add", "link", f"u{name}", "name", name, "type", *STACKED[kind])
    for place, name, last in ends:
        ip("-n", place, "address", "add", f"10.9.{number}.{last}/24", "dev", name)
        ip("-n", place, "link", "set", name, "up")


def both_ways(names: list[str], last: int) -> tuple[Way, Way]:
    there = (f"{names[0]}/10.9.0.1", f"{names[-1]}/10.9.{last}.2")
    ways = [read(path=ends).way for ends in (there, there[::-1])]
    assert ways[0] is not None
    assert ways[1] is not None
    return ways[0], ways[1]


@pytest.mark.long
@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
@given(lines())
def test_a_packet_is_said_to_arrive_exactly_where_one_does(line: Line) -> None:
    last = len(line.links) - 1
    with built(line) as names:
        ping = [
            "ip",
            "netns",
            "exec",
            names[0],
            "ping",
            "-c1",
            "-W",
            PING_S,
            "-I",
            "10.9.0.1",
            f"10.9.{last}.2",
        ]
        answered = subprocess.run(ping, check=False, capture_output=True).returncode == 0
        there, back = both_ways(names, last)
    assert (there.arrives and back.arrives) == answered, (there.stopped, back.stopped)


def test_each_thing_that_it_passes_is_named_in_order() -> None:
    with built(Line(["bridge", "veth"], set(), set(), set())) as names:
        ping = ["ip", "netns", "exec", names[0], "ping", "-c1", "-W", "2", "10.9.1.2"]
        subprocess.run(ping, check=True, capture_output=True)
        there, _ = both_ways(names, 1)
    assert [one.name for one in there.hops] == ["r0", "pr0", "br0", "pl0", "l0", "r1", "l1"]
    assert there.hops[2].does == "bridged to pl0: learned"
    assert there.hops[0].does == "sent, via 10.9.0.2: route"


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (Line(["veth", "veth"], {1}, set(), set()), "does not route IPv4"),
        (Line(["veth", "veth"], set(), {0}, set()), "does not send it to 10.9.1.2"),
        (Line(["veth"], set(), set(), {0}), "does not send it to 10.9.0.2"),
    ],
    ids=["router-off", "no-route", "link-down"],
)
def test_where_it_ends_is_said_with_the_reason(line: Line, why: str) -> None:
    with built(line) as names:
        there, _ = both_ways(names, len(line.links) - 1)
    assert not there.arrives
    assert there.stopped is not None
    assert why in there.stopped


def test_an_end_that_is_not_clear_is_refused_with_what_it_could_be() -> None:
    with built(Line(["veth"], set(), set(), set())) as names:
        with pytest.raises(UnknownEndError, match="nothing is called nowhere; expected a namespace"):
            read(path=("nowhere", names[0]))
        with pytest.raises(UnknownEndError, match="no interface with an IPv4 address is called"):
            read(path=(f"{names[0]}/eth7", names[1]))
