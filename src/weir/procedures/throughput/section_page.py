# SPDX-License-Identifier: Apache-2.0
"""The page's parts on throughput: the first goal at a glance, bars, the table, received against offered."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from markupsafe import Markup

from weir.lab.frames import frame_label
from weir.report import legend, numbers, rates, summary
from weir.report.page.markup import Child, needs_script, sentences, tag
from weir.report.rates import FLAGS
from weir.report.sections import PagePart
from weir.results.result import Case, Result, Setup

RATIO_COLUMNS = (("ratio", "n"), ("min–max", "n"))
"""Of each goal's ratio: name and class of each column."""
FRAMES_AT_A_GLANCE = 8
SHORT_NAME = 7
"""Characters of a chain's name that fit beside the numbers."""


def parts(result: Result) -> Iterator[PagePart]:
    """What was searched for, and what was sent at given loads; nothing of a run without. The script draws
    bars and curves from the embedded data."""
    if summary.goals(result):
        chains = " All chains have one scale." if len(summary.chains(result)) > 1 else ""
        bars = (
            "The bar is the median over the repeats, the whisker their min–max; of a search that ran out of "
            f"time only the interval of its answer is filled.{chains}"
        )
        found = any(row.throughput.load_pps is not None for row in summary.rows(result))
        yield PagePart(
            "Throughput",
            "Throughput",
            bars if found else "No search found a rate.",
            (
                readings(result),
                tag("div", class_="controls", id="bars-controls"),
                tag(
                    "div",
                    class_="plots",
                    id="bars",
                    data_shown=shown(result),
                    data_unit=summary.rate_unit(result).label,
                ),
                table(result),
            ),
        )
    if any(trial.valid and trial.duration_s > 0 for _, case in result.cases() for trial in case.curve):
        yield PagePart(
            "Loss",
            "Received against offered",
            "Each point is a trial. On the dashed line nothing is lost; the distance to it is the loss that "
            "counts. A ring marks a trial in a slower state of the machine, or of which less than half "
            "counts; invalid ones are not drawn.",
            (
                tag("div", class_="controls", id="loss-controls"),
                tag("div", class_="rows", id="loss-plots", data_unit=summary.curve_unit(result).label),
                needs_script("These plots"),
            ),
        )


def shown(result: Result) -> str:
    """What bars show beyond the result's own fields, as JSON by numbers of setup and case and the goal: so
    the script judges nothing by itself."""
    found: dict[str, dict[str, Any]] = {}
    rows = summary.rows(result)
    for index, setup in enumerate(result.setups):
        for place, case in enumerate(setup.cases):
            for _ in case.throughput:
                row = next(rows)
                flags, rate = row.flags, row.throughput
                found[f"{index}/{place}/{rate.goal}"] = {"flags": flags, "interval_pps": rate.interval_pps}
    return json.dumps(found)


def readings(result: Result) -> Markup | None:
    """For each chain one big number a technology: the first goal at the smallest frame.

    Chains that are compared with each other stand side by side, as technologies do; where there is nothing to
    compare, frame sizes do.
    """
    goals, frames = summary.goals(result), summary.frames(result)
    if not goals or not frames:
        return None
    goal, frame = goals[0], frames[0]
    every = [row for row in summary.rows(result) if row.throughput.goal == goal]
    smallest = [row for row in every if row.case.frame == frame]
    at = summary.sizes(frame) + (" frames" if frame.isdigit() else "")
    if summary.compares(result):
        order = summary.technologies(result)
        groups = [
            _dials(
                goal,
                chain,
                [
                    _reading(result, row, order.index(row.setup.name), row.setup.name)
                    for row in smallest
                    if row.setup.chain == chain
                ],
            )
            for chain in summary.chains(result)
        ]
    elif summary.compares_chains(result):
        readings = [_reading(result, row, 0, row.setup.chain) for row in smallest]
        groups = [_dials(goal, smallest[0].setup.name, readings)] if smallest else []
    else:
        at = "by frame size"
        readings = [
            _reading(result, row, 0, summary.sizes(row.case.frame)) for row in every[:FRAMES_AT_A_GLANCE]
        ]
        groups = [_dials(goal, every[0].setup.chain, readings)]
    css = "readings long" if any(len(chain) > SHORT_NAME for chain in summary.chains(result)) else "readings"
    return tag(
        "div",
        tag("p", tag("b", goal), f" in {summary.rate_unit(result).label}, {at}", class_="dials-what"),
        groups,
        class_=css,
    )


def _dials(goal: str, name: str, cells: list[Markup]) -> Markup:
    return tag("section", tag("h3", name), tag("ul", cells), class_="dials", aria_label=f"{goal}, {name}")


def _reading(result: Result, row: summary.Row, index: int, name: str) -> Markup:
    found = row.throughput
    ratio: str | None
    if not summary.compares(result):
        ratio = None
    elif row.setup.name == result.baseline:
        ratio = "the baseline"
    else:
        ratio = f"{row.ratio_text} × {result.baseline}" if row.ratio is not None else "no ratio"
    unit = summary.rate_unit(result)
    detail = rates.span_mpps(found, unit)
    if found.status == "irregular" or found.out_of_time:
        detail = "irregular" if found.load_pps is None else "out of time"
    return tag(
        "li",
        tag("span", tag("i", class_=f"key k{index % 6}"), name, class_="dial-name"),
        tag("span", "≥ " if found.at_least else "", rates.mpps(found, unit=unit), class_="dial-value"),
        tag("span", ratio, class_="dial-ratio", title=_ratio_title(row)) if ratio is not None else None,
        tag(
            "span",
            detail,
            tag("abbr", row.flags, title=_flag_title(row.flags)) if row.flags else None,
            class_="dial-span",
        ),
    )


