# SPDX-License-Identifier: Apache-2.0
"""What Weir does with a chain: one folder a procedure, and the driver that runs the chain for all of them.

`command.py` of a folder is its command, `section.py` its part of reports. They are loaded by name from this
list, when somebody needs them: it imports nothing. What a procedure found of a case it keeps in the case's
`records`, by its name; those that have a field of their own were there before. lean measures no case: it has
results of its own, and no section but a `text.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from weir.lab import Lab


@dataclass(frozen=True)
class Procedure:
    """One folder."""

    name: str
    """The folder's."""
    command: str = ""
    """The function of its `command.py` that is the command; empty: it comes with another's."""
    every_run: bool = False
    """Reports of all runs have its section; else of those in which a case has something of its name, as a
    field or among its `records`."""
    of_labs_with: str = ""
    """Or those of labs that say something under this key: it measures nothing itself."""


PROCEDURES = (
    Procedure("throughput", "run", every_run=True),
    Procedure("steps", of_labs_with="steps"),
    Procedure("soak", "soak"),
    Procedure("migration", "migrate"),
    Procedure("rfc2544", "rfc2544"),
    Procedure("latency", every_run=True),
    Procedure("side_by_side", every_run=True),
    Procedure("lean", "lean"),
    Procedure("connections"),
    Procedure("replay"),
    Procedure("tenants"),
)
"""In the order of the command line's help, and of reports."""


def own_campaign(lab: Lab) -> Any:
    """The module of the procedure that measures such traffic in its own way; None: rates are searched."""
    capture = lab.traffic.capture
    asked = {"connections": lab.traffic.connections, "replay": capture.replay if capture else None}
    name = next((name for name, wanted in asked.items() if wanted is not None), None)
    return import_module(f"{__name__}.{name}.campaign") if name is not None else None
