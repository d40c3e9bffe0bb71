# SPDX-License-Identifier: Apache-2.0
"""What the pages say of benches: the rows of docs/design/benches.json as sentences and tables.

Whether a target is met they say as `bench.pairs` does.
"""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from bench.catalogue import ALL, BENCHES
from bench.pairs import Spread, Verdict, fewest, within
from tools.measured import WIDTH
from weir.base.words import counted
from weir.report import numbers

Row = dict[str, Any]
COMMON = ("commit", "machine")
RATIO = "ratio: median (least to greatest)"
NEW_FLOW_NS = {
    "new_flow_rte_acl_ns": "rte_acl",
    "new_flow_classifier_ns": "our classifier",
    "new_flow_session_ns": "to begin a session",
}


class ResultsError(Exception):
    """What is wrong with the results, and what to do."""


BENCHES_PAGE = "docs/design/benches.md"


def headlines(rows: Sequence[Row]) -> Iterator[str]:
    """For README: in sentences, what came of the main benches, and of how many others."""
    ran = [row for row in rows if "skipped" not in row]
    yield from _wrapped(
        f"{_caption(ran)} Ratios are ours to the peer's, of pairs taken in turn; above 1 is better. "
        "Not told: pairs that differ too much, or are too few, to say whether the target is reached."
    )
    main = [row for row in ran if row["bench"] in BENCHES and BENCHES[row["bench"]].headline]
    done = {row["bench"] for row in ran}
    absent = [f"`{name}`" for name, bench in BENCHES.items() if bench.headline and name not in done]
    for verdict, word in _WORDS.items():
        said = "; ".join(_headline(row, ran) for row in main if verdict_of(row) == verdict)
        if said:
            yield ""
            yield from _wrapped(f"{word}, of the main ones: {said}.")
    if absent:
        yield ""
        yield from _wrapped(f"Not run, of the main ones: {', '.join(absent)}.")
    yield ""
    yield from _wrapped(
        f"Of all: {_counts(rows)}; [which, and by how much]({BENCHES_PAGE}).{_elsewhere(ran)}"
    )


_WORDS: dict[Verdict, str] = {"met": "Met", "MISSED": "**Missed**", "not told": "Not told"}


def _headline(row: Row, ran: Sequence[Row]) -> str:
    more = ""
    if row["bench"] == "search":
        nothing = row["detail"]["peer_error_percent"]["NDR"]["nothing_found"]
        more = f"; in {nothing:.0f} of {row['detail']['devices']} devices bisection finds no NDR"
    own = "; ".join(_own(row, ran))
    return f"`{row['name']}` {_spread(row)[:-1]}; target {asked(row)}{more}{own and f'; {own}'})"


def _elsewhere(ran: Sequence[Row]) -> str:
    """How many are not of the caption's commit and machine, where some are."""
    others = sum(bool(_own(row, ran)) for row in ran)
    return f" {others} of {len(ran)} rows are of other commits or machines." if others else ""


def _counts(rows: Sequence[Row]) -> str:
    found = Counter(verdict_of(row) for row in rows)
    asked = sum(found.values()) - found[None]
    benches = {
        verdict: len({row["bench"] for row in rows if verdict_of(row) == verdict}) for verdict in _WORDS
    }
    said = f"{found['met']} of {asked} targets met"
    if found["MISSED"]:
        said += f", {found['MISSED']} missed (in {counted(benches['MISSED'], 'bench', 'benches')})"
    if found["not told"]:
        below = sum(verdict_of(row) == "not told" and row["ratio"] < row["target"] for row in rows)
        said += f", {found['not told']} not told (in {counted(benches['not told'], 'bench', 'benches')}; "
        said += f"the median of {below} of them is below the target)"
    return said


def verdict_of(row: Row) -> Verdict | None:
    """Of a row; None where nothing is asked for, or nothing ran."""
    return None if row.get("target") is None else _judged(row, row["target"])


