# SPDX-License-Identifier: Apache-2.0
"""`system` of a tenant: what its instances that are namespaces are booted with."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import Field

from weir.base.record import LabSection


class SystemOptions(LabSection):
    """A small system in each of a tenant's instances, as an image has one: files and processes of its own
    (busybox), SSH (dropbear), and a script at its start."""

    ssh_keys: str | None = Field(
        default=None,
        min_length=1,
        description="file with public keys of those who may log in as root; absent: nobody may",
        examples=["id_ed25519.pub"],
    )
    user_data: str | None = Field(
        default=None,
        min_length=1,
        description="script (#!/bin/sh) that is run once when it is up, as of cloud-init; its output is on "
        "the console",
        examples=["user-data.sh"],
    )
    memory_limit_mb: int = Field(default=128, ge=16, le=1 << 20, description="memory of all in it, in MiB")
    processes: int = Field(default=64, ge=4, le=1 << 15, description="processes and threads in it")

    def files(self) -> Mapping[str, str]:
        """That it names, by key."""
        found = {"ssh_keys": self.ssh_keys, "user_data": self.user_data}
        return {key: value for key, value in found.items() if value is not None}
