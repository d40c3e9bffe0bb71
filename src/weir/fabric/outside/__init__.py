# SPDX-License-Identifier: Apache-2.0
"""Execution areas outside weir-dp: the switch's threads, the kernel's receive path, guests.

Read before and after a trial; nothing is reset, and nothing runs meanwhile unless stacks are sampled.
"""

from __future__ import annotations

from weir.fabric.outside.taken import TakenWatch
from weir.fabric.outside.watch import Watch, taking_part

__all__ = ["TakenWatch", "Watch", "taking_part"]
