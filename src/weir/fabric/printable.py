# SPDX-License-Identifier: Apache-2.0
"""Text of a log as it may be shown: a guest could send controls of a terminal to whoever reads it."""

from __future__ import annotations

import re

_CONTROLS = re.compile(r"\x1b(\[[0-?]*[ -/]*[@-~]|[()].|.)")


def printable(line: str) -> str:
    """One line without them, and without blanks at its ends."""
    return "".join(one for one in _CONTROLS.sub("", line) if one.isprintable()).strip()
