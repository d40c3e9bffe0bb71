# SPDX-License-Identifier: Apache-2.0
"""The tenants file: customers of a cloud, their networks and instances, and what keeps them apart."""

from __future__ import annotations

import ipaddress
from pathlib import Path
from typing import Annotated, Literal, Self, TypeVar

from pydantic import AfterValidator, Field, model_validator

from weir.base.cloud import Isolation, Router, Security
from weir.base.record import LabSection
from weir.lab.kernel import CommandForm
from weir.lab.lab import Name
from weir.lab.tenants_measure import (
    STREAMS_MAX,
    TenantsCores,
    TenantsMeasure,
    TenantsTester,
    TenantsTraffic,
)
from weir.lab.tenants_system import SystemOptions
from weir.lab.units import Seconds
from weir.lab.vm import InstanceVm

TENANTS_MAX = 256
INSTANCES_MAX = 64
FUNCTIONS_MAX = 8
ROUTERS_AND_SERVERS = 2
"""Addresses of a tenant's network that are not instances': the router's and the DHCP server's."""

TenantName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]{0,15}$", examples=["blue"])]
FunctionName = Annotated[
    str,
    Field(
        pattern=r"^[a-z][a-z0-9-]{0,15}$",
        examples=["dpi"],
        description="of the instance: TENANT.NAME, or shared.NAME",
    ),
]
RESERVED_NAMES = ("router", "dhcp")
"""Of what each tenant's network has besides."""
_PortNumber = Annotated[int, Field(ge=1, le=65535)]


def _prefix(text: str) -> str:
    try:
        network = ipaddress.IPv4Network(text)
    except ValueError:
        raise ValueError("expected an IPv4 network such as 10.0.0.0/24, without bits of a host") from None
    return str(network)


def _subnet(text: str) -> str:
    network = ipaddress.IPv4Network(_prefix(text))
    if network.is_loopback or network.is_link_local or network.is_multicast or network.is_reserved:
        raise ValueError(
            f"{network} cannot be the addresses of instances; expected a network such as 10.0.0.0/24: not "
            "127.0.0.0/8, 169.254.0.0/16, or one from 224.0.0.0 on"
        )
    return str(network)


_Prefix = Annotated[str, AfterValidator(_prefix)]
_Subnet = Annotated[str, AfterValidator(_subnet)]
_Section = TypeVar("_Section", SystemOptions, InstanceVm)


class IngressRule(LabSection):
    """What may come to a tenant's instances from outside its security group."""

    protocol: Literal["any", "tcp", "udp", "icmp"] = Field(description="what is let in")
    ports: tuple[_PortNumber, _PortNumber] | None = Field(
        default=None, description="the first and the last destination port, of TCP or UDP; absent: all"
    )
    source: _Prefix = Field(
        default="0.0.0.0/0", description="from whom, as the instance sees it", examples=["198.18.0.0/16"]
    )

    @model_validator(mode="after")
    def _ports_of_something(self) -> Self:
        if self.ports is None:
            return self
        if self.protocol not in ("tcp", "udp"):
            raise ValueError(f"has ports, and {self.protocol} has none; expected protocol: tcp or udp")
        if self.ports[0] > self.ports[1]:
            raise ValueError("has a first port above its last; expected the lower one first")
        return self


class TenantFunction(LabSection):
    """An instance that forwards for others, as a network function of a chain does."""

    name: FunctionName
    kind: Literal["kernel"] = Field(default="kernel", description="what forwards: Linux")
    commands: tuple[CommandForm, ...] = Field(
        default=(),
        max_length=64,
        description="run in it one after the other, without a shell, once it has its address; its interface "
        "is eth0",
        examples=[["nft -f firewall.nft"]],
    )
    commands_time_limit_s: Seconds = Field(
        default=30.0, gt=0, le=3600, description="longest time that all commands together may take"
    )
    directory: str | None = Field(
        default=None, min_length=1, description="where the commands run; absent: the lab file's directory"
    )


class Tenant(LabSection):
    """A customer, or several that are alike: one network, one router, one security group each."""

    name: TenantName = Field(
        description="of several: NAME-1, NAME-2, …; instances are NAME.1, NAME.2, …", examples=["blue"]
    )
    count: int = Field(default=1, ge=1, le=TENANTS_MAX, description="how many tenants are alike")
    instances: int = Field(default=1, ge=0, le=INSTANCES_MAX, description="of each tenant, spread over nodes")
    subnet: _Subnet = Field(
        default="10.0.0.0/24",
        description="the tenant's network; those of several tenants may be the same",
        examples=["10.0.0.0/24"],
    )
    floating: int = Field(
        default=0, ge=0, le=INSTANCES_MAX, description="instances that get a floating address: the first ones"
    )
    functions: tuple[TenantFunction, ...] = Field(
        default=(),
        max_length=FUNCTIONS_MAX,
        description="through which instances reach the router, and it them, in this order; each has an "
        "interface of its own, whose allowed-address pairs are the instances' addresses",
    )
    shared: bool = Field(
        default=True,
        description="whether its router leads through `cloud.functions`, where there are some",
    )
    system: SystemOptions | None = Field(
        default=None,
        description="in each of its instances but virtual machines; absent: one is a TCP/IP stack alone, in "
        "which `weir exec` runs programs of this host",
    )
    vm: InstanceVm | None = Field(
        default=None, description="of its instances that are virtual machines; absent: none is"
    )
    ingress: tuple[IngressRule, ...] = Field(
        default=(),
        max_length=32,
        description="what the security group lets in besides its own instances and answers; what its "
        "instances send is let out",
    )

    @model_validator(mode="after")
    def _fits(self) -> Self:
        network = ipaddress.IPv4Network(self.subnet)
        hosts = network.num_addresses - 2
        wanted = self.instances + len(self.functions)
        if hosts < wanted + ROUTERS_AND_SERVERS:
            what = "instances and functions" if self.functions else "instances"
            raise ValueError(
                f"has {wanted} {what} in {network}, which has room for"
                f" {max(0, hosts - ROUTERS_AND_SERVERS)}; expected a larger subnet, or fewer {what}"
            )
        if self.floating > self.instances:
            raise ValueError(
                f"has floating addresses for {self.floating} of {self.instances} instances; expected no more"
                " of them than instances"
            )
        if self.machines > self.instances:
            raise ValueError(
                f"has {self.machines} virtual machines among {self.instances} instances; expected no more of"
                " them than instances"
            )
        return self

    @property
    def machines(self) -> int:
        """How many of its instances, the last ones, are virtual machines."""
        if self.vm is None:
            return 0
        return self.instances if self.vm.instances is None else self.vm.instances


