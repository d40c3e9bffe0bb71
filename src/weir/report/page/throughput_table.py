# SPDX-License-Identifier: Apache-2.0
"""The summary table: for each chain and frame size a row for each technology."""

from __future__ import annotations

from weir.report import legend, numbers, summary
from weir.report.page.markup import Child, Markup, tag
from weir.store.result import Case, Result, Setup


def table(result: Result) -> Markup:
    """The table, its flags explained under it."""
    goals = summary.goals(result)
    top = tag(
        "tr",
        [tag("th", name, scope="col", rowspan=2) for name in ("Frame", "Technology")],
        [tag("th", goal, scope="colgroup", colspan=4, class_="goal") for goal in goals],
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
    columns = 3 + 4 * len(goals)
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
        own = row is not None and row.ratio is not None and setup.name == result.baseline
        cells += [
            tag("td", numbers.mpps(found.load_pps if found else None), class_="n goal big"),
            tag(
                "td",
                numbers.span_mpps(found.load_min_pps, found.load_max_pps) if found else numbers.NONE,
                class_="n dim",
            ),
            tag("td", numbers.gbps(found.l2_bps if found else None), class_="n"),
            tag("td", "1" if own else numbers.times(row.ratio if row else None), class_="n"),
        ]
    used = [letter for letter in legend.FLAGS if letter in letters]
    cells.append(
        tag("td", [tag("abbr", letter, title=legend.FLAGS[letter]) for letter in used], class_="flags")
    )
    return cells


def _legend(result: Result) -> Markup:
    flags = [
        tag("div", tag("dt", letter), tag("dd", text)) for letter, text in legend.flags_used(result).items()
    ]
    words = tag("p", " ".join(legend.sentences(result)))
    return tag("div", words, tag("dl", flags) if flags else None, class_="legend")
