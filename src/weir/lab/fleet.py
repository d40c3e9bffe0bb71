# SPDX-License-Identifier: Apache-2.0
"""The fleet file: hosts, the chains that they are to carry, and what must not stand together.

Amounts are of one host, one NUMA node or one chain; `count` says how many there are alike.
"""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from weir.base.record import LabSection
from weir.lab.lab import Name
from weir.lab.measure import Load

CHAINS_MAX = 100_000
HOSTS_MAX = 10_000

ClassName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]{0,15}$", examples=["compact"])]
_Gigabytes = Annotated[float, Field(ge=0, le=1e6)]
_Gigabits = Annotated[float, Field(ge=0, le=1e5)]
_AtMost = Annotated[int, Field(ge=1, le=CHAINS_MAX)]
_Cycles = Annotated[float, Field(gt=0, le=1e9)]


class NumaNode(LabSection):
    """Memory, cores and links of one NUMA node, as far as chains may have them."""

    count: int = Field(default=1, ge=1, le=16, description="nodes of the host that are alike")
    cores: int = Field(ge=0, le=4096, description="cores for chains, without those of system and switch")
    memory_gb: _Gigabytes = Field(description="memory for chains, without hugepages")
    hugepages_gb: _Gigabytes = Field(default=0, description="memory in hugepages for chains")
    link_gbps: _Gigabits | None = Field(
        default=None, description="of the network ports at this node; absent: the host's `link_gbps`"
    )


class FleetHost(LabSection):
    """A class of hosts that are alike."""

    count: int = Field(default=1, ge=1, le=HOSTS_MAX, description="how many")
    numa: tuple[NumaNode, ...] = Field(min_length=1, max_length=16, description="NUMA nodes")
    link_gbps: _Gigabits | None = Field(
        default=None, description="of all network ports together; absent: not limited beyond the nodes"
    )
    cpu_ghz: float = Field(default=2.0, ge=0.1, le=10, description="clock of its cores")
    cur: float = Field(
        default=0.8,
        gt=0,
        le=1,
        description="share of a core's time that packets may take (CUR); rest: reserve",
    )
    cost: float = Field(default=1.0, gt=0, le=1e6, description="of one host in use, in any unit")
    zone: ClassName = Field(default="all", description="rack, room or site that fails or is cut off together")


class FleetChain(LabSection):
    """A class of chains that are alike. Each stands on one NUMA node."""

    count: int = Field(default=1, ge=1, le=CHAINS_MAX, description="how many")
    cores: int | None = Field(
        default=None, ge=0, le=4096, description="cores of its own; absent: from rate and cycles"
    )
    rate_pps: Load | None = Field(default=None, description="packets that it must carry")
    cycles_per_packet: tuple[_Cycles, ...] = Field(
        default=(),
        max_length=64,
        description="cost of each execution area, as `weir lean` measures it; each has cores of its own: "
        "rate × cycles / (clock × CUR), rounded up",
    )
    frame_bytes: int | None = Field(
        default=None, ge=64, le=9600, description="mean frame with FCS; with the rate: the link that it takes"
    )
    link_gbps: _Gigabits | None = Field(
        default=None,
        description="of each direction, with preamble and gap; absent: from rate and frame, or 0",
    )
    memory_gb: _Gigabytes = Field(default=0, description="memory beside hugepages")
    hugepages_gb: _Gigabytes = Field(default=0, description="memory in hugepages")
    hosts: tuple[ClassName, ...] | None = Field(
        default=None, min_length=1, description="classes of hosts that it may stand on; absent: all"
    )
    zones: tuple[ClassName, ...] | None = Field(
        default=None, min_length=1, description="zones that it may stand in; absent: all"
    )
    per_host: _AtMost | None = Field(default=None, description="at most so many of them on one host")
    per_zone: _AtMost | None = Field(default=None, description="at most so many of them in one zone")

    @model_validator(mode="after")
    def _sized(self) -> Self:
        if (self.cores is None) == (self.rate_pps is None or not self.cycles_per_packet):
            raise ValueError("has no size, or two; expected `cores`, or `rate_pps` with `cycles_per_packet`")
        if self.cores is not None and self.cycles_per_packet:
            raise ValueError("says its cores and its cycles; expected only one of them")
        if self.frame_bytes is not None and (self.rate_pps is None or self.link_gbps is not None):
            raise ValueError("has a frame that says nothing; expected `rate_pps` with it, and no `link_gbps`")
        return self


class AntiAffinity(LabSection):
    """Chains that must not all fail together: of all these classes at most so many in one place."""

    chains: tuple[ClassName, ...] = Field(min_length=1, description="classes of chains, counted together")
    per_host: _AtMost | None = Field(default=None, description="on one host")
    per_zone: _AtMost | None = Field(default=None, description="in one zone")

    @model_validator(mode="after")
    def _limits(self) -> Self:
        if self.per_host is None and self.per_zone is None:
            raise ValueError("limits nothing; expected `per_host`, `per_zone` or both")
        return self


class FleetFile(LabSection):
    """Hosts, and the chains that they are to carry."""

    weir: Literal[1] = Field(description="version of the fleet file's format")
    name: Name = Field(description="short name: small letters, digits and hyphens, 32 at most")
    title: str = Field(default="", max_length=200, description="what it is")
    hosts: dict[ClassName, FleetHost] = Field(min_length=1, description="classes of hosts")
    chains: dict[ClassName, FleetChain] = Field(min_length=1, description="classes of chains")
    anti_affinity: tuple[AntiAffinity, ...] = Field(
        default=(), max_length=1000, description="what must not stand together"
    )
