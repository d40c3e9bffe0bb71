# SPDX-License-Identifier: Apache-2.0
"""A virtual router: tenants' networks, joined to each other and, by address translation, to an external one.

It is no function of its own but three that there are: `acl`, where tenants are kept apart, `nat` and `l3fwd`.
On the way out they stand in that order; what comes in is translated first, then routed.
"""

from __future__ import annotations

import ipaddress
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from weir.base.record import LabSection
from weir.lab.nf import Scalar

TENANTS_MAX = 64
FORWARDS_MAX = 256
FLOATING_MAX = 512
OUTSIDE, INSIDE = 0, 1
"""Outputs of both paths of a router: its right port, towards the external network, and its left one."""


def _prefix(text: str) -> str:
    try:
        return str(ipaddress.IPv4Network(text))
    except ValueError:
        message = f"is {text!r}; expected an IPv4 prefix without host bits such as 10.1.0.0/24"
        raise ValueError(message) from None


def _prefix6(text: str) -> str:
    try:
        return str(ipaddress.IPv6Network(text))
    except ValueError:
        message = f"is {text!r}; expected an IPv6 prefix without host bits such as 2001:db8:1::/64"
        raise ValueError(message) from None


def _address(text: str) -> str:
    try:
        return str(ipaddress.IPv4Address(text))
    except ValueError:
        raise ValueError(f"is {text!r}; expected an IPv4 address such as 10.1.0.5") from None


def _interface(text: str) -> str:
    try:
        interface = ipaddress.IPv4Interface(text)
    except ValueError:
        interface = ipaddress.IPv4Interface("0.0.0.0/32")
    if interface.network.prefixlen > 31:
        raise ValueError(f"is {text!r}; expected an IPv4 address with the length of its network's prefix")
    return str(interface)


def _address6(text: str) -> str:
    try:
        return str(ipaddress.IPv6Address(text))
    except ValueError:
        raise ValueError(f"is {text!r}; expected an IPv6 address such as 2001:db8:1::5") from None


def _interface6(text: str) -> str:
    try:
        interface = ipaddress.IPv6Interface(text)
    except ValueError:
        interface = ipaddress.IPv6Interface("::/128")
    if interface.network.prefixlen > 127:
        raise ValueError(f"is {text!r}; expected an IPv6 address with the length of its network's prefix")
    return str(interface)


def _station(text: str) -> str:
    octets = bytes.fromhex(text.replace(":", ""))
    if octets[0] & 1 or not any(octets):
        raise ValueError(f"is {text!r}; expected the address of one station, not of a group or none")
    return text


_Prefix = Annotated[str, AfterValidator(_prefix), Field(examples=["10.1.0.0/24"])]
_Address = Annotated[str, AfterValidator(_address), Field(examples=["10.1.0.5"])]
_Interface = Annotated[str, AfterValidator(_interface), Field(examples=["192.0.2.2/24"])]
_Prefix6 = Annotated[str, AfterValidator(_prefix6), Field(examples=["2001:db8:1::/64"])]
_Address6 = Annotated[str, AfterValidator(_address6), Field(examples=["2001:db8:1::1"])]
_Interface6 = Annotated[str, AfterValidator(_interface6), Field(examples=["2001:db8::2/64"])]
_Station = Annotated[
    str,
    AfterValidator(_station),
    Field(pattern=r"^[0-9a-fA-F]{2}(:[0-9a-fA-F]{2}){5}$", examples=["02:00:00:00:01:00"]),
]
_L4Port = Annotated[int, Field(ge=1, le=65535)]


class Tenant(LabSection):
    """One network inside."""

    prefix: _Prefix = Field(description="its addresses")
    next_hop: _Station | None = Field(
        default=None,
        description="MAC address that it is reached by; absent: with `address` each host's own, resolved by "
        "ARP, else the neighbour on the left",
    )
    address: _Address | None = Field(
        default=None,
        description="the router's own address in it, for which it answers ARP; absent: it has none there",
    )
    prefix6: _Prefix6 | None = Field(
        default=None,
        description="its addresses of IPv6, which are routed and not translated; absent: IPv6 is dropped for "
        "all tenants if none has any",
    )
    address6: _Address6 | None = Field(
        default=None,
        description="the router's own address in `prefix6`, which neighbor discovery finds; absent: it has "
        "none there",
    )


class Forward(LabSection):
    """An external port that leads to a tenant's host, whoever sends there."""

    protocol: Literal["tcp", "udp"] = Field(default="tcp", description="of both ports")
    external: _Address | None = Field(
        default=None, description="external address; absent: the first one of `external`"
    )
    port: _L4Port = Field(description="external port")
    to: _Address = Field(description="the tenant's host")
    to_port: _L4Port | None = Field(default=None, description="its port; absent: the external one")


class Floating(LabSection):
    """An external address that is one tenant's host's, whatever the protocol and port."""

    external: _Address = Field(description="external address, outside `external`")
    to: _Address = Field(description="the tenant's host")


