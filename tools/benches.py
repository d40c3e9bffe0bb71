# SPDX-License-Identifier: Apache-2.0
"""`python -m tools.benches [--mixed] [FOLDER]` puts results of benches into the documentation.

FOLDER: of JSON files; absent: build/bench. They go into docs/design/benches.json without their details, from
which the pages are made: tables in docs/design/benches.md, sentences in README, what the search's bench says
in docs/design/method.md. Results must be of one commit and machine; `--mixed`: a row says
its own where they differ. Results of changes that are not committed are refused.
"""

from __future__ import annotations

import json
import sys
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from bench.catalogue import ALL, BENCHES
from bench.conditions import DIRTY
from tools.measured import WIDTH
from weir.base.words import counted
from weir.report import numbers

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "docs" / "design" / "benches.json"
END = "<!-- end of benches -->\n"
Row = dict[str, Any]
COMMON = ("commit", "machine")
REQUIRED = (*COMMON, "date", "name", "bench", "against", "build")
RATIO = "ratio: median (least to greatest)"
FIGURES = ("ratio", "min", "max", "n", "target", "met", "generic", "took_s")
NEW_FLOW_NS = {
    "new_flow_rte_acl_ns": "rte_acl",
    "new_flow_classifier_ns": "our classifier",
    "new_flow_session_ns": "to begin a session",
}
KEPT_DETAIL = {
    "search": ("devices", "error_percent", "peer_error_percent", "harder_error_percent"),
    "firewall-new-flows": (*NEW_FLOW_NS, "disagreements"),
}


class ResultsError(Exception):
    """What is wrong with the results, and what to do."""


