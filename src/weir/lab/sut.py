# SPDX-License-Identifier: Apache-2.0
"""The file of a system under test: a cloud, what is verified of it, and its service level; from the file to
what it says, or to all that is wrong with it."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal, Self, get_args

from pydantic import BeforeValidator, Field, model_validator

from weir.base.cloud import Isolation, Security
from weir.base.record import ONE_OR_MANY, SCHEMA_ID, LabSection, listed
from weir.lab.application import Application, CallLimits
from weir.lab.complaint import Complaint
from weir.lab.lab import Name
from weir.lab.performance import Performance, performance_complaints
from weir.lab.read_checked import read_checked
from weir.lab.sanity import Sanity, ScenarioSla, sanity_complaints
from weir.lab.sla import Sla
from weir.lab.source import FileKind
from weir.lab.units import Seconds

SUT = FileKind("a system under test", "sut.yml", "weir, name, driver")
SuiteName = Literal["healthcheck", "sanity", "performance", "application"]
SUITES: tuple[SuiteName, ...] = get_args(SuiteName)
DriverName = Literal["local", "openstack"]
ImageFormat = Literal["qcow2", "raw", "vmdk", "vhd", "iso"]
VnicType = Literal["normal", "direct", "macvtap", "direct-physical", "vdpa"]
Named = Annotated[str, Field(min_length=1, max_length=255)]


class LocalCloud(LabSection):
    """How the cloud on this host is built: keys as of a lab's `cloud`."""

    compute_nodes: int = Field(default=2, ge=1, le=2, description="nodes with instances")
    security: Security = Field(default="bridge-filter", description="how security groups are done")
    isolation: Isolation = Field(default="vxlan", description="how nodes keep networks apart on their wire")


class NewFlavor(LabSection):
    """A flavor that is made for each case; that takes an administrator's rights."""

    vcpus: int = Field(default=1, ge=1, le=512, description="virtual processors")
    ram_mib: int = Field(default=512, ge=32, le=4 << 20, description="memory")
    disk_gib: int = Field(default=1, ge=0, le=65_536, description="of the root disk")
    extra_specs: dict[Named, Annotated[str, Field(max_length=255)]] = Field(
        default_factory=dict,
        description="such as hw:cpu_policy and hw:mem_page_size",
        examples=[{"hw:cpu_policy": "dedicated", "hw:mem_page_size": "large"}],
    )

    def __str__(self) -> str:
        made = f"of {self.vcpus} vCPU, {self.ram_mib} MiB"
        return ", ".join([made, *(f"{key}={value}" for key, value in sorted(self.extra_specs.items()))])


class CloudChains(LabSection):
    """Where chains of the suite `performance` stand, and how the tester on this host reaches them."""

    interface: Annotated[str, Field(pattern=r"^[^\s/:.][^\s/:]{0,14}$")] = Field(
        description="of this host, which leads to `network` at layer 2: the tester gets a device of its own "
        "on it (macvlan), and the interface stays as it is",
        examples=["ens1f1"],
    )
    network: Named | None = Field(
        default=None,
        description="of which instances get a port, a provider network: name or identifier; absent: the "
        "external one",
    )
    image: Named | None = Field(
        default=None,
        description="whose servers forward by themselves: name or identifier; absent: that of the cloud, "
        "whose Linux a script (user data) makes forward",
    )


class OpenStackCloud(LabSection):
    """A cloud that is reached by OpenStack's API. Who and where is in clouds.yaml, and stays there."""

    cloud: Named = Field(description="its name in clouds.yaml")
    region: Named | None = Field(default=None, description="absent: that of clouds.yaml")
    external_network: Named = Field(description="that floating addresses are of: name or identifier")
    image: Named | None = Field(default=None, description="name or identifier of an image that is there")
    image_file: Named | None = Field(
        default=None, description="in place of `image`: a file that each case uploads and removes"
    )
    image_format: ImageFormat = Field(default="qcow2", description="of `image_file`")
    flavor: Named | None = Field(default=None, description="name or identifier of a flavor that is there")
    new_flavor: NewFlavor | None = Field(default=None, description="in place of `flavor`: one that is made")
    subnet: Annotated[str, Field(pattern=r"^\d+\.\d+\.\d+\.\d+/\d+$")] = Field(
        default="10.0.0.0/24", description="of each network that is made"
    )
    ssh_user: Named = Field(default="debian", description="whom the image lets in by SSH")
    vnic_type: VnicType = Field(default="normal", description="of the servers' ports; direct: SR-IOV")
    availability_zone: Named | None = Field(default=None, description="of the servers; absent: any")
    chains: CloudChains | None = Field(
        default=None, description="of the suite `performance`; absent: its cases are skipped"
    )

    @model_validator(mode="after")
    def _one_of_each(self) -> Self:
        if (self.image is None) == (self.image_file is None):
            raise ValueError("needs one of image and image_file")
        if (self.flavor is None) == (self.new_flavor is None):
            raise ValueError("needs one of flavor and new_flavor")
        return self


