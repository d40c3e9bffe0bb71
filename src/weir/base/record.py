# SPDX-License-Identifier: Apache-2.0
"""The bases of what users write and of what Weir writes down: results, models, explanations.

Unknown keys are errors. The words beneath a record's field describe it in schemas and reference pages.
"""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Record(BaseModel):
    """Filled in as it becomes known."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)


class FixedRecord(BaseModel):
    """Never changes once it is made."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)


class LabSection(BaseModel):
    """One mapping of the lab file. Never changes once it is read."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)
