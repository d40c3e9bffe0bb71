# SPDX-License-Identifier: Apache-2.0
"""The summary table: for each chain and frame size a row for each technology."""

from __future__ import annotations

from weir.report import legend, numbers, rates, summary
from weir.report.flags import FLAGS
from weir.report.page.markup import Child, Markup, tag
from weir.results.result import Case, Result, Setup

GOAL_COLUMNS = 5


def table(result: Result) -> Markup:
    """The table, its flags explained under it."""
    goals = summary.goals(result)
    top = tag(
        "tr",
        [tag("th", name, scope="col", rowspan=2) for name in ("Frame", "Technology")],
        [tag("th", goal, scope="colgroup", colspan=GOAL_COLUMNS, class_="goal") for goal in goals],
        tag("th", "Flags", scope="col", rowspan=2),
    )
    below = tag(
        "tr",
        [
            [
                tag("th", "Mpps", scope="col", class_="n goal"),
                tag("th", "min–max", scope="col", class_="n"),
                tag("th", "Gbit/s", scope="col", class_="n"),
                tag("th", "ratio", scope="col", class_="n"),
                tag("th", "min–max", scope="col", class_="n"),
            ]
            for _ in goals
        ],
    )
    bodies = [_body(result, chain, goals) for chain in summary.chains(result)]
    caption = tag("caption", "Throughput by chain, frame size and technology", class_="unseen")
    inner = tag("table", caption, tag("thead", top, below), bodies, class_="sheet", id="throughput-table")
    scroll = tag("div", inner, class_="scroll", tabindex=0, role="region", aria_label="Throughput table")
    return tag("div", scroll, _legend(result))


def _body(result: Result, chain: str, goals: list[str]) -> Markup:
    columns = 3 + GOAL_COLUMNS * len(goals)
    lines = [tag("tr", tag("th", chain, colspan=columns, scope="rowgroup"), class_="chain")]
    for frame in summary.frames(result, chain):
        found = [
            (setup, case)
            for setup in result.setups
            if setup.chain == chain
            for case in setup.cases
            if case.frame == frame
        ]
        for index, (setup, case) in enumerate(found):
            first = (
                tag("th", summary.frame_label(frame), scope="row", rowspan=len(found)) if index == 0 else None
            )
            lines.append(
                tag("tr", first, _cells(result, setup, case, goals), class_="first" if index == 0 else None)
            )
    lines += [_refused(setup, columns) for setup in result.setups if setup.chain == chain and setup.refused]
    return tag("tbody", lines)


def _refused(setup: Setup, columns: int) -> Markup:
    why = tag("td", f"refused here: {setup.refused}", colspan=columns - 2, class_="why")
    return tag("tr", tag("td", ""), tag("td", setup.name), why, class_="first")


def _cells(result: Result, setup: Setup, case: Case, goals: list[str]) -> list[Child]:
    order = summary.technologies(result)
    key = tag("i", class_=f"key k{order.index(setup.name) % 6}")
    cells: list[Child] = [tag("td", key, setup.name, class_="tech")]
    by_goal = {row.throughput.goal: row for row in summary.rows(result) if row.case is case}
    letters = "X" if case.problem is not None else ""
    for goal in goals:
        row = by_goal.get(goal)
        found = row.throughput if row else None
        letters += row.flags if row else ""
        cells += [
            tag("td", rates.mpps(found), class_="n goal big"),
            tag("td", rates.span_mpps(found), class_="n dim"),
            tag("td", rates.gbps(found), class_="n"),
            tag(
                "td", row.ratio_text if row else numbers.NONE, class_="n", title=row.no_ratio if row else None
            ),
            tag("td", row.ratio.span if row and row.ratio else "", class_="n dim"),
        ]
    used = [letter for letter in FLAGS if letter in letters]
    cells.append(tag("td", [tag("abbr", letter, title=FLAGS[letter]) for letter in used], class_="flags"))
    return cells


def _ratio(row: summary.Row | None) -> list[Markup]:
    """Of no ratio the reason on top of the dash."""
    if row is None:
        return [tag("td", numbers.NONE, class_="n"), tag("td", "")]
    span = row.ratio.span if row.ratio is not None else ""
    return [tag("td", row.ratio_text, class_="n", title=row.no_ratio), tag("td", span, class_="n dim")]


def _legend(result: Result) -> Markup:
    flags = [
        tag("div", tag("dt", letter), tag("dd", text)) for letter, text in legend.flags_used(result).items()
    ]
    words = tag("ul", [tag("li", sentence) for sentence in legend.sentences(result)], class_="plain")
    return tag("div", words, tag("dl", flags) if flags else None, class_="legend")