class RouterOptions(LabSection):
    """Tenants on the left, the external network on the right."""

    tenants: tuple[Tenant, ...] = Field(
        min_length=1, max_length=TENANTS_MAX, description="networks inside; they must not overlap"
    )
    external: _Prefix = Field(description="external addresses that tenants share, of length 22 or more")
    next_hop: _Station | None = Field(
        default=None,
        description="MAC address of the external network's router; absent: `gateway`, or the neighbour on "
        "the right",
    )
    address: _Interface | None = Field(
        default=None,
        description="the router's own address in the external network, with the length of that network's "
        "prefix; there it answers ARP for `external` too",
    )
    gateway: _Address | None = Field(
        default=None,
        description="address of the external network's router, resolved by ARP; needs `address`",
    )
    address6: _Interface6 | None = Field(
        default=None,
        description="the router's own IPv6 address in the external network, with the length of that "
        "network's prefix",
    )
    gateway6: _Address6 | None = Field(
        default=None,
        description="IPv6 address of the external network's router, resolved by neighbor discovery; needs "
        "`address6`",
    )
    isolate: bool = Field(default=False, description="whether tenants are kept from each other's networks")
    forwards: tuple[Forward, ...] = Field(
        default=(), max_length=FORWARDS_MAX, description="external ports that lead inside"
    )
    floating: tuple[Floating, ...] = Field(
        default=(), max_length=FLOATING_MAX, description="external addresses that are one host's each"
    )
    sessions: int = Field(
        default=65536, ge=1, le=16_000_000, description="translations at a time; of each worker"
    )

    def stages(self) -> tuple[tuple[str, dict[str, Scalar]], ...]:
        """The functions and their options, inside first."""
        prefixes = [tenant.prefix for tenant in self.tenants]
        prefixes6 = [tenant.prefix6 for tenant in self.tenants if tenant.prefix6]
        nat: dict[str, Scalar] = {
            "external": self.external,
            "untranslated": ", ".join(prefixes),
            "sessions": self.sessions,
        }
        if prefixes6:
            nat["ipv6"] = "forward"
        if self.forwards:
            nat["forwards"] = ", ".join(self._mapping(forward) for forward in self.forwards)
        if self.floating:
            nat["addresses"] = ", ".join(f"{one.external} {one.to}" for one in self.floating)
        routes = self._routes(with_ipv6=bool(prefixes6))
        l3fwd: dict[str, Scalar] = {"route_list": ", ".join(routes), "inside_output": INSIDE}
        l3fwd |= self._own_addresses()
        return (*self._walls([*prefixes, *prefixes6]), ("nat", nat), ("l3fwd", l3fwd))

    def _routes(self, *, with_ipv6: bool) -> list[str]:
        """Outwards by default, and to each tenant that hosts are not asked for one by one."""
        outwards = f"{self.next_hop or 'default'} {OUTSIDE}"
        routes = [f"0.0.0.0/0 {f'via {self.gateway}' if self.gateway else outwards}"]
        if with_ipv6:
            routes.append(f"::/0 {f'via {self.gateway6}' if self.gateway6 else outwards}")
        for tenant in self.tenants:
            for prefix, address in ((tenant.prefix, tenant.address), (tenant.prefix6, tenant.address6)):
                if prefix and (tenant.next_hop or not address):
                    routes.append(f"{prefix} {tenant.next_hop or 'default'} {INSIDE}")
        return routes

    def _own_addresses(self) -> dict[str, Scalar]:
        """Options of l3fwd; none: it is no station."""
        inner = [
            f"{address}/{ipaddress.ip_network(prefix).prefixlen}"
            for tenant in self.tenants
            for prefix, address in ((tenant.prefix, tenant.address), (tenant.prefix6, tenant.address6))
            if prefix and address
        ]
        outer = [address for address in (self.address, self.address6) if address]
        found: dict[str, Scalar] = {}
        if inner:
            found["inbound_addresses"] = ", ".join(inner)
        if outer:
            found["addresses"] = ", ".join(outer)
        if self.address:
            floating = [f"{one.external}/32" for one in self.floating]
            found["answers_for"] = ", ".join([self.external, *floating])
        return {**found, "errors_pass_all": True} if found else {}

    def inbound(self) -> tuple[int, ...]:
        """Which of `stages` see what comes from outside, in which order: only a translated packet's
        destination can be looked up."""
        return (1, 2) if self.isolate else (0, 1)

    def _walls(self, prefixes: list[str]) -> tuple[tuple[str, dict[str, Scalar]], ...]:
        if not self.isolate:
            return ()
        rules = [f"permit any {prefix} {prefix}" for prefix in prefixes]
        rules += [f"deny any any {prefix}" for prefix in prefixes]
        options = {"rule_list": ", ".join(rules), "default": "permit", "not_ipv4": "forward"}
        return (("acl", {**options}),)

    def _mapping(self, forward: Forward) -> str:
        external = f"{self.external_address(forward)}:{forward.port}"
        return f"{forward.protocol} {external} {forward.to}:{forward.to_port or forward.port}"

    def external_address(self, forward: Forward) -> str:
        """The external address of a forwarded port."""
        return forward.external or str(ipaddress.IPv4Network(self.external).network_address)
