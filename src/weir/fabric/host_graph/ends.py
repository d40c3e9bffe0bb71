# SPDX-License-Identifier: Apache-2.0
"""What a user calls an end of a packet's way: a namespace, an address, or both with a stroke between."""

from __future__ import annotations

import ipaddress
import os
from dataclasses import dataclass

from weir.base.error import USAGE, WeirError
from weir.results.host_graph import HostGraph, Interface, Namespace

_SHOWN = 8
_EXPECTED = "expected a namespace, an IPv4 address, or NAMESPACE/INTERFACE or NAMESPACE/ADDRESS"

_HIDDEN = "; not all of this host was seen: run it as root or with sudo to see the rest"


class UnknownEndError(WeirError):
    """No end, or several, are called that."""

    exit_code = USAGE


@dataclass(frozen=True)
class End:
    """An address, and the namespace that has it; None: none here has."""

    address: str
    namespace: Namespace | None

    def __str__(self) -> str:
        return f"{self.address} in {self.namespace.name}" if self.namespace is not None else self.address


def end(graph: HostGraph, text: str, *, may_be_elsewhere: bool) -> End:
    """UnknownEndError if it is not clear. `may_be_elsewhere`: an address need not be one of this host."""
    name, stroke, inside = text.partition("/")
    spaces = graph.namespaces if _is_address(text) else _named(graph, name)
    wanted = text if _is_address(text) else inside
    found = [
        End(address, space)
        for space in spaces
        for one in space.interfaces
        if one.kind != "loopback"
        for address in _ipv4(one)[: None if _is_address(wanted) else 1]
        if wanted in ("", one.name, address)
    ]
    if not stroke and not _is_address(text):
        found = found[:1]
    if len(found) == 1:
        return found[0]
    if not found and _is_address(text) and may_be_elsewhere:
        return End(text, None)
    if not found:
        what = f"nothing is called {text}"
        if spaces and not (_is_address(text) or inside):
            what = f"{name} has no interface with an IPv4 address, so no packet can be followed there"
        elif spaces:
            what = f"no interface with an IPv4 address is called {text}"
        raise UnknownEndError(f"{what}; {_EXPECTED}{_HIDDEN if graph.unseen and os.geteuid() else ''}")
    where = ", ".join(f"{one.namespace.name}/{one.address}" for one in found[:_SHOWN] if one.namespace)
    raise UnknownEndError(f"{text} is in {len(found)} places; expected one of {where}")


def _named(graph: HostGraph, name: str) -> list[Namespace]:
    """By that name; else the only one that ends so. Names of what was deployed begin with a token."""
    exact = [one for one in graph.namespaces if one.name == name]
    ending = [one for one in graph.namespaces if name and one.name.endswith(f"-{name}")]
    if not exact and len(ending) > 1:
        raise UnknownEndError(
            f"{name} may be {' or '.join(one.name for one in ending[:_SHOWN])}; expected a whole name"
        )
    return exact or ending


def _ipv4(one: Interface) -> list[str]:
    addresses = (each.partition("/")[0] for each in one.addresses)
    return [each for each in addresses if _is_address(each)]


def _is_address(text: str) -> bool:
    try:
        ipaddress.IPv4Address(text)
    except ValueError:
        return False
    return True
