# SPDX-License-Identifier: Apache-2.0
"""What a program says of packets that it has lost."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass


@dataclass(frozen=True)
class Lost:
    """In one place of it, for one reason, since it was started."""

    where: str
    """Behind the function's name: .left, .right, or /program for the program itself."""
    reason: str
    packets: int


def why_not(error: Exception) -> str:
    """Why a program that was asked does not tell: what it said, or what went wrong."""
    if isinstance(error, (TimeoutError, subprocess.TimeoutExpired)):
        return "it does not answer, as if it hung or had been stopped"
    return str(getattr(error, "stderr", None) or "").strip() or repr(error)
