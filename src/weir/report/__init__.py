# SPDX-License-Identifier: Apache-2.0
"""Reports of a stored result. One module a format; each ends with its registration, `FORMAT`.

`render(result, "html")` gives the text; `FORMATS` lists what there is. Reports read a `Result` and nothing
else: not the machine, not the store, not the clock.
"""

from __future__ import annotations

from weir.base.error import USAGE, WeirError
from weir.report import csv_rows, hgrm, hlog, html_page, json_document, rfc2544_text, terminal
from weir.report.format import Format
from weir.results.result import Result

__all__ = ["FORMATS", "Format", "UnknownFormatError", "render"]

FORMATS: dict[str, Format] = {
    module.FORMAT.name: module.FORMAT
    for module in (terminal, json_document, csv_rows, html_page, rfc2544_text, hgrm, hlog)
}


class UnknownFormatError(WeirError):
    """No format has that name. The message lists those that there are."""

    exit_code = USAGE


def render(result: Result, format_name: str) -> str:
    """The report as text. Write it as UTF-8."""
    try:
        chosen = FORMATS[format_name]
    except KeyError:
        known = ", ".join(FORMATS)
        raise UnknownFormatError(f"no report format {format_name!r}; there are: {known}") from None
    return chosen.render(result)
