# SPDX-License-Identifier: Apache-2.0
"""Run directories of this machine, so that what deployments of one add to the host is known to the others.

Root's that are not the usual one have a link beside that, as long as there are journals in them. Whoever
looks at the links, or changes them, holds the lock of the usual one.
"""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from pathlib import Path

from weir.base.error import FabricError
from weir.fabric.journal import journals, make_run_root, root
from weir.fabric.lock import Lock

USUAL = Path("/run/weir")
HOST_LOCK = "host.lock"
_LINKS = "run-directories"


def meeting() -> list[Path]:
    """The directory whose lock all of them take; none where that is this one's, or nobody can write there."""
    if os.geteuid() != 0 or _is_own(USUAL):
        return []
    with suppress(OSError):
        make_run_root(USUAL)
    return [USUAL] if USUAL.is_dir() and os.access(USUAL, os.W_OK) else []


def others() -> list[Path]:
    """All but this process's, which they know from now on. Within the lock."""
    if os.geteuid() != 0:
        return []
    with suppress(OSError):  # nobody can write there, or it is known
        if not _is_own(USUAL):
            (USUAL / _LINKS).mkdir(exist_ok=True)
            place = root().resolve()
            (USUAL / _LINKS / hashlib.sha256(bytes(place)).hexdigest()).symlink_to(place)
    return [place for place in (USUAL, *_used()) if not _is_own(place)]


def forget_unused() -> None:
    """Links to those without deployments; where somebody has the lock, that one comes to it."""
    lock = Lock(USUAL / HOST_LOCK)
    with suppress(FabricError):
        if os.geteuid() == 0 and (USUAL / _LINKS).exists() and lock.take():
            with suppress(OSError):  # others are used
                _used()
                (USUAL / _LINKS).rmdir()
            lock.release()


def _used() -> list[Path]:
    found = []
    for link in (USUAL / _LINKS).glob("*"):
        with suppress(OSError):
            place = link.readlink()
            if journals(place):
                found.append(place)
            else:
                link.unlink()
    return found


def _is_own(place: Path) -> bool:
    return place.resolve() == root().resolve()