def main() -> int:
    """Writes the files; exit code 2 for wrong usage or results that cannot stand together."""
    words = sys.argv[1:]
    mixed = "--mixed" in words
    folders = [word for word in words if word != "--mixed"]
    if len(folders) > 1 or any(word.startswith("-") for word in folders):
        print(__doc__, file=sys.stderr)
        return 2
    try:
        rows = read(Path(folders[0]) if folders else ROOT / "build" / "bench", mixed=mixed)
    except ResultsError as error:
        print(f"tools/benches: {error}", file=sys.stderr)
        return 2
    RESULTS.write_text(json.dumps(rows, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    for path, lines in PAGES.items():
        page = ROOT / path
        page.write_text(with_lines(page.read_text(encoding="utf-8"), path, lines(rows)), encoding="utf-8")
    return 0


def read(folder: Path, *, mixed: bool = False) -> list[Row]:
    """The results in a folder, in the order of the catalogue."""
    rows = [_row(path) for path in sorted(folder.glob("*.json"))]
    if not rows:
        raise ResultsError(f"{folder} has no results: run `make bench`")
    unlike = sorted({row["name"] for row in rows if any(row[key] != rows[0][key] for key in COMMON)})
    if unlike and not mixed:
        raise ResultsError(
            f"commit or machine of {', '.join(unlike)} are not those of {rows[0]['name']}: run them "
            "again, or say --mixed, and each row says its own"
        )
    order = list(ALL)
    return sorted(rows, key=lambda row: (order.index(row["bench"]), row["name"]))


def _row(path: Path) -> Row:
    found = json.loads(path.read_text(encoding="utf-8"))
    wanted = (*REQUIRED, *(() if "skipped" in found else FIGURES))
    missing = [key for key in wanted if key not in found]
    if missing:
        raise ResultsError(f"{path} does not say {', '.join(missing)}: run the bench again, or delete it")
    if found["bench"] not in ALL:
        raise ResultsError(f"{path} is of a bench that is no more, {found['bench']}: delete it")
    if found["commit"].endswith(DIRTY) or found["commit"] == "unknown":
        raise ResultsError(
            f"{path} is of {found['commit']}: commit what was changed, and run the bench again"
        )
    kept: Row = {key: found[key] for key in wanted}
    if "skipped" in found:
        kept["skipped"] = found["skipped"]
    elif found["bench"] in KEPT_DETAIL:
        kept["detail"] = {key: found["detail"][key] for key in KEPT_DETAIL[found["bench"]]}
    return kept


def with_lines(text: str, path: str, lines: Iterable[str]) -> str:
    """A page with what is between its marks made anew."""
    begin = mark(path)
    if text.count(begin) != 1 or text.count(END) != 1:
        raise ResultsError(f"{path} needs these marks once each: {begin.strip()} {END.strip()}")
    before, rest = text.split(begin)
    return before + begin + "\n" + "\n".join(lines) + "\n\n" + END + rest.split(END)[1]


def mark(path: str) -> str:
    """Where the tool's lines begin in that page."""
    return f"<!-- {'search' if path.endswith('method.md') else 'benches'}, by tools/benches.py -->\n"


BENCHES_PAGE = "docs/design/benches.md"


def headlines(rows: Sequence[Row]) -> Iterator[str]:
    """For README: in sentences, the main benches that met their targets, and how many missed theirs."""
    ran = [row for row in rows if "skipped" not in row]
    yield from _wrapped(
        f"{_caption(ran)} Ratios are ours to the peer's, of pairs taken in turn; above 1 is better."
    )
    met = [
        row for row in ran if row.get("met") and row["bench"] in BENCHES and BENCHES[row["bench"]].headline
    ]
    if met:
        yield ""
        said = "; ".join(
            f"`{row['name']}` {numbers.times(row['ratio'])} ({numbers.times(row['min'])} to "
            f"{numbers.times(row['max'])}; target {numbers.times(row['target'])})"
            for row in met
        )
        yield from _wrapped(f"Met, of the main ones: {said}.")
    yield ""
    missed = [row for row in rows if row.get("met") is False]
    asked = sum(row.get("met") is not None for row in rows)
    if missed:
        of_them = counted(len({row["bench"] for row in missed}), "bench", "benches")
        which = f"[which, and by how much]({BENCHES_PAGE})"
        yield from _wrapped(f"Missed: {len(missed)} of {asked} targets, in {of_them}; {which}.")
    else:
        yield f"All {asked} targets are met."


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
        yield _row_of(name, *_cells(row, ran), str(row["n"]), f"{row['took_s']:.0f}")
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
        f"{_verdict(row['met'])})."
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
        ns = [numbers.times(detail[key]) for key in NEW_FLOW_NS]
        yield _row_of(f"`{row['name']}`", *ns, f"{detail['disagreements']:.0f} packets")


def _row_of(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def _cells(row: Row, ran: Sequence[Row]) -> tuple[str, str, str, str]:
    """Ratio, target, peer, builds; with our generic build beside, where there is one."""
    generic, build = row["generic"], row["build"]
    ratio, built = _spread(row), build["peer"]
    if build["ours"] != _our_build(ran):
        built += f"; ours: {build['ours']}"
    if generic is not None:
        missed = ", **MISSED**" if _missed_as_the_peer(row) else ""
        ratio += f"<br>ours built as the peer: {_spread(generic)}{missed}"
    return ratio, _target(row), row["against"], built


def _target(row: Row) -> str:
    if row["target"] is None:
        return "none"
    target = f"{numbers.times(row['target'])}, {_verdict(row['met'])}"
    return target if row["met"] else f"**{target}**"


def _verdict(met: bool) -> str:
    return "met" if met else "MISSED"


def _spread(of: Row) -> str:
    return f"{numbers.times(of['ratio'])} ({numbers.times(of['min'])} to {numbers.times(of['max'])})"


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
    missed = [row for row in rows if row.get("met") is False]
    asked = sum(row.get("met") is not None for row in rows)
    if missed:
        said = ", ".join(
            f"`{row['name']}` ({numbers.times(row['ratio'])}, target {numbers.times(row['target'])})"
            for row in missed
        )
        yield from _wrapped(f"Missed, {len(missed)} of {asked} targets: {said}.")
    else:
        yield f"All {asked} targets are met."
    alike = [row for row in rows if row.get("met") and _missed_as_the_peer(row)]
    if alike:
        said = ", ".join(f"`{row['name']}` ({numbers.times(row['generic']['ratio'])})" for row in alike)
        yield ""
        yield from _wrapped(f"Missed by ours built as the peer alone: {said}.")


def _missed_as_the_peer(row: Row) -> bool:
    generic, target = row.get("generic"), row.get("target")
    return generic is not None and target is not None and bool(generic["ratio"] < target)


def _caption(ran: Sequence[Row]) -> str:
    machine, dates = ran[0]["machine"], sorted({row["date"] for row in ran})
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
    """Of a row that is not of the caption's commit and machine."""
    unlike = [key for key in COMMON if row[key] != ran[0][key]]
    unlike += ["date"] if unlike else []
    said = [", ".join(map(str, row[key].values())) if key == "machine" else str(row[key]) for key in unlike]
    return f" ({'; '.join(said)})" if said else ""


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, WIDTH, break_on_hyphens=False, break_long_words=False)


PAGES = {"README.md": headlines, BENCHES_PAGE: everything, "docs/design/method.md": of_search}

if __name__ == "__main__":
    sys.exit(main())
