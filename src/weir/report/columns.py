# SPDX-License-Identifier: Apache-2.0
"""A table as plain text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence


def table(rows: Sequence[tuple[str, ...]]) -> Iterator[str]:
    """Columns aligned: the first to the left, the others to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = [
            f"{row[0]:{widths[0]}}",
            *(f"{cell:>{width}}" for cell, width in zip(row[1:], widths[1:], strict=True)),
        ]
        yield "  ".join(cells).rstrip()
