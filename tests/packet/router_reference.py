# SPDX-License-Identifier: Apache-2.0
"""The virtual router once more: the references of the functions that it is made of, and what joins them."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping, Sequence

from .acl_reference import Acl
from .l3fwd_reference import Router as Forwarding
from .nat_reference import Nat
from .replay import Dropped, Forwarded
from .rules_reference import Rules

PROTOCOLS = {"tcp": 6, "udp": 17}
OUTSIDE, INSIDE = 0, 1


class VirtualRouter:
    """`router` as a lab writes it; `macs`: the addresses that the lab fills in, as l3fwd calls them."""

    def __init__(self, router: Mapping[str, object], macs: Mapping[str, str]) -> None:
        tenants = router["tenants"]
        forwards = router.get("forwards", ())
        assert isinstance(tenants, Sequence)
        assert isinstance(forwards, Sequence)
        self.tenants = [ipaddress.IPv4Network(tenant["prefix"]) for tenant in tenants]
        self.tenants6 = [tenant["prefix6"] for tenant in tenants if "prefix6" in tenant]
        self.nat = Nat(
            str(router["external"]),
            untranslated=[str(network) for network in self.tenants],
            ipv6="forward" if self.tenants6 else "drop",
        )
        for forward in forwards:
            external = int(ipaddress.IPv4Address(forward.get("external", self.nat.addresses[0])))
            inside = int(ipaddress.IPv4Address(forward["to"]))
            protocol, port = PROTOCOLS[forward.get("protocol", "tcp")], forward["port"]
            to = (inside, forward.get("to_port", port), protocol)
            self.nat.add_static(to, (external, port, protocol))
        self.forwarding = Forwarding(macs["src_mac"], src_macs={INSIDE: macs["inbound_src_mac"]})
        for everywhere in ("0.0.0.0/0", "::/0") if self.tenants6 else ("0.0.0.0/0",):
            self.forwarding.add(everywhere, str(router.get("next_hop", macs["dst_mac"])), OUTSIDE)
        for tenant in tenants:
            next_hop = tenant.get("next_hop", macs["inbound_dst_mac"])
            for key in ("prefix", "prefix6"):
                if key in tenant:
                    self.forwarding.add(tenant[key], next_hop, INSIDE)
        self.walls = self._walls() if router.get("isolate") else None

    def handle(self, frame: bytes, direction: str) -> Forwarded | Dropped:
        """What becomes of a frame; `egress` is the side that it leaves by, whichever it came from."""
        if direction == "outbound" and self.walls is not None:
            kept = self.walls.handle(frame)
            # What is no IP packet is left to those behind.
            if isinstance(kept, Dropped) and kept.reason != "not_ipv4":
                return kept
        translated = self.nat.handle(frame, direction)
        if isinstance(translated, Dropped):
            return translated
        return self.forwarding.handle(translated.frame)

    def _walls(self) -> Acl:
        """Everybody may send to his own network, and to none of the others'."""
        networks = [*map(str, self.tenants), *self.tenants6]
        lines = [f"permit any {network} {network}" for network in networks]
        lines += [f"deny any any {network}" for network in networks]
        return Acl(Rules("\n".join(lines), "permit"))
