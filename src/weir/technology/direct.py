# SPDX-License-Identifier: Apache-2.0
"""`direct`: no switch, each port is wired straight to the next."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from weir.base.node import PortKind
from weir.technology.descriptor import QUEUE, Forwarding, QueueSize, Technology, TechnologyOptions


class DirectOptions(TechnologyOptions):
    """No switch: each port is wired straight to the next. The upper bound that SR-IOV reaches."""

    wire: Literal["virtio-user", "memory"] = Field(
        default="virtio-user",
        description="virtio-user: virtio and vhost, which copy as a VM's port does; memory: rings, no copies",
    )
    queue_size: QueueSize = Field(default=4096, description=QUEUE)


def _ends(options: DirectOptions) -> tuple[PortKind, PortKind]:
    return ("memory", "memory") if options.wire == "memory" else ("virtio-user", "vhost")


TECHNOLOGY = Technology(
    name="direct",
    options=DirectOptions,
    ends=_ends,
    switch="none",
    network=False,
    no_interface="its wires are memory that weir-dp shares with itself",
    forwarding=lambda _options: Forwarding("wire"),
    program_ports=("program-virtio-user", "program-vhost-user", "program-memif"),
    functions_apart=True,
    joins_hosts=True,
    spans=True,
)
