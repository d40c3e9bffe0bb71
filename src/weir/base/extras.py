# SPDX-License-Identifier: Apache-2.0
"""Libraries that only some of Weir needs."""

from __future__ import annotations

import shlex
import sys
from importlib.metadata import PackageNotFoundError, requires

DISTRIBUTION = "weir-nfv"


def install(extra: str) -> str:
    """The command that installs what an extra of pyproject.toml names, where this program runs.

    Never by Weir's own name: it is not published, and `weir` is another project's at PyPI.
    """
    try:
        every = requires(DISTRIBUTION) or []
    except PackageNotFoundError:  # from a source tree that is not installed
        every = []
    words = [one.partition(";")[0].strip() for one in every if _is_of(extra, one)]
    if not words:
        return "make setup"
    return shlex.join([sys.executable, "-m", "pip", "install", *words])


def _is_of(extra: str, requirement: str) -> bool:
    marker = requirement.partition(";")[2].replace('"', "'").replace(" ", "")
    return f"extra=='{extra}'" in marker