def _judged(of: Row, target: float) -> Verdict:
    """Of a row, or of our generic build's figures in it."""
    if "pairs" in of:
        pairs = None if of["pairs"] is None else tuple(of["pairs"])
        return Spread(of["ratio"], of["min"], of["max"], of["n"], pairs=pairs).verdict(target)
    # From before pairs were kept: their interval lies between the least and the greatest. Where the ratio is
    # the least, it is one figure of the whole.
    if of["ratio"] == of["min"]:
        return within((of["ratio"], of["ratio"]), target)
    return within((of["min"], of["max"]) if of["n"] >= fewest() else None, target)


def everything(rows: Sequence[Row]) -> Iterator[str]:
    """For the page of benches: all of them."""
    ran = [row for row in rows if "skipped" not in row]
    yield from _wrapped(_caption(ran))
    yield ""
    head = ("bench", RATIO, "target", "against", "how that was built", "n", "takes, s")
    yield _row_of(*head)
    yield "|---" * len(head) + "|"
    for row in ran:
        name = f"`{row['name']}`{_own_conditions(row, ran)}"
        yield _row_of(name, *_cells(row, ran), str(row["n"]), _took(row))
    yield ""
    yield from _verdicts(rows)
    yield from _new_flows([row for row in ran if row["bench"] == "firewall-new-flows"])


def of_search(rows: Sequence[Row]) -> Iterator[str]:
    """For the page on method: how far off the search and bisection are, goal by goal."""
    row = next((one for one in rows if one["bench"] == "search" and "skipped" not in one), None)
    if row is None:
        raise ResultsError("there is no result of the bench search: run `python -m bench search`")
    detail = row["detail"]
    yield from _wrapped(
        f"`python -m bench search`, commit {row['commit']}, {row['date']}, {detail['devices']} devices; "
        f"errors in percent of the truth. Bisection took {row['min']:.0f} to {row['max']:.0f} times as long "
        f"as Weir for both goals (median {row['ratio']:.0f}, target {row['target']:.0f}, "
        f"{verdict_of(row)})."
    )
    yield ""
    head = ("", "goal", "median", "90th percentile", "greatest", "found nothing")
    yield _row_of(*head)
    yield "|---" * len(head) + "|"
    yield from _errors("Weir", detail["error_percent"], detail["devices"])
    yield from _errors("bisection", detail["peer_error_percent"], detail["devices"])
    for name, errors in detail["harder_error_percent"].items():
        yield from _errors(f"Weir, {name}", errors, detail["devices"])


def _errors(who: str, errors: dict[str, dict[str, float]], devices: int) -> Iterator[str]:
    for goal, of in errors.items():
        figures = [f"{of[key]:.2f}" for key in ("median", "p90", "max")]
        yield _row_of(who, goal, *figures, f"{of['nothing_found']:.0f} of {devices}")


def _new_flows(rows: Sequence[Row]) -> Iterator[str]:
    """What the ratios of firewall-new-flows are made of."""
    if not rows:
        return
    yield ""
    yield "A packet of a new flow, 40,000 rules, ns; medians:"
    yield ""
    head = ("", *NEW_FLOW_NS.values(), "another rule than rte_acl's")
    yield _row_of(*head)
    yield "|---" * len(head) + "|"
    for row in rows:
        detail = row["detail"]
        ns = [times(detail[key]) for key in NEW_FLOW_NS]
        yield _row_of(f"`{row['name']}`", *ns, f"{detail['disagreements']:.0f} packets")


