# SPDX-License-Identifier: Apache-2.0
"""What runs that were killed had left on this machine."""

from __future__ import annotations

from collections.abc import Callable

from weir import fabric


def take_down_leftovers(say: Callable[[str], None]) -> None:
    """Takes all of it down, and says what. Within `interrupts.held`."""
    for name in fabric.clean_leftovers():
        say(f"took down {name}, which a killed run had left")
