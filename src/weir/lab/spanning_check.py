# SPDX-License-Identifier: Apache-2.0
"""What `hosts` of a lab asks for, held against its chains, functions and technologies."""

from __future__ import annotations

import ipaddress
from collections.abc import Collection, Iterator

from weir.base.span import VLANS_MAX
from weir.lab.complaint import Complaint, show
from weir.lab.lab import Lab
from weir.lab.problem import nearest
from weir.lab.source import KeyPath
from weir.lab.spanning import HostsOptions
from weir.technology import TECHNOLOGIES

_KINDS = ("process", "kernel")
"""Of functions that stand in a chain that spans hosts."""


def spanning_complaints(lab: Lab) -> Iterator[Complaint]:
    """Everything impossible in `hosts`, on whatever hosts."""
    hosts = lab.hosts
    if hosts is None:
        return
    yield from _names(lab, hosts)
    yield from _spanning(lab, hosts)
    yield from _technologies(lab)
    yield from _functions(lab, hosts)
    yield from _wires(lab, hosts)
    if lab.traffic.connections is not None:
        yield Complaint(
            ("traffic", "connections"), "are made on one machine, and this chain spans hosts",
            "frames, or a lab without `hosts`", about=(("hosts",),),
        )  # fmt: skip


def _names(lab: Lab, hosts: HostsOptions) -> Iterator[Complaint]:
    for name in hosts.functions:
        if name not in lab.functions:
            path: KeyPath = ("hosts", "functions", name)
            known = [*lab.functions]
            listed = "one of " + ", ".join(known)
            yield Complaint(
                path, "there is no such function", listed, nearest(name, known), (("functions",),)
            )
    given: dict[tuple[str, ...], Collection[str]] = {
        ("hosts", "machines"): hosts.machines,
        ("hosts", "wire", "addresses"): hosts.wire.addresses,
        ("hosts", "wire", "cards"): hosts.wire.cards,
    }
    for path, mapping in given.items():
        for name in mapping:
            if name not in hosts.names():
                listed = "one of " + ", ".join(hosts.names())
                about = (("hosts", "tester"), ("hosts", "functions"))
                yield Complaint(
                    (*path, name), f"{name} has neither tester nor function", listed,
                    nearest(name, hosts.names()), about,
                )  # fmt: skip
    machines = [*hosts.machines.values()]
    for name, machine in hosts.machines.items():
        if machines.count(machine) > 1:
            message = f"{machine} is another host of this lab, too"
            yield Complaint(("hosts", "machines", name), message, "a machine of its own for each")
            return


def _spanning(lab: Lab, hosts: HostsOptions) -> Iterator[Complaint]:
    known = set(hosts.functions) <= set(lab.functions)
    if known and not any(hosts.crossings(chain.functions) for chain in lab.chains()):
        yield Complaint(
            ("hosts", "functions"), f"leaves all of every chain on {hosts.tester}: nothing spans hosts",
            f"another host than {hosts.tester} for a function of a chain, or no `hosts`",
            about=(("chain",), ("functions",), ("hosts", "tester")),
        )  # fmt: skip


def _technologies(lab: Lab) -> Iterator[Complaint]:
    able = ", ".join(name for name, one in TECHNOLOGIES.items() if one.spans)
    for index, name in enumerate(lab.technology):
        if not TECHNOLOGIES[name].spans:
            yield Complaint(
                ("technology", index), f"{name} joins no ports on different hosts yet", f"one of {able}",
                about=(("hosts",),),
            )  # fmt: skip


def _functions(lab: Lab, hosts: HostsOptions) -> Iterator[Complaint]:
    for name in dict.fromkeys(name for chain in lab.chains() for name in chain.functions):
        function = lab.functions.get(name)
        if function is None:
            continue
        about: tuple[KeyPath, ...] = (("hosts",),)
        if function.kind not in _KINDS:
            yield Complaint(
                ("functions", name, "kind"), f"is {function.kind}, and the chain spans hosts",
                f"one of {', '.join(_KINDS)}, or a lab without `hosts`", about=about,
            )  # fmt: skip
        elif function.by_n4() and hosts.host_of(name) != hosts.tester:
            yield Complaint(
                ("hosts", "functions", name), f"{name} is controlled by N4, from the tester's host alone",
                f"{hosts.tester}, the tester's", about=(("functions", name),),
            )  # fmt: skip


