# SPDX-License-Identifier: Apache-2.0
"""`weir image`: the guest images that functions of kind vm, and tenants' instances, boot."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from weir.base import SOURCE_TREE
from weir.cli.exits import USAGE, CommandError, reporting
from weir.cli.help import Command, Group

image = typer.Typer(
    cls=Group, help="Guest images for functions and instances in virtual machines.", no_args_is_help=True
)


@image.callback()
def options() -> None:
    """Guest images for functions and instances in virtual machines."""


@image.command(cls=Command)
@reporting
def build(
    *,
    forwarder: Annotated[
        list[str] | None,
        typer.Option(
            "--forwarder",
            help="What forwards in it: kernel (instances of tenants boot it too) or weir-dp; absent: both.",
        ),
    ] = None,
    weir_dp: Annotated[
        Path | None,
        typer.Option(
            "--weir-dp",
            help="A data plane that runs on the guest's processor; absent: built here for any, from "
            "source; where Weir was installed, the installed one.",
        ),
    ] = None,
) -> None:
    """Make the guest images. Debian's kernel, and a few programs of this host in an initramfs.

    Nothing is installed, and an image that is there already is found again by what it is made of. Needs
    apt-get, and the packages busybox-static, ethtool, iproute2 and socat.
    """
    from weir.fabric.built import built
    from weir.fabric.vm import image_build
    from weir.lab.vm import FORWARDERS

    unknown = [name for name in forwarder or () if name not in FORWARDERS]
    if unknown:
        raise CommandError(f"unknown forwarder {unknown[0]!r}; expected {' or '.join(FORWARDERS)}", USAGE)
    for kind in FORWARDERS:
        if forwarder and kind not in forwarder:
            continue
        if kind == "weir-dp" and weir_dp is None:
            if SOURCE_TREE is None:
                weir_dp = built("weir-dp")
            else:
                print(f"building weir-dp for {image_build.MARCH}: some minutes the first time")
                weir_dp = image_build.portable_weir_dp(SOURCE_TREE)
        made, new = image_build.build(kind, weir_dp if kind == "weir-dp" else None)
        state = "made" if new else "there already"
        print(f"{kind}: {made.digest} {state}, {made.made_of['kernel']}, in {made.kernel.parent.resolve()}")
