# SPDX-License-Identifier: Apache-2.0
"""`weir doctor`: what this machine is, what that costs packets, and how to mend it."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated

import typer

from weir.cli.exits import ENVIRONMENT, FAILED, OK

if TYPE_CHECKING:
    from weir.host.diagnosis import Severity

# Notes are no fault: a machine without SR-IOV is a good machine.
EXIT_CODES: dict[Severity, int] = {"error": ENVIRONMENT, "warning": FAILED, "note": OK, "ok": OK}


def doctor(
    *,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print findings and facts as JSON (schema/doctor.schema.json).")
    ] = False,
) -> None:
    """Look at this machine: what is, what it costs, how to mend it. Changes nothing and needs no root.

    Exit code: 0 nothing that hurts, 1 something costs speed or repeatability, 3 Weir cannot do its work here.
    """
    from weir.fabric.host.reading import facts
    from weir.fabric.host.use import in_use
    from weir.host.checks import diagnose

    began = time.monotonic()
    seen = in_use(facts())
    diagnosis = diagnose(seen, time.monotonic() - began)
    if as_json:
        print(diagnosis.model_dump_json(indent=2))
    else:
        from weir.report import doctor_text
        from weir.report.blocks import new_console

        doctor_text.show(diagnosis, new_console())
    raise typer.Exit(EXIT_CODES[diagnosis.worst()])
