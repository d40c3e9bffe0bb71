# SPDX-License-Identifier: Apache-2.0
"""What a program says of packets that it has lost."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Lost:
    """In one place of it, for one reason, since it was started."""

    where: str
    """Behind the function's name: .left, .right, or /program for the program itself."""
    reason: str
    packets: int
