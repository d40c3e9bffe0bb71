# SPDX-License-Identifier: Apache-2.0
"""`vm` of a function and of a tenant: the virtual machines that they are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, get_args

from pydantic import Field

from weir.base.node import Accelerator, Forwarder
from weir.base.record import LabSection
from weir.lab.units import Seconds

FORWARDERS: tuple[Forwarder, ...] = get_args(Forwarder)
_READY, _BOOTED = "text on the serial console of `image` after which ", "longest time until "


class GuestOptions(LabSection):
    """A virtual machine and its guest."""

    image: str | None = Field(default=None, min_length=1, examples=["router.qcow2"])
    image_format: Literal["qcow2", "raw"] = Field(
        default="qcow2", description="of `image`; a qcow2 image with a backing or data file is refused"
    )
    user_data: str | None = Field(
        default=None, min_length=1, examples=["user-data.yml"], description="file for cloud-init in `image`"
    )
    ready: str = Field(default="login:", min_length=1, max_length=100, description=f"{_READY}it is up")
    overlay_mb: int = Field(
        default=4096,
        ge=16,
        le=1 << 24,
        description="most that the guest may write beside `image`, on the disk of WEIR_GUEST_DIR, in MiB",
    )
    vcpus: int = Field(default=1, ge=1, le=64, description="virtual CPUs")
    memory_mb: int = Field(default=512, ge=128, le=1 << 20, description="memory")
    accel: Accelerator = Field(
        default="auto",
        description="auto: kvm where it boots a guest (never run on hardware), else tcg, which emulates the "
        "processor",
    )
    boot_time_limit_s: Seconds = Field(default=120.0, gt=0, le=3600, description=f"{_BOOTED}it is up")

    def files(self) -> Mapping[str, str]:
        """That it names, by key."""
        found = {"image": self.image, "user_data": self.user_data}
        return {key: value for key, value in found.items() if value is not None}


class VmOptions(GuestOptions):
    """A virtual machine with two ports, left and right."""

    forwarder: Forwarder | None = Field(
        default=None,
        description="what forwards in it, from an image that `weir image build` made: weir-dp, with the "
        "function's `nf` or `chain`; or the guest's kernel, which rewrites MAC addresses; absent: weir-dp, "
        "unless `image` says otherwise",
    )
    image: str | None = Field(
        default=None,
        min_length=1,
        examples=["router.qcow2"],
        description="instead of `forwarder`: a disk image of yours, which is never written to",
    )
    ready: str = Field(default="login:", min_length=1, max_length=100, description=f"{_READY}it forwards")
    vcpus: int = Field(default=1, ge=1, le=64, description="virtual CPUs; each pinned to a core of functions")
    hugepages: bool = Field(default=False, description="memory from the host's 2 MiB hugepages")
    queues: int = Field(default=1, ge=1, le=16, description="pairs of queues of each port")
    boot_time_limit_s: Seconds = Field(default=120.0, gt=0, le=3600, description=f"{_BOOTED}it forwards")

    def forwards_by(self) -> Forwarder | None:
        """What forwards; None: an image of the user's, which nobody knows."""
        return None if self.image is not None else self.forwarder or "weir-dp"


class InstanceVm(GuestOptions):
    """Instances of a tenant that are virtual machines, each with a tap at its node and an address by DHCP."""

    instances: int | None = Field(
        default=None, ge=1, description="how many of the tenant's: its last ones; absent: all"
    )
    image: str | None = Field(
        default=None,
        min_length=1,
        examples=["server.qcow2"],
        description="a disk image of yours, which is never written to, and which asks for its address by "
        "DHCP; absent: a guest of `weir image build --forwarder kernel`, in which `weir exec` runs programs",
    )
    memory_mb: int = Field(default=256, ge=128, le=1 << 20, description="memory")
