# SPDX-License-Identifier: Apache-2.0
"""`python -m tools.benches [--mixed | --add] [FOLDER]` puts results of benches into the documentation.

FOLDER: of JSON files; absent: build/bench. They go into docs/design/benches.json without their details, from
which the pages are made (tools.bench_pages): tables in docs/design/benches.md, sentences in README, what the
search's bench says in docs/design/method.md. Results must be of one commit and machine; `--mixed`: a row says
its own where they differ; `--add`: likewise, and other benches keep the rows that they have. Results of
changes that are not committed are refused.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from bench.catalogue import ALL
from bench.conditions import DIRTY
from tools.bench_pages import (
    BENCHES_PAGE,
    COMMON,
    NEW_FLOW_NS,
    ResultsError,
    Row,
    everything,
    headlines,
    of_search,
)

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "docs" / "design" / "benches.json"
END = "<!-- end of benches -->\n"
REQUIRED = (*COMMON, "date", "name", "bench", "against", "build")
FIGURES = ("ratio", "min", "max", "n", "pairs", "target", "generic", "took_s")
KEPT_DETAIL = {
    "search": ("devices", "error_percent", "peer_error_percent", "harder_error_percent"),
    "firewall-new-flows": (*NEW_FLOW_NS, "disagreements"),
}


def main() -> int:
    """Writes the files; exit code 2 for wrong usage or results that cannot stand together."""
    words = sys.argv[1:]
    added = "--add" in words
    folders = [word for word in words if word not in ("--mixed", "--add")]
    if len(folders) > 1 or any(word.startswith("-") for word in folders):
        print(__doc__, file=sys.stderr)
        return 2
    try:
        rows = read(
            Path(folders[0]) if folders else ROOT / "build" / "bench", mixed=added or "--mixed" in words
        )
    except ResultsError as error:
        print(f"tools/benches: {error}", file=sys.stderr)
        return 2
    if added:
        rows = beside(json.loads(RESULTS.read_text(encoding="utf-8")), rows)
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
    return _in_order(rows)


def beside(old: Sequence[Row], new: Sequence[Row]) -> list[Row]:
    """New results, and the old ones of benches that they are not of, in the order of the catalogue."""
    benches = {row["bench"] for row in new}
    return _in_order([*new, *(row for row in old if row["bench"] not in benches)])


def _in_order(rows: Iterable[Row]) -> list[Row]:
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


PAGES = {"README.md": headlines, BENCHES_PAGE: everything, "docs/design/method.md": of_search}

if __name__ == "__main__":
    sys.exit(main())
