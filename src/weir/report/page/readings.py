# SPDX-License-Identifier: Apache-2.0
"""The head of the page: what was measured where, what to know first, the first goal at the smallest frame."""

from __future__ import annotations

from collections.abc import Iterator

from weir.report import doubts, noise, numbers, rates, summary
from weir.report.flags import FLAGS
from weir.report.page.markup import Markup, tag
from weir.results.result import Result

UNFOLDED = 3  # sentences of one kind that are shown at once

# Water (left, high) runs over a wall (a weir) to the right, low: the product's mark.
MARK = (
    "M1 9h9c4 0 5 2 6 6s2 6 6 6h9",
    "M12 30V15",
)


def head(result: Result) -> Markup:
    """Title and the line of facts under it."""
    print_ = result.fingerprint
    versions = print_.versions
    facts = [
        ("machine", f"{print_.cpu}, {print_.cores} cores"),
        ("kernel", print_.kernel),
        *(
            (name, versions[key])
            for key, name in (("dpdk", "DPDK"), ("openvswitch", "Open vSwitch"))
            if key in versions
        ),
        ("measured", _time(result.started_at)),
        ("took", numbers.seconds(result.seconds) + (", quick run" if result.quick else "")),
        ("run", result.id),
    ]
    mark = tag(
        "svg",
        [tag("path", d=path) for path in MARK],
        viewBox="0 0 32 32",
        class_="mark",
        aria_hidden="true",
    )
    return tag(
        "header",
        tag("p", mark, tag("b", "Weir"), tag("span", "throughput report"), class_="brand"),
        tag("h1", summary.title(result)),
        tag("dl", [tag("div", tag("dt", name), tag("dd", value)) for name, value in facts], class_="facts"),
        class_="head",
    )


def _time(rfc3339: str) -> str:
    """ "2026-11-21 07:06 UTC", of a time that the store wrote."""
    return f"{rfc3339[:16].replace('T', ' ')} UTC"


def notices(result: Result) -> Markup | None:
    """What changes how the numbers are to be read, before any number. A long list of one kind is folded."""
    groups = [_group(title, sentences) for title, sentences in _notices(result) if sentences]
    return tag("div", groups, class_="notices", role="note", aria_label="Read this first") if groups else None


def _notices(result: Result) -> Iterator[tuple[str, list[str]]]:
    stopped = ["The run was stopped early; what had finished is below."]
    yield "Interrupted.", stopped if result.interrupted else []
    for name, missing in summary.refusals(result):
        yield f"{name} refused here.", [missing]
    yield "Noisy machine.", noise.sentences(result)
    yield "Read with care.", doubts.sentences(result)


def _group(title: str, sentences: list[str]) -> Markup:
    if len(sentences) <= UNFOLDED:
        return tag("p", tag("b", title), " ", " ".join(sentences))
    inner = tag("ul", [tag("li", sentence) for sentence in sentences], class_="plain")
    return tag("details", tag("summary", tag("b", title), f" {len(sentences)} remarks"), inner, class_="fold")


def readings(result: Result) -> Markup | None:
    """For each chain one big number a technology: the first goal at the smallest frame.

    Chains that are compared with each other stand side by side, as technologies do.
    """
    goals, frames = summary.goals(result), summary.frames(result)
    if not goals or not frames:
        return None
    goal, frame = goals[0], frames[0]
    order = summary.technologies(result)
    rows = [row for row in summary.rows(result) if (row.case.frame, row.throughput.goal) == (frame, goal)]
    if summary.compares_chains(result):
        groups = [_dials(goal, order[0], [_reading(result, row, 0, row.setup.chain) for row in rows])]
    else:
        groups = [
            _dials(
                goal,
                chain,
                [
                    _reading(result, row, order.index(row.setup.name), row.setup.name)
                    for row in rows
                    if row.setup.chain == chain
                ],
            )
            for chain in summary.chains(result)
        ]
    label = summary.frame_label(frame)
    unit = f"{label} B frames" if label.isdigit() else label
    return tag(
        "div",
        tag("p", tag("b", goal), f" in Mpps, {unit}", class_="dials-what"),
        groups,
        class_="readings",
    )


def _dials(goal: str, name: str, cells: list[Markup]) -> Markup:
    return tag("section", tag("h3", name), tag("ul", cells), class_="dials", aria_label=f"{goal}, {name}")


def _reading(result: Result, row: summary.Row, index: int, name: str) -> Markup:
    found = row.throughput
    ratio: str | None
    if summary.compares_chains(result):
        ratio = None
    elif row.setup.name == result.baseline:
        ratio = "the baseline"
    else:
        ratio = f"{row.ratio_text} × {result.baseline}" if row.ratio is not None else "no ratio"
    detail = rates.span_mpps(found)
    if found.status == "irregular" or found.out_of_time:
        detail = "irregular" if found.load_pps is None else "out of time"
    return tag(
        "li",
        tag("span", tag("i", class_=f"key k{index % 6}"), name, class_="dial-name"),
        tag("span", rates.mpps(found), class_="dial-value"),
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
