# SPDX-License-Identifier: Apache-2.0
"""`vm` of a function: the virtual machine that it runs in."""

from __future__ import annotations

from typing import Literal, get_args

from pydantic import Field

from weir.base.node import Accelerator, Forwarder
from weir.base.record import LabSection
from weir.lab.units import Seconds

FORWARDERS: tuple[Forwarder, ...] = get_args(Forwarder)


class VmOptions(LabSection):
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
    image_format: Literal["qcow2", "raw"] = Field(
        default="qcow2", description="of `image`; a qcow2 image with a backing or data file is refused"
    )
    user_data: str | None = Field(
        default=None, min_length=1, examples=["user-data.yml"], description="file for cloud-init in `image`"
    )
    ready: str = Field(
        default="login:",
        min_length=1,
        max_length=100,
        description="text on the serial console of `image` after which it forwards",
    )
    overlay_mb: int = Field(
        default=4096,
        ge=16,
        le=1 << 24,
        description="most that the guest may write beside `image`, on the disk of WEIR_GUEST_DIR, in MiB",
    )
    vcpus: int = Field(default=1, ge=1, le=64, description="virtual CPUs; each pinned to a core of functions")
    memory_mb: int = Field(default=512, ge=128, le=1 << 20, description="memory")
    hugepages: bool = Field(default=False, description="memory from the host's 2 MiB hugepages")
    queues: int = Field(default=1, ge=1, le=16, description="pairs of queues of each port")
    accel: Accelerator = Field(
        default="auto",
        description="auto: kvm where it boots a guest (never run on hardware), else tcg, which emulates the "
        "processor",
    )
    boot_time_limit_s: Seconds = Field(
        default=120.0, gt=0, le=3600, description="longest time until it forwards"
    )

    def forwards_by(self) -> Forwarder | None:
        """What forwards; None: an image of the user's, which nobody knows."""
        return None if self.image is not None else self.forwarder or "weir-dp"
