# SPDX-License-Identifier: Apache-2.0
"""Puts the page together: sections, style, scripts and the data, all in one file.

The data are the result's JSON, gzip, base64 (a full run is megabytes of JSON). The page's content security
policy allows no request at all, and only the one script whose hash it names.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
from importlib.resources import files
from typing import Any

from weir.report import rates, summary
from weir.report.migration_rows import migrations
from weir.report.page import basis, cases, delays, migration, readings, rfc2544, soak, sweep, throughput_table
from weir.report.page.markup import Child, Markup, raw, tag
from weir.report.rfc2544_rows import reported
from weir.report.soak_rows import soaks
from weir.results.result import Result

UPLOT = "uplot-1.6.32"
STYLES = (f"{UPLOT}.min.css", "page.css", "sheets.css", "charts.css", "print.css")
NOT_SEARCHED = "Not searched for in this run: it measures delays at given loads."
SCRIPTS = (
    "data.js",
    "look.js",
    "plot.js",
    "bars.js",
    "curves.js",
    "trials.js",
    "heat.js",
    "soak.js",
    "start.js",
)


def document(result: Result) -> str:
    """The whole page."""
    script = f"{_asset(f'{UPLOT}.iife.min.js')}\n(() => {{\n'use strict';\n{_joined(SCRIPTS)}}})();\n"
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; "
        "base-uri 'none'; form-action 'none'"
    )
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=policy),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("meta", name="generator", content=f"weir {result.weir}"),
        tag("title", f"{summary.title(result)} – Weir"),
        raw("style", _joined(STYLES)),
    )
    body = tag(
        "body",
        tag("a", "Skip to the numbers", href="#throughput", class_="skip"),
        _bar(result),
        tag("main", readings.head(result), readings.notices(result), _sections(result)),
        _foot(result),
        raw("script", embedded(result), type="application/gzip+base64", id="result"),
        raw("script", script),
    )
    return f"<!doctype html>\n{tag('html', head, body, lang='en')}\n"


def embedded(result: Result) -> str:
    """The result as the page carries it."""
    return base64.b64encode(gzip.compress(result.model_dump_json().encode(), 9, mtime=0)).decode()


def shown(result: Result) -> str:
    """What bars show beyond the result's own fields, as JSON by numbers of setup and case and the goal: so
    the script judges nothing by itself."""
    found: dict[str, dict[str, Any]] = {}
    rows = summary.rows(result)
    for index, setup in enumerate(result.setups):
        for place, case in enumerate(setup.cases):
            for _ in case.throughput:
                row = next(rows)
                ends_pps = rates.interval_pps(row.throughput)
                found[f"{index}/{place}/{row.throughput.goal}"] = {
                    "flags": row.flags,
                    "interval_pps": ends_pps,
                }
    return json.dumps(found)


def _bar(result: Result) -> Markup:
    names = ["Throughput", "Loss", "Latency", "Built", "Evidence", "Basis"]
    if reported(result):
        names.insert(0, "Procedures")
    if migrations(result):
        names.insert(0, "Migration")
    if soaks(result):
        names.insert(0, "Soak")
    return tag(
        "nav",
        [tag("a", name, href=f"#{name.lower()}") for name in names],
        tag("span", class_="gap"),
        tag("button", "Save data", type="button", id="save", hidden=True),
        tag("button", "Dark", type="button", id="theme", hidden=True),
        aria_label="Sections",
    )


def _sections(result: Result) -> list[Markup]:
    standard = rfc2544.procedures(result)
    long_load = soak.soak(result)
    migrated = migration.migration(result)
    return [
        *(
            [
                _section(
                    "soak",
                    "Under constant load",
                    "Each point is an interval: the difference of counters that are never reset. Lines break "
                    "where there was no load.",
                    long_load,
                )
            ]
            if long_load is not None
            else []
        ),
        *(
            [
                _section(
                    "migration",
                    "Live migration",
                    "A virtual machine from one QEMU to another while traffic runs through it. Each loss "
                    "belongs to the phase in which its first packet was due.",
                    migrated,
                )
            ]
            if migrated is not None
            else []
        ),
        *(
            [
                _section(
                    "procedures",
                    "RFC 2544, RFC 6201 and RFC 9004",
                    "Each test as its RFC describes it, and in the end everything in which this run differs.",
                    standard,
                )
            ]
            if standard is not None
            else []
        ),
        _section(
            "throughput",
            "Throughput",
            "The bar is the median over the repeats, the whisker their min–max; of a search that "
            "ran out of time only the interval of its answer is filled. All chains have one scale.",
            readings.readings(result),
            tag("div", class_="controls", id="bars-controls"),
            tag("div", class_="plots", id="bars", data_shown=shown(result)),
            throughput_table.table(result) if summary.goals(result) else tag("p", NOT_SEARCHED, class_="dim"),
        ),
        _section(
            "loss",
            "Received against offered",
            "Each point is a trial. On the dashed line nothing is lost; the distance to it is the loss that "
            "counts. A ring marks a trial in a slower state of the machine, or of which less than half "
            "counts; invalid ones are not drawn.",
            tag("div", class_="controls", id="loss-controls"),
            tag("div", class_="rows", id="loss-plots"),
        ),
        _section(
            "latency",
            "Latency by load",
            "One way, the slower direction. Past the throughput: full queues.",
            tag("div", class_="controls", id="latency-controls"),
            tag("div", class_="rows", id="latency-plots"),
            delays.reductions(result),
            delays.tuned(result),
            sweep.latency_over_load(result),
            delays.delays(result),
            delays.service_level(result),
        ),
        _section(
            "built",
            "What was built",
            "Squares are ports, with their kind. The band at the left of a box has one colour for each core: "
            "boxes of one colour share a core.",
            tag("div", class_="controls", id="built-controls"),
            basis.pictures(result),
        ),
        _section(
            "evidence",
            "Evidence",
            "Every trial. Offered = delivered + drops + unaccounted; with any unaccounted it is invalid.",
            cases.cases(result),
        ),
        _section(
            "basis",
            "What the numbers rest on",
            "Compare two runs only if these agree.",
            basis.fidelity(result),
            basis.fingerprint(result),
            basis.spec(result),
        ),
    ]


def _section(place: str, title: str, words: str, *content: Child) -> Markup:
    side = tag("div", tag("h2", title, id=f"{place}-title"), tag("p", words), class_="side")
    return tag(
        "section", side, tag("div", content, class_="body"), id=place, aria_labelledby=f"{place}-title"
    )


def _foot(result: Result) -> Markup:
    count = sum(1 for _ in summary.trials(result))
    return tag("footer", tag("p", f"Weir {result.weir} · {count} trials · result version {result.version}"))


def _joined(names: tuple[str, ...]) -> str:
    return "\n".join(_asset(name) for name in names)


def _asset(name: str) -> str:
    return (files("weir.report.page") / "assets" / name).read_text(encoding="utf-8")