def _wires(lab: Lab, hosts: HostsOptions) -> Iterator[Complaint]:
    wire, path = hosts.wire, ("hosts", "wire")
    if wire.kind == "vxlan" and wire.cards:
        yield Complaint(
            (*path, "cards"), "are of `kind: card` and `kind: vlan`", "one of these, or no cards",
            about=(path,),
        )  # fmt: skip
    if wire.kind != "vlan" and wire.vlan is not None:
        yield Complaint((*path, "vlan"), "is of `kind: vlan`", "kind: vlan, or no vlan", about=(path,))
    if wire.kind != "vxlan" and wire.addresses:
        yield Complaint(
            (*path, "addresses"), "are of `kind: vxlan`", "kind: vxlan, or no addresses", about=(path,)
        )
    versions = set()
    for host, address in wire.addresses.items():
        try:
            parsed = ipaddress.ip_address(address)
        except ValueError:
            parsed = None
        if parsed is None or parsed.is_multicast or parsed.is_unspecified or parsed.is_loopback:
            yield Complaint(
                (*path, "addresses", host), f"is {show(address)}",
                "an IP address by which other hosts reach this one, such as 192.0.2.1",
            )  # fmt: skip
            continue
        versions.add(parsed.version)
    if len(versions) > 1:
        yield Complaint((*path, "addresses"), "are of IPv4 and of IPv6", "addresses of one version")
    if wire.kind != "vxlan" and not wire.addresses:
        yield from _cards(lab, hosts)
    if wire.kind == "vlan":
        yield from _vlans(lab, hosts)


def _vlans(lab: Lab, hosts: HostsOptions) -> Iterator[Complaint]:
    path: KeyPath = ("hosts", "wire")
    if hosts.wire.vlan is None:
        yield Complaint(path, "has no `vlan`", "vlan: the identifier of the first wire's, 1 to 4094")
        return
    most = max(len(hosts.crossings(chain.functions)) for chain in lab.chains())
    last = hosts.wire.vlan + most - 1
    if last > VLANS_MAX:
        yield Complaint(
            (*path, "vlan"), f"is {hosts.wire.vlan}, and the last of {most} wires would have {last}",
            f"1 to {VLANS_MAX - most + 1}", about=(("chain",),),
        )  # fmt: skip


def _cards(lab: Lab, hosts: HostsOptions) -> Iterator[Complaint]:
    path: KeyPath = ("hosts", "wire", "cards")
    needed = dict.fromkeys(hosts.names(), 0)
    alone = hosts.wire.kind == "vlan"  # all wires of a host are on one
    for chain in lab.chains():
        along = hosts.along(chain.functions)
        ends = [host for at in hosts.crossings(chain.functions) for host in along[at : at + 2]]
        for host in needed:
            needed[host] = max(needed[host], ends.count(host))
    about: tuple[KeyPath, ...] = (("chain",), ("hosts", "functions"), ("hosts", "tester"))
    for host, count in needed.items():
        given = hosts.wire.cards.get(host, ())
        if alone:
            if count and len(given) != 1:
                yield Complaint(
                    (*path, host) if host in hosts.wire.cards else path,
                    f"{host} has {len(given)} interfaces", "one, whose VLANs all of its wires are",
                    about=about,
                )  # fmt: skip
        elif len(given) < count:
            yield Complaint(
                (*path, host) if host in hosts.wire.cards else path,
                f"{host} has {count} wire{'s' if count > 1 else ''} to other hosts in a chain, and "
                f"{len(given)} interface{'s' if len(given) != 1 else ''}",
                "an interface of the host for each", about=about,
            )  # fmt: skip
        twice = next((one for one in given if given.count(one) > 1), None)
        if twice is not None:
            yield Complaint((*path, host), f"names {twice} twice", "each interface once")
