# SPDX-License-Identifier: Apache-2.0
"""Step kind tap: the interface through which the kernel reaches a virtual machine's port."""

from __future__ import annotations

import fcntl
import os
import struct
from collections.abc import Mapping
from typing import Any

from weir.fabric import namespace
from weir.fabric.links import MTU_BYTES, delete, index
from weir.fabric.step_kind import Facts, Site
from weir.plan import Step

_DEVICE = "/dev/net/tun"
_SET_INTERFACE, _SET_PERSISTENT = 0x400454CA, 0x400454CB  # TUNSETIFF, TUNSETPERSIST of <linux/if_tun.h>
_TAP, _NO_PACKET_INFO, _VIRTIO_HEADER, _SEVERAL_QUEUES = 0x0002, 0x1000, 0x4000, 0x0100


class Tap:
    """A tap interface that stays when nobody has it open."""

    def do(self, step: Step, site: Site) -> Facts:
        """Makes it, up."""
        netns, name, queues = (step.params[key] for key in ("netns", "interface", "queues"))
        flags = _TAP | _NO_PACKET_INFO | _VIRTIO_HEADER
        flags |= _SEVERAL_QUEUES if int(str(queues)) > 1 else 0
        with namespace.inside(str(netns)):
            fd = os.open(_DEVICE, os.O_RDWR | os.O_CLOEXEC)
            try:
                fcntl.ioctl(fd, _SET_INTERFACE, struct.pack("16sH22x", str(name).encode(), flags))
                fcntl.ioctl(fd, _SET_PERSISTENT, 1)
            finally:
                os.close(fd)
        route = site.route(str(netns))
        route.link("set", index=index(site, str(netns), str(name)), mtu=MTU_BYTES, state="up")
        return {}

    def undo(self, params: Mapping[str, Any], facts: Facts, site: Site) -> None:  # noqa: ARG002
        """Deletes it."""
        delete(site, str(params["netns"]), str(params["interface"]))
