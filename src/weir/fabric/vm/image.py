# SPDX-License-Identifier: Apache-2.0
"""Guest images of `weir image build`: a kernel and an initramfs, kept by what they are made of.

`<cache>/images/<digest>/` holds `vmlinuz`, `initramfs` and `image.json`; `<cache>/images/<forwarder>` leads
to the newest one of its kind.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path

from weir.base.error import FabricError
from weir.base.node import Forwarder

PRIMARY_DRIVER = "vmxnet3"
"""Of the emulated card that stands for a virtual function in a failover pair: net_failover pairs only cards
that are on the PCI bus themselves, and Debian's cloud kernel has no driver of another that QEMU emulates."""


@dataclass(frozen=True)
class Image:
    """A guest image that is there."""

    digest: str
    kernel: Path
    initramfs: Path
    made_of: dict[str, str]  # what, version


def cache() -> Path:
    """$XDG_CACHE_HOME/weir, or ~/.cache/weir."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "weir"


def found(forwarder: Forwarder) -> Image:
    """The newest image of that kind. FabricError if none was built."""
    directory = cache() / "images" / forwarder
    try:
        made_of = json.loads((directory / "image.json").read_text(encoding="utf-8"))
    except OSError as error:
        raise FabricError(
            f"there is no guest image in which {forwarder} forwards",
            f"run `weir image build --forwarder {forwarder}`",
        ) from error
    return Image(directory.resolve().name, directory / "vmlinuz", directory / "initramfs", made_of)


def of_role(role: str) -> Image | None:
    """What guests of that role boot, a GuestRole; None of "": an image of the user's. FabricError if none was
    built. A host boots the image whose kernel forwards, and forwards nothing."""
    if role == "":
        return None
    made = found("weir-dp" if role == "weir-dp" else "kernel")
    if role == "host" and role not in made.made_of.get("roles", ""):
        raise FabricError(
            f"the guest image {made.digest} is of an earlier Weir, and cannot be an instance of a tenant",
            "make a new one: `weir image build --forwarder kernel`",
        )
    return made
