# SPDX-License-Identifier: Apache-2.0
"""Step kind guests: the user that a deployment's QEMUs run as, where their sockets are, and a directory on
disk for what grows: overlays, seeds, consoles and logs.

Not the run directory, which is in the machine's memory on most systems. The directory belongs to root; QEMU
gets its files as open descriptors. A link in it leads to its deployment's journal, so that one whose
deployment is gone, as after a reboot, can be told from one in use.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from weir.base.error import FabricError
from weir.base.node import GUESTS
from weir.fabric import own_user
from weir.fabric.site import LOGS, Facts, Site
from weir.plan import Step

STEP = "guests"
JOURNAL = "journal"
_BYTES_A_BLOCK = 512  # st_blocks, stat(2)
_CLUSTERS_BYTES_SHARE = 2048  # qcow2: 8 bytes of tables and 2 of counts for 64 KiB, and some to spare
_HEADER_BYTES = 1 << 20
_NEAR_BYTES = 4 << 20  # to a limit that was met: what is written at once fits below it no more


@dataclass(frozen=True)
class Stored:
    """Files of one virtual machine on disk."""

    directory: Path
    node: str

    @property
    def overlay(self) -> Path:
        """What the guest writes to instead of the user's image."""
        return self.directory / f"{self.node}.qcow2"

    @property
    def seed(self) -> Path:
        """What cloud-init reads, as a directory that QEMU shows as a disk."""
        return self.directory / f"{self.node}.seed"

    @property
    def serial(self) -> Path:
        """What the guest says on its serial console; what it said before is in a second file."""
        return self.directory / f"{self.node}.serial"

    def console(self) -> bytes:
        """What is kept of what the guest said."""
        said = b""
        for path in (self.serial.with_name(f"{self.serial.name}.before"), self.serial):
            with suppress(FileNotFoundError):
                said += path.read_bytes()
        return said

    @property
    def log(self) -> Path:
        """What QEMU says."""
        return self.directory / f"{self.node}.qemu.log"


def root() -> Path:
    """Where guests' files are: $WEIR_GUEST_DIR, or /var/lib/weir/guests."""
    return Path(os.environ.get("WEIR_GUEST_DIR") or "/var/lib/weir/guests")


def stored(site: Site, node: str) -> Stored:
    """Of a deployment in which the step stands."""
    return Stored(Path(str(site.facts_of(STEP)["guests"])), node)


def user_of(site: Site) -> int:
    """Who its QEMUs run as."""
    return int(site.facts_of(STEP)["user"])


def left() -> list[Path]:
    """Directories of deployments that have no journal any more."""
    with suppress(FileNotFoundError):
        links = [one / JOURNAL for one in sorted(root().iterdir())]
        return [link.parent for link in links if link.is_symlink() and not link.exists()]
    return []


class Guests:
    """What all virtual machines of a deployment share."""

    def do(self, step: Step, site: Site) -> Facts:  # noqa: ARG002
        """FabricError if there is no place for it, or somebody else's directory of that name."""
        directory, number = (root() / site.deployment).absolute(), own_user.unused_id(site.deployment)
        if directory.exists():
            raise FabricError(
                f"there is a {directory} already", "it is not this deployment's: see `weir doctor`"
            )
        site.note({"guests": str(directory), "user": number, LOGS: str(directory)})
        try:
            directory.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
            directory.mkdir(mode=0o700)
            (directory / JOURNAL).symlink_to(site.journal.absolute())
        except OSError as error:
            raise FabricError(
                f"cannot make {directory} for what guests write: {error.strerror}",
                "set WEIR_GUEST_DIR to a directory on a disk with space",
            ) from error
        # Sockets are QEMU's to make. It is started there, since it may not pass through what is above.
        sockets = site.directory / GUESTS
        sockets.mkdir(mode=0o700)
        os.chown(sockets, number, number)
        return {}

    def undo(self, params: Mapping[str, Any], facts: Facts, site: Site) -> None:  # noqa: ARG002
        """Removes the directory on disk with all that is in it; the sockets go with the run directory."""
        with suppress(FileNotFoundError, NotADirectoryError):
            if "guests" in facts:
                shutil.rmtree(str(facts["guests"]))


def overlay_bytes(disk_bytes: int, limit_bytes: int) -> int:
    """The most that an overlay on such a disk takes."""
    return min(limit_bytes, disk_bytes + disk_bytes // _CLUSTERS_BYTES_SHARE + _HEADER_BYTES)


def require_space(site: Site, directory: Path, node: str, needed_bytes: int) -> None:
    """FabricError if the disk has less free than that beside what other overlays on it may still take.

    Within `site.alone()` until the overlay is noted: others must not count the same space meanwhile.
    """
    found = os.statvfs(directory)
    free_bytes = found.f_bavail * found.f_frsize
    promised = [
        site.noted("overlay"),
        *([one["overlay"]] for one in site.elsewhere("vm-seed") if "overlay" in one),
    ]
    device = directory.stat().st_dev
    free_bytes -= sum(_may_grow_bytes(one, device) for several in promised for one in several)
    if needed_bytes > free_bytes:
        raise FabricError(
            f"{node} may write {_mib(needed_bytes)} to its disk, and {directory} has"
            f" {_mib(max(0, free_bytes))} free beside what other guests may write",
            "make space, set WEIR_GUEST_DIR to a directory on another disk, or lower vm.overlay_mb",
        )


def why_full(site: Site, node: str) -> str:
    """Why a guest could not write to its overlay."""
    its, limit_bytes = stored(site, node), overlay_limit_bytes(site, node)
    if its.overlay.stat().st_size + _NEAR_BYTES > limit_bytes:
        return f"it has written {_mib(limit_bytes)}, which is all that it may"
    free = os.statvfs(its.directory)
    return f"{_mib(free.f_bavail * free.f_frsize)} are free in {its.directory}"


def overlay_limit_bytes(site: Site, node: str) -> int:
    """Of an overlay that stands; 0: this machine has none."""
    try:
        return int(site.facts_of(f"vm-seed:{node}")["overlay"]["bytes"])
    except KeyError:
        return 0


def _may_grow_bytes(overlay: Mapping[str, Any], device: int) -> int:
    path, taken = Path(str(overlay["path"])), 0
    try:
        with suppress(FileNotFoundError):  # it is promised, and about to be made
            taken = path.stat().st_blocks * _BYTES_A_BLOCK
        return max(0, int(overlay["bytes"]) - taken) if path.parent.stat().st_dev == device else 0
    except OSError:
        return 0


def _mib(size_bytes: int) -> str:
    return f"{size_bytes / (1 << 20):.0f} MiB"
