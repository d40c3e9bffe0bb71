# SPDX-License-Identifier: Apache-2.0
"""What `weir doctor` finds: the document behind text and `--json`. Programs read it: keep it stable."""

from __future__ import annotations

from typing import Any, Literal

from weir.base.record import FixedRecord, document_schema
from weir.host.facts import Facts

DOCTOR_VERSION = 1
Severity = Literal["error", "warning", "note", "ok"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note", "ok")


class Finding(FixedRecord):
    """One judgement: what is, what it costs, how to mend it."""

    subject: str
    """What it is about: `hugepages`, `governor`. One subject may have several findings."""
    severity: Severity
    """error: Weir cannot do its work; warning: it costs speed or repeatability; note: worth knowing; ok."""
    what: str
    cost: str = ""
    """Empty for `ok`."""
    mend: str = ""
    """Empty where nothing is to be done, or can be."""


class Diagnosis(FixedRecord):
    """A machine, looked at once."""

    doctor: Literal[1] = 1
    """Version of this document."""
    weir: str
    seconds: float
    """How long the look took."""
    findings: tuple[Finding, ...]
    """Worst first; within a severity in the order of the reference page."""
    facts: Facts

    def worst(self) -> Severity:
        """The severity of the worst finding."""
        return min((one.severity for one in self.findings), key=SEVERITIES.index, default="ok")


def schema() -> dict[str, Any]:
    """The JSON Schema (2020-12) of the document."""
    return document_schema(Diagnosis, f"Weir doctor's findings, version {DOCTOR_VERSION}")
