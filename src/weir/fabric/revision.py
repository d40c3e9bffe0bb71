# SPDX-License-Identifier: Apache-2.0
"""Which Weir this is: its version and, run from its source tree, the commit (design rule 6)."""

from __future__ import annotations

import functools
import os
import subprocess
from pathlib import Path

from weir import __version__

_ROOT = Path(__file__).resolve().parents[3]
_PATIENCE_S = 10


@functools.cache
def weir_version(root: Path = _ROOT) -> str:
    """ "0.1.0+g1a2b3c4d5e6f", with ".dirty" if something that git knows was changed since; "0.1.0" where git
    or its history is missing."""
    if not (root / ".git").exists():
        return __version__
    try:
        done = subprocess.run(
            ["git", "-C", str(root), "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"],
            capture_output=True,
            text=True,
            check=False,
            timeout=_PATIENCE_S,
            env={**os.environ, "GIT_OPTIONAL_LOCKS": "0"},
        )
    except (OSError, subprocess.TimeoutExpired):
        return __version__
    if done.returncode != 0:
        return __version__
    return f"{__version__}+g{done.stdout.strip().replace('-', '.')}"
