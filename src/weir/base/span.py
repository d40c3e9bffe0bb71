# SPDX-License-Identifier: Apache-2.0
"""Links of a chain whose two ends are on different hosts: what carries frames between them."""

from __future__ import annotations

from ipaddress import ip_address
from typing import Literal

from weir.base.record import FixedRecord

SpanKind = Literal["vxlan", "vlan", "card"]
"""A VXLAN tunnel (RFC 7348) over the hosts' network, a VLAN (IEEE 802.1Q) of a network interface of each
host, or such an interface."""
VXLAN_PORT = 4789
"""IANA's, of UDP."""
_VXLAN_UDP_BYTES, _IP_BYTES = 16, {4: 20, 6: 40}
_FCS_BYTES, _ETHERNET_BYTES = 4, 14
_VNIS = 1 << 24
VLANS_MAX = 4094
"""The greatest identifier of a VLAN."""


class SpanEnd(FixedRecord):
    """What a host has of it: a device in a namespace of the deployment's."""

    host: str
    """As the lab calls it."""
    port: str
    """Of the chain: "tester.left", "f1.right"."""
    netns: str
    """Where the device is."""
    interface: str
    """Its name there."""
    address: str = ""
    """Of VXLAN: the host's own, from and to which it sends; empty: not known yet."""
    card: str = ""
    """Of a card or a VLAN: the host's interface that the device is on."""


class Span(FixedRecord):
    """One link from host to host."""

    link: int
    """Its index among the chain's."""
    name: str
    """The link's: "wire0", "net1"."""
    kind: SpanKind
    left: SpanEnd
    right: SpanEnd
    vni: int = 0
    """VXLAN network identifier."""
    udp_port: int = 0
    vlan: int = 0
    """VLAN identifier."""
    frame_bytes: int
    """The longest that the tester sends over it, with FCS, and with their VLAN tag."""

    def end(self, host: str) -> SpanEnd | None:
        """What that host has of it; None: nothing."""
        return next((one for one in (self.left, self.right) if one.host == host), None)

    def beyond(self, host: str) -> SpanEnd:
        """The end that is not that host's."""
        return self.right if self.left.host == host else self.left

    @property
    def mtu_bytes(self) -> int:
        """The least that its devices must have: a frame's without Ethernet header and FCS."""
        return self.frame_bytes - _FCS_BYTES - _ETHERNET_BYTES

    @property
    def overhead_bytes(self) -> int:
        """What the interface below carries beyond that: of VXLAN the inner Ethernet header and the outer
        headers of VXLAN, UDP and IP, 50 bytes with IPv4. A VLAN's tag is not of its MTU."""
        if self.kind != "vxlan":
            return 0
        version = ip_address(self.left.address).version if self.left.address else 4
        return _ETHERNET_BYTES + _VXLAN_UDP_BYTES + _IP_BYTES[version]


def vni(token: str, link: int) -> int:
    """Of a deployment's link: its own among those of the deployment, and hardly ever another one's."""
    return (int(token, 16) + link) % (_VNIS - 1) + 1
