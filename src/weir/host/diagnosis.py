# SPDX-License-Identifier: Apache-2.0
"""What `weir doctor` finds: the document behind text and `--json`. Programs read it: keep it stable."""

from __future__ import annotations

import json
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from weir.host.facts import Facts

DOCTOR_VERSION = 1
Severity = Literal["error", "warning", "note", "ok"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note", "ok")


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)


class Finding(_Record):
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


class Diagnosis(_Record):
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
    body = Diagnosis.model_json_schema(mode="serialization")
    head = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"Weir doctor's findings, version {DOCTOR_VERSION}",
    }
    return head | {key: value for key, value in body.items() if key != "title"}


def schema_text() -> str:
    """The schema as it is committed."""
    return json.dumps(schema(), indent=2, ensure_ascii=False) + "\n"
