# SPDX-License-Identifier: Apache-2.0
"""What Weir does with a chain: one folder a procedure, and the driver that runs the chain for all of them.

`command.py` of a folder is its command, `section.py` its part of reports. They are loaded by name from this
list, when somebody needs them: it imports nothing.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Procedure:
    """One folder."""

    name: str
    """The folder's."""
    command: str = ""
    """The function of its `command.py` that is the command; empty: it comes with another's."""
    reports: bool = True
    """Its `section.py` has a SECTION of the reports of runs."""


PROCEDURES = (
    Procedure("throughput", "run"),
    Procedure("soak", "soak"),
    Procedure("migration", "migrate"),
    Procedure("rfc2544", "rfc2544"),
    Procedure("latency"),
    Procedure("lean", "lean", reports=False),
)
"""In the order of the command line's help, and of reports."""
