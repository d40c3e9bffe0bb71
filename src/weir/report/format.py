# SPDX-License-Identifier: Apache-2.0
"""What a report format is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from weir.results.result import Result


@dataclass(frozen=True)
class Format:
    """One way to write a result. `render` is pure: the same result gives the same text."""

    name: str  # "html"
    suffix: str  # of the file, with the dot
    summary: str  # one line for --help
    render: Callable[[Result], str]
