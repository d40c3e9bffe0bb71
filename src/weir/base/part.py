# SPDX-License-Identifier: Apache-2.0
"""The base of everything that a user may write: unknown keys are errors, and values never change."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Part(BaseModel):
    """One mapping of the lab file."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)
