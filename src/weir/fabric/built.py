# SPDX-License-Identifier: Apache-2.0
"""Where the programs are that Weir's own source is built into."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal

from weir.base import SOURCE_TREE
from weir.base.error import FabricError


def built(program: Literal["weir-dp", "weir-lean"]) -> Path:
    """$WEIR_DP or $WEIR_LEAN, or the build of this source tree. FabricError if there is none."""
    variable = program.upper().replace("-", "_")
    chosen = os.environ.get(variable)
    path = Path(chosen) if chosen else SOURCE_TREE / "build/native" / program
    if not os.access(path, os.X_OK):
        raise FabricError(
            f"there is no {program} at {path}", f"build it with `make native`, or set {variable}"
        )
    return path