def _row_of(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def _took(row: Row) -> str:
    shares = ALL[row["bench"]].shares
    if shares is not None and row["took_s"] < 1:
        return f"shared with `{shares}`"
    return f"{row['took_s']:.0f}"


def _cells(row: Row, ran: Sequence[Row]) -> tuple[str, str, str, str]:
    """Ratio, target, peer, builds; with our generic build beside, where there is one."""
    generic, build = row["generic"], row["build"]
    ratio, built = _spread(row), build["peer"]
    if build["ours"] != _our_build(ran):
        built += f"; ours: {build['ours']}"
    if generic is not None:
        ratio += f"<br>ours built as the peer: {_spread(generic)}"
        verdict = _as_the_peer(row)
        ratio += "" if verdict in (None, "met") else f", {_marked(verdict, 'MISSED')}"
    return ratio, _target(row), row["against"], built


def _target(row: Row) -> str:
    verdict = verdict_of(row)
    if verdict is None:
        return "none"
    return _marked(f"{asked(row)}, {verdict}", "MISSED")


def _marked(text: str | None, word: str) -> str:
    """Bold where that word is in it."""
    return f"**{text}**" if word in str(text) else str(text)


def _spread(of: Row) -> str:
    return f"{times(of['ratio'])} ({times(of['min'])} to {times(of['max'])})"


def asked(row: Row) -> str:
    """The target, exactly: 0.995."""
    target: float = row["target"]
    return times(target) if target == round(target, 2) else f"{target:.3f}"


def times(ratio: float) -> str:
    """A small one with two digits that say something."""
    return f"{ratio:.2g}" if 0 < ratio < 0.095 else numbers.times(ratio)


def _verdicts(rows: Sequence[Row]) -> Iterator[str]:
    """Sentences that name all misses, and what did not run."""
    yield from _missed(rows)
    done = {row["bench"] for row in rows}
    absent = [f"`{row['name']}`: {row['skipped'].rstrip('.')}" for row in rows if "skipped" in row]
    not_asked = [f"`{name}`" for name in BENCHES if name not in done]
    absent += [f"not asked for: {', '.join(not_asked)}"] if not_asked else []
    if absent:
        yield ""
        yield from _wrapped(f"Not run: {'; '.join(absent)}.")


def _missed(rows: Sequence[Row]) -> Iterator[str]:
    yield from _wrapped(f"{_counts(rows)[:1].upper()}{_counts(rows)[1:]}.")
    for verdict in ("MISSED", "not told"):
        said = ", ".join(
            f"`{row['name']}` ({times(row['ratio'])}, target {asked(row)})"
            for row in rows
            if verdict_of(row) == verdict
        )
        if said:
            yield ""
            yield from _wrapped(f"{verdict[:1].upper()}{verdict[1:].lower()}: {said}.")
    alike = [row for row in rows if verdict_of(row) != "MISSED" and _as_the_peer(row) == "MISSED"]
    if alike:
        said = ", ".join(f"`{row['name']}` ({times(row['generic']['ratio'])})" for row in alike)
        yield ""
        yield from _wrapped(f"Missed by ours built as the peer alone: {said}.")


def _as_the_peer(row: Row) -> Verdict | None:
    """The verdict of our generic build."""
    if row.get("generic") is None or row.get("target") is None:
        return None
    return _judged(row["generic"], row["target"])


def _caption(ran: Sequence[Row]) -> str:
    machine, alike = ran[0]["machine"], [row for row in ran if not _own_conditions(row, ran)]
    dates = sorted({row["date"] for row in alike})
    when = dates[0] if len(dates) == 1 else f"{dates[0]} to {dates[-1]}"
    virtual = (
        f" of a virtual machine ({machine['hypervisor']})"
        if machine["hypervisor"] not in ("", "none")
        else ""
    )
    return (
        f"`make bench`, commit {ran[0]['commit']}, {when}, on {machine['cpu']}, {machine['cores']} "
        f"cores{virtual}, Linux {machine['kernel']}. Ours: {_our_build(ran)}, where nothing else is said."
    )


def _our_build(ran: Sequence[Row]) -> str:
    """Of most."""
    return Counter(str(row["build"]["ours"]) for row in ran).most_common(1)[0][0]


def _own_conditions(row: Row, ran: Sequence[Row]) -> str:
    """The same in brackets."""
    said = _own(row, ran)
    return f" ({'; '.join(said)})" if said else ""


def _own(row: Row, ran: Sequence[Row]) -> list[str]:
    """Commit, machine and date of a row that is not of the caption's, as far as they differ."""
    unlike = [key for key in COMMON if row[key] != ran[0][key]]
    unlike += ["date"] if unlike else []
    return [", ".join(map(str, row[key].values())) if key == "machine" else str(row[key]) for key in unlike]


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, WIDTH, break_on_hyphens=False, break_long_words=False)
