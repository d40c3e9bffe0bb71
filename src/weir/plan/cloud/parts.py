# SPDX-License-Identifier: Apache-2.0
"""Steps that more than one part of a cloud consists of. All of them go with their namespaces."""

from __future__ import annotations

from collections.abc import Sequence

from weir.base.cloud import MTU_BYTES
from weir.base.step import Step
from weir.technology.kernel_links import namespace_step

_QUIET = (
    "net.ipv6.conf.all.disable_ipv6=1",
    "net.ipv6.conf.default.disable_ipv6=1",
    "net.ipv4.conf.default.rp_filter=0",
    "net.ipv4.conf.all.rp_filter=0",
    "net.ipv4.conf.default.send_redirects=0",
    "net.ipv4.conf.all.send_redirects=0",
)
"""Tenants have IPv4. A router's floating addresses are of a network that it may also reach another way."""


def silent(netns: str, *settings: str) -> list[Step]:
    """A namespace that says nothing by itself, with these settings besides."""
    return [
        namespace_step(netns),
        Step(
            kind="sysctl",
            name=f"sysctl:{netns}",
            params={"netns": netns, "settings": [*_QUIET, *settings]},
            text=f"keep {netns} to IPv4" + (f", with {', '.join(settings)}" if settings else ""),
            undo_text="",
        ),
    ]


def wire(netns: str, interface: str, peer_netns: str, peer: str, mtu_bytes: int = MTU_BYTES) -> Step:
    """A veth pair."""
    return Step(
        kind="veth",
        name=f"veth:{peer_netns}.{peer}",
        params={
            "netns": netns,
            "interface": interface,
            "peer_netns": peer_netns,
            "peer_interface": peer,
            "mtu_bytes": mtu_bytes,
            "vanishes": True,
        },
        text=f"make veth pair {interface} in {netns}, {peer} in {peer_netns}",
        undo_text="",
    )


LEARNT_S = 86_400
"""How long switches know where an address was: longer than a measurement. Hosts whose traffic runs one way
and who ask for no address meanwhile would be forgotten, and their packets flooded."""
_ENDS_OF_A_WIRE = 2


def bridge(netns: str, name: str, ports: Sequence[str], mtu_bytes: int = MTU_BYTES) -> list[Step]:
    """A Linux bridge. Of two ports it floods, as there is nothing to learn."""
    learns = len(ports) > _ENDS_OF_A_WIRE
    made = Step(
        kind="bridge",
        name=f"bridge:{netns}.{name}",
        params={
            "netns": netns,
            "bridge": name,
            "ageing_s": LEARNT_S if learns else 0,
            "mtu_bytes": mtu_bytes,
            "vanishes": True,
        },
        text=f"make bridge {name} in {netns}, without STP and multicast snooping",
        undo_text="",
    )
    attached = [
        Step(
            kind="bridge-port",
            name=f"bridge-port:{netns}.{port}",
            params={"netns": netns, "bridge": name, "interface": port, "flooded": True},
            text=f"attach {port} to bridge {name}",
            undo_text="",
        )
        for port in ports
    ]
    return [made, *attached]


def interface(
    netns: str,
    name: str,
    mac: str,
    addresses: Sequence[str],
    *,
    at: str,
    routes: Sequence[str] = (),
    host: bool = True,
) -> Step:
    """MAC address, addresses ("10.0.0.1/24"), routes ("default via 10.0.0.1") of an interface, up. `mac`:
    empty: as it is. `at`: whose it is, as users know it. `host`: what it sends comes from a TCP/IP stack,
    which would leave checksums to the next one."""
    given = f" with {', '.join(addresses)}" if addresses else ", without an address"
    return Step(
        kind="interface",
        name=f"interface:{at}.{name}",
        params={
            "netns": netns,
            "interface": name,
            "mac": mac,
            "addresses": list(addresses),
            "routes": list(routes),
            "host": host,
        },
        text=f"set up {name} of {at}{given}",
        undo_text="",
    )


def routes(netns: str, name: str, given: Sequence[str], *, at: str) -> Step:
    """Of an interface that has its address already."""
    return Step(
        kind="interface",
        name=f"routes:{at}.{name}",
        params={
            "netns": netns,
            "interface": name,
            "mac": "",
            "addresses": [],
            "routes": list(given),
            "host": False,
        },
        text=f"give {at} its ways to the {len(given)} that others lead to",
        undo_text="",
    )


def ruleset(netns: str, program: str, rules: str, text: str) -> Step:
    """`program`: "nft" or "iptables"."""
    return Step(
        kind="ruleset",
        name=f"ruleset:{netns}.{program}",
        params={"netns": netns, "program": program, "rules": rules},
        text=text,
        undo_text="",
    )