class CaseTimes(LabSection):
    """Upper limits on the time of cases; absent: not judged."""

    max: Annotated[Seconds, Field(gt=0, le=86_400)] | None = Field(default=None, description="of the longest")


class SutSla(LabSection):
    """The service level: of every suite, its cases taken together; and of calls."""

    failure_ratio: float = Field(default=0.0, ge=0, lt=1, description="share of the cases that may fail")
    time_s: CaseTimes = Field(
        default=CaseTimes(), description="that a case takes, clean-up left out; not of cases that measure"
    )
    scenarios: ScenarioSla = Field(default=ScenarioSla(), description="of each scenario of `sanity`")
    chains: Sla = Field(
        default=Sla(), description="of each case of `performance`, as `sla` of a lab: throughput and delay"
    )
    calls: CallLimits = Field(default=CallLimits(), description="of `sip_calls`")


class SutFile(LabSection):
    """A cloud and what is verified of it, for `weir verify`."""

    weir: Literal[1] = Field(description="version of this format")
    name: Name = Field(description="of the system under test")
    description: str = Field(default="", max_length=2000, description="what it is")
    driver: DriverName = Field(
        default="local",
        description="local: Weir's own tenants' networks and instances, on this host; openstack: another",
    )
    local: LocalCloud = Field(default_factory=LocalCloud, description="of `driver: local`")
    openstack: OpenStackCloud | None = Field(default=None, description="of `driver: openstack`")
    suites: Annotated[tuple[SuiteName, ...], ONE_OR_MANY, BeforeValidator(listed)] = Field(
        default=SUITES,
        min_length=1,
        description="what `--suite all` runs; absent: those that the driver can run (openstack: without "
        "application, and with performance if there is `openstack.chains`)",
    )
    sanity: Sanity = Field(default_factory=Sanity, description="the scenarios of the suite of that name")
    performance: Performance = Field(
        default_factory=Performance, description="chains and factors of the suite of that name"
    )
    application: Application = Field(
        default_factory=Application, description="functions and calls of the suite of that name"
    )
    case_time_limit_s: Seconds = Field(
        default=300.0, gt=0, le=86_400, description="after which a case has failed, whatever it waits for"
    )
    sla: SutSla = Field(default_factory=SutSla, description="what must hold")

    @model_validator(mode="after")
    def _its_driver_knows_its_cloud(self) -> Self:
        if (self.driver == "openstack") != (self.openstack is not None):
            raise ValueError("driver openstack and the section openstack belong together")
        return self

    @model_validator(mode="after")
    def _suites_that_its_driver_can_run(self) -> Self:
        """A suite that would be skipped as a whole is run for who names it."""
        if self.openstack is not None and "suites" not in self.model_fields_set:
            lacked = {"application"} if self.openstack.chains is not None else {"application", "performance"}
            can = tuple(one for one in SUITES if one not in lacked)
            object.__setattr__(self, "suites", can)  # frozen, and not handed to anybody yet
        return self

    @property
    def title(self) -> str:
        """What reports call it."""
        return self.description or self.name


@functools.cache
def sut_schema() -> dict[str, Any]:
    """The schema of such a file."""
    return {"$schema": SCHEMA_ID, **SutFile.model_json_schema(), "title": "Weir system under test"}


def load_sut(path: str | Path) -> SutFile:
    """Reads and checks one, or `sut.yml` in a directory. LabFileError has all its problems."""
    return read_checked(path, SUT, SutFile, sut_schema(), _complaints)


def _complaints(sut: SutFile) -> Iterator[Complaint]:
    yield from performance_complaints(sut.performance, sut.sla.chains)
    yield from sanity_complaints(sut.sla.scenarios)
