# SPDX-License-Identifier: Apache-2.0
"""What the switch and the kernel counted: packets, and drops by place and reason, since the deployment."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Counter:
    """One counter. Only differences of two readings mean something."""

    place: str  # "net0:f1.left"
    reason: str | None  # symbol; None for packets
    kind: Literal["drop", "packets"]
    value: int
