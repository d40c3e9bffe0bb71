# SPDX-License-Identifier: Apache-2.0
"""The throughputs in sentences: who carries most and who least, as far as the numbers say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from weir.report import numbers, rates, summary
from weir.results.result import Result


def findings(result: Result) -> Iterator[str]:
    """Who carries most and who least of the first goal, first at the first chain and frame size, then in how
    many cases; of one system alone what it carries. No order that the numbers leave open."""
    rows = [row for row in summary.rows(result) if row.throughput.goal == summary.goals(result)[0]]
    known = [row for row in rows if row.throughput.load_pps]
    if not known:
        if rows:
            goal = rows[0].throughput.goal
            one = f"The only search for {goal} found no rate."
            yield one if len(rows) == 1 else f"None of {len(rows)} searches for {goal} found a rate."
        return
    chains = summary.compares_chains(result)
    if not chains and not summary.compares(result):
        ends = [known[0], *([known[-1]] if known[1:] else [])]
        said = " and ".join(f"{_rate(row)} at {summary.sizes(row.case.frame)}" for row in ends)
        yield f"{known[0].setup.title} carries {said} {_goal(known[0])}."
        return
    cases: dict[tuple[str, str], list[summary.Row]] = {}
    for row in known:
        cases.setdefault(("" if chains else row.setup.chain, row.case.frame), []).append(row)
    several = [some for some in cases.values() if len(some) > 1]
    if several:
        yield _order(several[0], chains=chains)
    if several[1:]:
        yield _elsewhere(several, chains=chains)


def _goal(row: summary.Row) -> str:
    ratio, goal = row.throughput.goal_loss_ratio, row.throughput.goal
    return f"without loss ({goal})" if ratio == 0 else f"at a loss of {numbers.share(ratio)} at most ({goal})"


def _rate(row: summary.Row) -> str:
    """ "at least 8.000 Mpps", "0.100 to 0.250 Mpps"."""
    least = "at least " if row.throughput.at_least else ""
    return f"{least}{rates.said(row.throughput, ' to ')}"


def _name(row: summary.Row, *, chains: bool) -> str:
    return row.setup.chain if chains else row.setup.name


def _ends(rows: Sequence[summary.Row]) -> tuple[list[summary.Row], list[summary.Row]]:
    """Those that none exceeds, and those that exceed none."""
    every = [
        (row, other) for row in rows for other in rows if rates.exceeds(row.throughput, other.throughput)
    ]
    return (
        [row for row in rows if not any(lower is row for _, lower in every)],
        [row for row in rows if not any(higher is row for higher, _ in every)],
    )


def _order(rows: Sequence[summary.Row], *, chains: bool) -> str:
    """Of one case."""
    first = rows[0]
    where = "" if chains else f" through {first.setup.chain}"
    at = f"At {summary.sizes(first.case.frame)}{where}"
    most, least = _ends(rows)
    if len(most) == len(least) == 1:
        high, low = most[0], least[0]
        times = _times(rates.compared(high.throughput, low.throughput))
        return (
            f"{at} {_name(high, chains=chains)} carries most {_goal(first)}, {_rate(high)}, and "
            f"{_name(low, chains=chains)} least, {_rate(low)}: {times}."
        )
    if most == least:
        return f"{at} {_goal(first)} {_end(most, 'more', chains=chains)}."
    said = [_end(some, end, chains=chains) for some, end in ((most, "most"), (least, "least"))]
    return f"{at} {_goal(first)} {'; '.join(said)}."


def _end(rows: Sequence[summary.Row], end: str, *, chains: bool) -> str:
    if len(rows) == 1:
        return f"{_name(rows[0], chains=chains)} carries {end}, {_rate(rows[0])}"
    named = ", ".join(f"{_name(row, chains=chains)} ({_rate(row)})" for row in rows)
    return f"the numbers leave open which carries {end}: {named}"


def _times(ratio: rates.Ratio | rates.NoRatio) -> str:
    """ "at least 42.0 times as much (40.1–44.3)"."""
    if isinstance(ratio, rates.NoRatio):
        return f"no ratio, since {ratio}"
    bound = {"=": "", ">=": "at least ", "<=": "at most "}[ratio.bound]
    return f"{bound}{numbers.times(ratio.value)} times as much ({ratio.span or 'of one pair'})"


def _elsewhere(cases: Sequence[Sequence[summary.Row]], *, chains: bool) -> str:
    """In how many cases who carries most."""
    alone = [most[0] for most, _ in map(_ends, cases) if len(most) == 1]
    of = "frame sizes" if chains else "cases (chain and frame size)"
    counted = Counter(_name(row, chains=chains) for row in alone).most_common()
    if counted and counted[0][1] == len(cases):
        return f"{counted[0][0]} carries most in all {len(cases)} {of}."
    said = [f"{name} in {n}" for name, n in counted]
    open_ = len(cases) - len(alone)
    said += [f"not decided in {open_}"] if open_ else []
    return f"Of {len(cases)} {of} most is carried by {', '.join(said)}."
