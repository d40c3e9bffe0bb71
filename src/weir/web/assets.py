# SPDX-License-Identifier: Apache-2.0
"""Styles and scripts of the pages, most of them the HTML report's.

Their addresses change with their content, so that browsers may keep them."""

from __future__ import annotations

import hashlib
from functools import cache

from weir.report.page import asset, joined
from weir.report.page.document import MARK, SCRIPTS, STYLES, UPLOT

ROOM = "weir.web"
PLACE = "/assets/"
EMBEDDED = ("unpacked.js", "embedded.js")
"""How the report's file has its data; a page of a server asks for them."""


def _scripts_of_run() -> str:
    rest = [name for name in SCRIPTS if name not in EMBEDDED]
    return _enclosed(asset("fetched.js", ROOM), joined(rest))


def _scripts_of_lab() -> str:
    shared = joined(("data.js", "theme.js", "look.js", "plot.js"))
    return _enclosed(shared, joined(("history.js", "lab.js"), ROOM))


def _scripts_of_others() -> str:
    return _enclosed(asset("theme.js"), "const redrawAll = () => {};", asset("plain.js", ROOM))


def _icon() -> str:
    """The mark, for tabs of light and dark browsers."""
    paths = "".join(f'<path d="{path}"/>' for path in MARK)
    look = 'fill="none" stroke="#3a93a8" stroke-width="3.4" stroke-linecap="round"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32" {look}>{paths}</svg>\n'


def _enclosed(*scripts: str) -> str:
    body = "\n".join(scripts)
    return f"(() => {{\n'use strict';\n{body}}})();\n"


@cache
def files() -> dict[str, tuple[str, bytes]]:
    """Type and content, by name with the content's hash in it."""
    texts = {
        "weir.css": ("text/css", f"{joined(STYLES)}\n{joined(('web.css', 'web-print.css'), ROOM)}"),
        "first.js": ("text/javascript", asset("first.js", ROOM)),
        "icon.svg": ("image/svg+xml", _icon()),
        "uplot.js": ("text/javascript", asset(f"{UPLOT}.iife.min.js")),
        "run.js": ("text/javascript", _scripts_of_run()),
        "lab.js": ("text/javascript", _scripts_of_lab()),
        "live.js": ("text/javascript", _enclosed(asset("live.js", ROOM))),
        "plain.js": ("text/javascript", _scripts_of_others()),
    }
    return {_named(name, text): (kind, text.encode()) for name, (kind, text) in texts.items()}


@cache
def address(name: str) -> str:
    """Of "weir.css". KeyError."""
    stem, _, suffix = name.rpartition(".")
    found = [one for one in files() if one.startswith(f"{stem}-") and one.endswith(f".{suffix}")]
    if len(found) != 1:
        raise KeyError(name)
    return PLACE + found[0]


def _named(name: str, text: str) -> str:
    stem, _, suffix = name.rpartition(".")
    return f"{stem}-{hashlib.sha256(text.encode()).hexdigest()[:12]}.{suffix}"
