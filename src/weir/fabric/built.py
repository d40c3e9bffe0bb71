# SPDX-License-Identifier: Apache-2.0
"""Where the programs are that Weir's own C source is built into, and which versions they are of."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Literal, get_args

from weir.base import SOURCE_TREE
from weir.base.error import FabricError

Native = Literal["weir-dp", "weir-lean"]
NATIVE: tuple[Native, ...] = get_args(Native)
HOW_TO_BUILD = "`make native`" if SOURCE_TREE is not None else "the Debian package weir-dp of this version"
_PATIENCE_S = 5


def built(program: Native) -> Path:
    """$WEIR_DP or $WEIR_LEAN; else the build of this source tree, or of an installed Weir what the PATH has.
    FabricError if there is none.

    A source tree never takes what is on the PATH: that would be measured in the place of what was changed.
    """
    variable = program.upper().replace("-", "_")
    chosen = os.environ.get(variable)
    if chosen or SOURCE_TREE is not None:
        path = Path(chosen) if chosen else Path(SOURCE_TREE or "") / "build/native" / program
        if not os.access(path, os.X_OK):
            raise FabricError(
                f"there is no {program} at {path}", f"get it by {HOW_TO_BUILD}, or set {variable}"
            )
        return path
    found = shutil.which(program)
    if found is None:
        raise FabricError(
            f"there is no {program} in the PATH", f"get it by {HOW_TO_BUILD}, or set {variable} to its path"
        )
    return Path(found)


def native_version(program: Native) -> str:
    """What it says of itself, such as "weir-dp 0.1.0 (DPDK 22.11.11)". FabricError if it is not there, or
    does not start."""
    path = built(program)
    try:
        done = subprocess.run(
            [str(path), "--version"], capture_output=True, text=True, check=False, timeout=_PATIENCE_S
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise FabricError(f"{path} does not start: {error}", f"get it by {HOW_TO_BUILD}") from error
    if done.returncode != 0:
        said = (done.stderr or done.stdout).strip().partition("\n")[0]
        raise FabricError(
            f"{path} does not start: {said or f'exit status {done.returncode}'}", f"get it by {HOW_TO_BUILD}"
        )
    return done.stdout.partition("\n")[0]
