# SPDX-License-Identifier: Apache-2.0
"""The base of everything that Weir writes down: results, models, explanations. Unknown keys are errors, and
the words beneath a field are its description in schemas and reference pages."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Record(BaseModel):
    """Filled in as it becomes known."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)


class FixedRecord(BaseModel):
    """Never changes once it is made."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)
