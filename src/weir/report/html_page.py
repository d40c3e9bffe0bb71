# SPDX-License-Identifier: Apache-2.0
"""One self-contained HTML file."""

from __future__ import annotations

from html import escape

from weir.report.format import Format
from weir.store.result import Result


def render(result: Result) -> str:
    """The page; it needs no network."""
    return f"<!doctype html><meta charset=utf-8><title>{escape(result.title)}</title>"


FORMAT = Format("html", ".html", "one page with plots and pictures that needs no network", render)
