# SPDX-License-Identifier: Apache-2.0
"""Reports of a stored result: formats, each of which writes the sections of all procedures.

`render(result, "html")` gives the text; `formats()` lists what there is. Reports read a `Result` and nothing
else: not the machine, not the store, not the clock.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

from weir.base.error import USAGE, WeirError

if TYPE_CHECKING:
    from weir.results.result import Result

FORMATS = {
    "terminal": "weir.report.terminal:FORMAT",
    "json": "weir.report.data_formats:JSON",
    "csv": "weir.report.data_formats:CSV",
    "html": "weir.report.page.document:FORMAT",
    "markdown": "weir.report.markdown:FORMAT",
    "percentiles": "weir.report.percentiles:CSV",
    "rfc2544": "weir.procedures.rfc2544.section:FORMAT",
    "hgrm": "weir.report.hdr_histogram:PERCENTILES",
    "hlog": "weir.report.hdr_histogram:LOG",
}
"""Where each is: loaded when it is asked for."""


class UnknownFormatError(WeirError):
    """No format has that name. The message lists those that there are."""

    exit_code = USAGE


def _nothing(result: Result) -> None:
    """Every result has what the format shows."""


@dataclass(frozen=True)
class Format:
    """One way to write a result. `render` is pure: the same result gives the same text."""

    name: str
    """ "html"."""
    suffix: str
    """Of the file, with the dot."""
    render: Callable[[Result], str]
    lacks: Callable[[Result], str | None] = _nothing
    """What a result has not, with the way to get it, where a file of this format without it would look like a
    measurement of nothing; None: it has."""


@cache
def format_named(name: str) -> Format:
    """UnknownFormatError lists those that there are."""
    place = FORMATS.get(name)
    if place is None:
        known = ", ".join(FORMATS)
        raise UnknownFormatError(f"no report format {name!r}; there are: {known}")
    module, _, attribute = place.partition(":")
    found = getattr(import_module(module), attribute)
    assert isinstance(found, Format)
    return found


def formats() -> Mapping[str, Format]:
    """All, by name."""
    return {name: format_named(name) for name in FORMATS}


def render(result: Result, format_name: str) -> str:
    """The report as text. Write it as UTF-8."""
    return format_named(format_name).render(result)
