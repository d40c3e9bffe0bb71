# SPDX-License-Identifier: Apache-2.0
"""The page: the graph, its drawing, style and scripts in one file that asks for nothing else."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from markupsafe import Markup

from weir.report.graph_page.drawing import HEAD, OUTSIDE, ROW, Box, Drawing, drawing
from weir.report.page import joined, packed, policy
from weir.report.page.document import MARK
from weir.report.page.markup import raw, tag
from weir.results.host_graph import HostGraph

ROOM = "weir.report.graph_page"
SHARED_STYLES, STYLES = ("colours.css", "page.css"), ("drawing.css", "page.css")
SHARED_SCRIPTS = ("unpacked.js", "theme.js")
SCRIPTS = ("stacking.js", "scene.js", "draw.js", "details.js", "controls.js", "watch.js", "start.js")
BUTTONS = (
    ("fold-all", "Fold all", "Fold every namespace"),
    ("open-all", "Open all", "Open every namespace"),
    ("farther", "\N{MINUS SIGN}", "Zoom out"),
    ("closer", "+", "Zoom in"),
    ("fit", "Fit", "Show all of it"),
)
OPEN_MOST = 500
"""Rows: where there are more, boxes are folded at first."""


def render(graph: HostGraph, watched_s: float | None = None) -> str:
    """The whole file. `watched_s`: so often it asks whoever serves it for what is there now, at graph.json
    beside it; None: it asks for nothing."""
    script = f"(() => {{\n'use strict';\n{joined(SHARED_SCRIPTS)}\n{joined(SCRIPTS, ROOM)}}})();\n"
    title = f"The network of {graph.host}"
    asks = "" if watched_s is None else "'self'"
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag(
            "meta",
            http_equiv="Content-Security-Policy",
            content=policy(script, asks),
        ),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", f"{title} – Weir"),
        raw("style", joined(SHARED_STYLES) + joined(STYLES, ROOM)),
    )
    body = tag(
        "body",
        _bar(graph),
        tag(
            "main",
            tag("svg", id="network", tabindex=0, role="application", aria_label="The network; arrows move"),
            tag("noscript", tag("p", "The picture needs JavaScript; weir graph -f svg does not.")),
        ),
        tag(
            "aside",
            tag("button", "×", type="button", id="close", aria_label="Let go"),
            tag("div", id="details", aria_live="polite"),
            aria_label="Details",
        ),
        raw("script", packed(graph.model_dump_json()), type="application/gzip+base64", id="graph"),
        raw(
            "script", packed(json.dumps(shown(drawing(graph)))), type="application/gzip+base64", id="drawing"
        ),
        raw("script", script),
        data_watched_s=watched_s,
    )
    return f"<!doctype html>\n{tag('html', head, body, lang='en')}\n"


def shown(drawn: Drawing) -> dict[str, Any]:
    """A drawing as scene.js reads it."""
    return {
        "boxes": [_box(one) for one in drawn.boxes],
        "lines": [asdict(one) for one in drawn.lines],
        "groups": drawn.groups,
        "folded_groups": drawn.folded_groups,
        "gaps": asdict(OUTSIDE),
        "row": ROW,
        "head": HEAD,
        "fold": sum(len(table.rows) for box in drawn.boxes for table in box.tables) > OPEN_MOST,
    }


def _box(box: Box) -> dict[str, Any]:
    return asdict(box) | {"folded": asdict(box.folded), "counted": box.counted}


def _bar(graph: HostGraph) -> Markup:
    mark = tag("svg", [tag("path", d=path) for path in MARK], viewBox="0 0 32 32", class_="mark")
    when = f"{graph.looked_at[:16].replace('T', ' ')} UTC"
    search = {"type": "search", "id": "search", "placeholder": "Search (/)", "autocomplete": "off"}
    return tag(
        "nav",
        tag("div", mark, tag("b", graph.host), class_="brand"),
        tag("h1", f"network, {when}", id="clock"),
        tag(
            "div",
            tag("input", aria_label="Search", **search),
            tag("ul", id="found", hidden=True),
            class_="finder",
        ),
        [tag("button", text, type="button", id=name, title=said) for name, text, said in BUTTONS],
        tag("button", "Dark", type="button", id="theme", hidden=True),
        aria_label="Tools",
    )
