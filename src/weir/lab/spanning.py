# SPDX-License-Identifier: Apache-2.0
"""`hosts` of a lab: a chain that spans hosts, its tester on one, its functions on others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from weir.base.record import LabSection
from weir.base.span import VLANS_MAX, VXLAN_PORT, SpanKind
from weir.lab.function import FunctionName

HostName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]{0,15}$", examples=["edge"])]
InterfaceName = Annotated[str, Field(pattern=r"^[^\s/:]{1,15}$", examples=["eth1"])]


def _one_host(value: Any) -> Any:
    if isinstance(value, list | tuple | dict):
        raise ValueError(
            "names several hosts, and both ends of the tester are on one: what is sent on one host and "
            "received on another has a delay only where the offset of their clocks has a known bound; "
            "expected one name"
        )
    return value


class WireOptions(LabSection):
    """What joins ports on different hosts."""

    kind: SpanKind = Field(
        default="vxlan",
        description="vxlan: a tunnel over the hosts' network (RFC 7348), which adds 50 bytes to a frame, 70 "
        "with IPv6; vlan: a VLAN (IEEE 802.1Q) of a network interface of each host for each wire; card: a "
        "network interface of each host for each wire",
    )
    addresses: dict[HostName, str] = Field(
        default={},
        description="of vxlan: each host's own IP address, from and to which it is sent; absent: the one "
        "by which it is in the cluster",
    )
    port: int = Field(default=VXLAN_PORT, ge=1, le=65535, description="of vxlan: the UDP port")
    cards: dict[HostName, tuple[InterfaceName, ...]] = Field(
        default={},
        description="of card: each host's interfaces, one for each of its wires to other hosts, in the order "
        "of the chain; of vlan: one, for all of them",
    )
    vlan: int | None = Field(
        default=None,
        ge=1,
        le=VLANS_MAX,
        description="of vlan: the identifier of a chain's first wire; those of the others count up from it",
    )


class HostsOptions(LabSection):
    """Names of hosts, and what is on each."""

    tester: Annotated[HostName, BeforeValidator(_one_host)] = Field(
        description="the host with both ends of the tester, so that delays are of one clock; a name of yours"
    )
    functions: dict[FunctionName, HostName] = Field(
        min_length=1, description="host of each function; absent ones are on the tester's"
    )
    machines: dict[HostName, str] = Field(
        default={},
        description="which machine of the cluster a host is, by its name or address there; absent: any that "
        "is free, each host another one",
    )
    wire: WireOptions = Field(default=WireOptions(), description="what joins ports on different hosts")

    def names(self) -> tuple[str, ...]:
        """Every host, the tester's first."""
        return tuple(dict.fromkeys((self.tester, *self.functions.values())))

    def host_of(self, function: str) -> str:
        """Where a function is."""
        return self.functions.get(function, self.tester)

    def along(self, functions: Sequence[str]) -> tuple[str, ...]:
        """Hosts of the tester, the functions of a chain, and the tester."""
        return (self.tester, *(self.host_of(one) for one in functions), self.tester)

    def crossings(self, functions: Sequence[str]) -> tuple[int, ...]:
        """Links of a chain whose ends are on different hosts."""
        along = self.along(functions)
        return tuple(at for at in range(len(along) - 1) if along[at] != along[at + 1])
