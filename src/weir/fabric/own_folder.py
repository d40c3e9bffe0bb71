# SPDX-License-Identifier: Apache-2.0
"""The folder of one `weir verify`, for keys and scripts, where only this user gets in."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from weir.base.error import FabricError
from weir.fabric.journal import make_run_root, root
from weir.fabric.lock import left, remove_left, scratch

_PREFIX = "verify_"
"""No name of a lab has an underscore, so none of its run directories is taken for such a folder."""


@contextmanager
def own_folder() -> Iterator[Path]:
    """It goes after the body; those of killed runs go before. FabricError if it cannot be made."""
    place = _place()
    try:
        make_run_root(place)
    except OSError as error:
        message = f"cannot make {place}: {error.strerror}"
        raise FabricError(message, "set XDG_RUNTIME_DIR to a directory of yours") from error
    with scratch(place, _PREFIX) as made:
        yield made


def remove_folders_left() -> list[Path]:
    """Those of killed runs, which are gone now."""
    return remove_left(_place(), _PREFIX)


def folders_left() -> list[Path]:
    """Those of killed runs, which are still there."""
    return left(_place(), _PREFIX)


def _place() -> Path:
    if os.geteuid() == 0:
        return root()
    own = os.environ.get("XDG_RUNTIME_DIR") or Path.home() / ".local" / "state"
    return Path(own) / "weir"