class Cloud(LabSection):
    """What carries the tenants' networks on this host: nodes, switches and filters as of OpenStack."""

    compute_nodes: int = Field(
        default=1, ge=1, le=2, description="nodes with instances, beside the one with the routers"
    )
    security: Security = Field(
        default="bridge-filter",
        description="how security groups and anti-spoofing are done: in a Linux bridge for each instance, by "
        "flows of the integration bridge, or not at all",
    )
    isolation: Isolation = Field(default="vxlan", description="how nodes keep networks apart on their wire")
    router: Router = Field(
        default="linux",
        description="what routes for tenants, and translates: Linux, or weir's acl, nat and l3fwd in "
        "weir-dp, which polls on the tester's core",
    )
    external: _Subnet = Field(
        default="198.18.0.0/16",
        description="the network outside, for routers' and floating addresses",
        examples=["198.18.0.0/16"],
    )
    functions: tuple[TenantFunction, ...] = Field(
        default=(),
        max_length=FUNCTIONS_MAX,
        description="that tenants share: through which their routers reach the host outside, and it them, in "
        "this order; instances of the external network, which nodes carry as one of their own",
    )


class TenantsFile(LabSection):
    """A cloud of tenants, for `weir deploy` and `weir run`."""

    weir: Literal[1] = Field(description="version of this format")
    name: Name = Field(description="of what is deployed")
    description: str = Field(default="", max_length=2000, description="what it is for")
    cloud: Cloud = Field(default_factory=Cloud, description="how it is built")
    tenants: tuple[Tenant, ...] = Field(min_length=1, max_length=TENANTS_MAX, description="who has instances")
    traffic: TenantsTraffic = Field(default_factory=TenantsTraffic, description="what `weir run` sends")
    tester: TenantsTester = Field(default_factory=TenantsTester, description="who sends it")
    measure: TenantsMeasure = Field(default_factory=TenantsMeasure, description="what `weir run` measures")
    cores: TenantsCores = Field(default_factory=TenantsCores, description="where `weir run` measures it")

    @property
    def title(self) -> str:
        """What reports call it."""
        return self.description

    def within(self, folder: Path) -> TenantsFile:
        """With every function's directory where it lies, beside the lab file in that folder."""

        def there(functions: tuple[TenantFunction, ...]) -> dict[str, object]:
            placed = (
                function.model_copy(update={"directory": str(folder / (function.directory or ""))})
                for function in functions
            )
            return {"functions": tuple(placed)}

        tenants = tuple(
            one.model_copy(
                update={
                    **there(one.functions),
                    "system": _within(one.system, folder),
                    "vm": _within(one.vm, folder),
                }
            )
            for one in self.tenants
        )
        cloud = self.cloud.model_copy(update=there(self.cloud.functions))
        return self.model_copy(update={"tenants": tenants, "cloud": cloud})

    def compared(self) -> tuple[TenantsFile, ...]:
        """One for each cloud that is measured: ways to filter, of each kinds of routers, and of each of those
        numbers of shared functions. The first is what ratios refer to."""
        numbers = self.measure.functions or (len(self.cloud.functions),)
        return tuple(
            self.model_copy(
                update={
                    "cloud": self.cloud.model_copy(
                        update={
                            "security": way,
                            "router": router,
                            "functions": self.cloud.functions[:number],
                        }
                    )
                }
            )
            for way in self.measure.security or (self.cloud.security,)
            for router in self.measure.router or (self.cloud.router,)
            for number in numbers
        )

    def sending(self) -> tuple[int, ...]:
        """How many tenants take part at once, in turn."""
        return self.measure.sending or tuple(
            dict.fromkeys((1, min(len(self.all_tenants()), self.sending_most)))
        )

    @property
    def sending_most(self) -> int:
        """As many as there are streams for."""
        return STREAMS_MAX // len(self.tester.directions)

    def measured(self) -> int:
        """How many tenants, the first ones, take part in some round, be it as its background."""
        return max(self.sending()) if self.measure.background is None else len(self.all_tenants())

    def all_tenants(self) -> list[tuple[str, Tenant]]:
        """Each tenant by its own name, in order."""
        return [
            (f"{one.name}-{number}" if one.count > 1 else one.name, one)
            for one in self.tenants
            for number in range(1, one.count + 1)
        ]


def _within(section: _Section | None, folder: Path) -> _Section | None:
    if section is None:
        return None
    return section.model_copy(update={key: str(folder / name) for key, name in section.files().items()})
