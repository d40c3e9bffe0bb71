# SPDX-License-Identifier: Apache-2.0
"""What `weir model kernel-vnf --json` prints: a list of entries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import Field, TypeAdapter

from weir.base.record import FixedRecord, document_schema


class KernelVnfEntry(FixedRecord):
    """What one configuration carries for one flow count and frame size."""

    config: str
    """Configuration, such as `2+1/ic125`."""
    f: int = Field(ge=1)
    """Scale factor in use: sets of x + y cores side by side."""
    frame_bytes: Annotated[int, Field(gt=0)] | Annotated[float, Field(gt=0)]
    """L2 bytes with FCS; of a mix the mean."""
    mpps: float = Field(gt=0)
    """Equation (5)."""
    gbps: float = Field(gt=0)
    """Equation (6): L1, with preamble, start of frame delimiter and gap."""
    limited_by: Literal["cpu", "link"]
    """Which of the two terms is the smaller."""


_ENTRIES = TypeAdapter(list[KernelVnfEntry])


def render(entries: Sequence[KernelVnfEntry]) -> str:
    """The entries as JSON, in their order."""
    return _ENTRIES.dump_json(list(entries), indent=2).decode() + "\n"


def schema() -> dict[str, Any]:
    """JSON Schema (2020-12) of the list."""
    return document_schema(list[KernelVnfEntry], "Weir prediction by the model kernel-vnf")