def _ratio_title(row: summary.Row) -> str | None:
    """Where it lies, or why there is none."""
    return row.ratio.span or None if row.ratio is not None else row.no_ratio


def _flag_title(flags: str) -> str:
    return "; ".join(FLAGS[letter] for letter in flags)


def table(result: Result) -> Markup:
    """The table, its flags explained under it."""
    goals = summary.goals(result)
    columns = _columns(result)
    top = tag(
        "tr",
        [tag("th", name, scope="col", rowspan=2) for name in _names(result)],
        [tag("th", goal, scope="colgroup", colspan=len(columns), class_="goal") for goal in goals],
    )
    below = tag("tr", [[tag("th", name, scope="col", class_=css) for name, css in columns] for _ in goals])
    bodies = [_body(result, chain, goals) for chain in summary.chains(result)]
    caption = tag("caption", f"Throughput by {_by(result)}", class_="unseen")
    inner = tag("table", caption, tag("thead", top, below), bodies, class_="sheet", id="throughput-table")
    scroll = tag("div", inner, class_="scroll", tabindex=0, role="group", aria_label="Throughput table")
    return tag("div", scroll, _legend(result))


def _columns(result: Result) -> tuple[tuple[str, str | None], ...]:
    """Of each goal: name and class of each column."""
    rate = summary.rate_unit(result).label
    of_rate = ((rate, "n goal"), ("flags", None), ("min–max", "n"), ("Gbit/s", "n"))
    return of_rate + (RATIO_COLUMNS if summary.compares(result) else ())


def _names(result: Result) -> tuple[str, ...]:
    """Titles of what names a row. One technology alone is named above its rows."""
    return ("Frame", summary.way_title(result)) if len(summary.technologies(result)) > 1 else ("Frame",)


def _by(result: Result) -> str:
    return "chain, frame size and technology" if summary.compares(result) else "chain and frame size"


def _body(result: Result, chain: str, goals: list[str]) -> Markup:
    columns = len(_names(result)) + len(_columns(result)) * len(goals)
    alone = len(_names(result)) == 1
    name = f"{chain}, {', '.join(summary.technologies(result))}" if alone else chain
    lines = [tag("tr", tag("th", name, colspan=columns, scope="rowgroup"), class_="chain")]
    for frame in summary.frames(result, chain):
        found = [
            (setup, case)
            for setup in result.setups
            if setup.chain == chain
            for case in setup.cases
            if case.frame == frame
        ]
        for index, (setup, case) in enumerate(found):
            first = tag("th", frame_label(frame), scope="row", rowspan=len(found)) if index == 0 else None
            lines.append(
                tag("tr", first, _cells(result, setup, case, goals), class_="first" if index == 0 else None)
            )
    lines += [
        _refused(setup, columns, alone=alone)
        for setup in result.setups
        if setup.chain == chain and setup.refused
    ]
    return tag("tbody", lines)


def _refused(setup: Setup, columns: int, *, alone: bool) -> Markup:
    names = [tag("td", "")] if alone else [tag("td", ""), tag("td", setup.name)]
    why = tag("td", f"left out: {setup.refused}", colspan=columns - len(names), class_="why")
    return tag("tr", names, why, class_="first")


def _cells(result: Result, setup: Setup, case: Case, goals: list[str]) -> list[Child]:
    order = summary.technologies(result)
    cells: list[Child] = []
    if len(order) > 1:
        key = tag("i", class_=f"key k{order.index(setup.name) % 6}")
        cells.append(tag("td", key, setup.name, class_="tech"))
    unit = summary.rate_unit(result)
    by_goal = {row.throughput.goal: row for row in summary.rows(result) if row.case is case}
    for goal in goals:
        row = by_goal.get(goal)
        found = row.throughput if row else None
        letters = legend.flags_of(row, case)
        cells += [
            tag("td", rates.bounded_mpps(found, unit=unit), class_="n goal big"),
            tag("td", [tag("abbr", letter, title=FLAGS[letter]) for letter in letters], class_="flags"),
            tag("td", rates.span_mpps(found, unit), class_="n dim"),
            tag("td", rates.gbps(found), class_="n"),
        ]
        if summary.compares(result):
            ratio, why = (row.ratio_text, row.no_ratio) if row else (numbers.NONE, None)
            cells += [
                tag("td", ratio, class_="n", title=why),
                tag("td", row.ratio.span if row and row.ratio else "", class_="n dim"),
            ]
    return cells


def _legend(result: Result) -> Markup:
    flags = [
        tag("div", tag("dt", letter), tag("dd", text)) for letter, text in legend.flags_used(result).items()
    ]
    words = sentences(legend.sentences(result))
    return tag("div", words, tag("dl", flags) if flags else None, class_="legend")
