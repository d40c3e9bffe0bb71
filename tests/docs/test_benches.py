# SPDX-License-Identifier: Apache-2.0
"""The tables of benches are made from their results, which must say how they were taken."""

from __future__ import annotations

import json
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bench import builds, conditions, results
from bench.catalogue import ALL, BENCHES
from bench.pairs import Line, SkipError, Spread
from tools import benches

MACHINE = {"cpu": "AMD EPYC", "cores": 2, "hypervisor": "KVM", "kernel": "6.18"}
ERRORS = {"NDR": {"median": 0.166, "p90": 0.317, "max": 0.334, "nothing_found": 0}}


def result(bench: str, **changes: Any) -> dict[str, Any]:
    fields: dict[str, Any] = {
        **{"name": bench, "ratio": 1.116, "min": 1.04, "max": 1.204, "n": 10, "target": 0.8, "met": True},
        **{
            "generic": None,
            "bench": bench,
            "against": "a peer",
            "commit": "0123456789ab",
            "date": "2026-11-22",
        },
        **{"machine": MACHINE, "build": {"ours": "built here", "peer": "a package"}, "took_s": 12.4},
        "detail": {},
    }
    return fields | changes


SEARCH = result(
    "search",
    ratio=76.6,
    target=10.0,
    detail={
        "devices": 50,
        "error_percent": ERRORS,
        "peer_error_percent": {"NDR": dict.fromkeys(ERRORS["NDR"], 100.0) | {"nothing_found": 50}},
        "harder_error_percent": {"small buffers": ERRORS},
    },
)


def read(folder: Path, *found: dict[str, Any], mixed: bool = False) -> list[benches.Row]:
    for one in found:
        (folder / f"{one['name']}.json").write_text(json.dumps(one), encoding="utf-8")
    return benches.read(folder, mixed=mixed)


def test_a_row_has_ratio_target_and_peer_and_the_caption_its_conditions(tmp_path: Path) -> None:
    generic = {"ratio": 0.713, "min": 0.7, "max": 0.9, "n": 10}
    rows = read(tmp_path, result("generator-txonly", generic=generic))
    for lines in (list(benches.headlines(rows)), list(benches.everything(rows))):
        caption = " ".join(lines[: lines.index("")])
        assert caption.startswith(
            "`make bench`, commit 0123456789ab, 2026-11-22, on AMD EPYC, 2 cores of a virtual machine (KVM), "
            "Linux 6.18. Ours: built here, where nothing else is said."
        )
        assert "All 1 targets are met." in lines
    assert any(
        line.startswith(
            "| `generator-txonly` | 1.12 (1.04 to 1.20)<br>ours built as the peer: 0.71 (0.70 to 0.90), "
            "**MISSED** | 0.80, met | a peer |"
        )
        for line in benches.everything(rows)
    )


def test_readme_says_what_was_met_and_how_many_missed_and_the_page_of_benches_names_every_miss(
    tmp_path: Path,
) -> None:
    misses = [
        result("firewall-classifier", name=f"firewall-classifier-{name}", target=1.5, met=False, ratio=ratio)
        for name, ratio in (("uniform", 0.5), ("acl", 1.1))
    ]
    rows = read(tmp_path, result("generator-txonly"), *misses, result("lb-64k", target=2.0, met=False))
    short, full = (" ".join(lines(rows)) for lines in (benches.headlines, benches.everything))
    assert "|" not in short
    assert "Met, of the main ones: `generator-txonly` 1.12 (1.04 to 1.20; target 0.80)." in short
    assert "Missed: 3 of 4 targets, in 2 benches; [which, and by how much](docs/design/benches.md)." in short
    assert "Missed, 3 of 4 targets: " in full
    assert "`lb-64k` (1.12, target 2.00)" in full
    assert "`firewall-classifier-uniform` (0.50, target 1.50)" in full
    assert "| `firewall-classifier-uniform` | 0.50 (1.04 to 1.20) | **1.50, MISSED** |" in full


def test_what_did_not_run_is_named_with_its_reason(tmp_path: Path) -> None:
    skipped = {key: result("bring-up")[key] for key in benches.REQUIRED} | {"skipped": "Mininet is missing."}
    said = " ".join(benches.everything(read(tmp_path, result("generator-txonly"), skipped)))
    assert "Not run: `bring-up`: Mininet is missing;" in said
    assert (
        "not asked for: `generator-flowgen`, `generator-fields`, `generator-pktgen`, "
        "`generator-trex`, `ledger`,"
    ) in said


@pytest.mark.parametrize("key", [*benches.REQUIRED, *benches.FIGURES])
def test_a_result_that_leaves_something_out_is_refused(key: str, tmp_path: Path) -> None:
    found = result("generator-txonly")
    del found[key]
    (tmp_path / "generator-txonly.json").write_text(json.dumps(found), encoding="utf-8")
    with pytest.raises(benches.ResultsError, match=f"does not say {key}:"):
        benches.read(tmp_path)


@pytest.mark.parametrize("commit", ["0123456789ab-dirty", "unknown"])
def test_a_result_of_no_commit_is_refused(commit: str, tmp_path: Path) -> None:
    with pytest.raises(benches.ResultsError, match=f"is of {commit}"):
        read(tmp_path, result("ledger", commit=commit), mixed=True)


def test_commits_are_not_mixed_unless_asked_for_and_a_row_then_says_its_own(tmp_path: Path) -> None:
    rows = [result("generator-txonly"), result("ledger", commit="ba9876543210", date="2026-11-20")]
    with pytest.raises(benches.ResultsError, match="commit or machine of ledger are not those of"):
        read(tmp_path, *rows)
    table = list(benches.everything(benches.read(tmp_path, mixed=True)))
    assert any(line.startswith("| `ledger` (ba9876543210; 2026-11-20) |") for line in table)
    assert any(line.startswith("| `generator-txonly` |") for line in table)


def test_errors_of_the_search_stand_goal_by_goal(tmp_path: Path) -> None:
    lines = list(benches.of_search(read(tmp_path, SEARCH)))
    assert "commit 0123456789ab, 2026-11-22, 50 devices" in lines[0]
    assert "| Weir | NDR | 0.17 | 0.32 | 0.33 | 0 of 50 |" in lines
    assert "| bisection | NDR | 100.00 | 100.00 | 100.00 | 50 of 50 |" in lines
    assert "| Weir, small buffers | NDR | 0.17 | 0.32 | 0.33 | 0 of 50 |" in lines


@pytest.mark.parametrize("path", benches.PAGES)
def test_pages_have_the_tools_marks_and_nothing_else_of_them_changes(path: str) -> None:
    text = (benches.ROOT / path).read_text(encoding="utf-8")
    made = benches.with_lines(text, path, ["a table"])
    assert made == benches.with_lines(made, path, ["a table"])
    assert made.split(benches.mark(path))[0] == text.split(benches.mark(path))[0]
    assert made.split(benches.END)[1] == text.split(benches.END)[1]


@pytest.mark.parametrize("path", benches.PAGES)
def test_pages_are_what_the_committed_results_give(path: str) -> None:
    if not benches.RESULTS.is_file():
        pytest.skip("no results of benches are committed: make bench, then python -m tools.benches")
    rows = json.loads(benches.RESULTS.read_text(encoding="utf-8"))
    text = (benches.ROOT / path).read_text(encoding="utf-8")
    assert benches.with_lines(text, path, benches.PAGES[path](rows)) == text


LINE = Line(name="ledger", ratio=0.96, min=0.9, max=1.0, n=20, target=0.97)


def test_a_printed_line_says_in_words_what_was_missed() -> None:
    assert LINE.text() == "ledger 0.960 0.900 1.000 20, MISSED target 0.97"
    assert replace(LINE, target=0.9).text().endswith(", met target 0.9")
    assert replace(LINE, target=None).text() == "ledger 0.960 0.900 1.000 20"
    slower = replace(LINE, target=0.9, generic=Spread(0.8, 0.7, 0.9, 10))
    assert slower.text().endswith("; ours built as the peer: 0.800 0.700 0.900 10, MISSED target 0.9")


def test_what_a_bench_writes_is_what_the_tables_need(tmp_path: Path) -> None:
    (tmp_path / "ledger-of-before.json").write_text('{"bench": "ledger"}', encoding="utf-8")
    results.save(ALL["ledger"], "ledger", [LINE], took_s=3.21, folder=tmp_path)
    results.save_skipped(ALL["bring-up"], "bring-up", "no Mininet", folder=tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"ledger.json", "bring-up.json"}
    ran, skipped = (json.loads((tmp_path / f"{name}.json").read_text()) for name in ("ledger", "bring-up"))
    assert not [key for key in (*benches.REQUIRED, *benches.FIGURES) if key not in ran]
    assert not [key for key in benches.REQUIRED if key not in skipped]
    assert (ran["met"], ran["took_s"], skipped["skipped"]) == (False, 3.2, "no Mininet")


def test_ours_built_as_the_peer_stands_beside_ours_and_its_failure_is_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse() -> None:
        raise SkipError("no compiler")

    monkeypatch.setattr(builds, "as_packaged", refuse)
    (line,) = results.taken(lambda: LINE, both_builds=True)
    assert (line.generic, line.detail["generic_skipped"]) == (None, "no compiler")


def test_a_commit_says_whether_what_is_measured_was_changed(tmp_path: Path) -> None:
    def git(*words: str) -> None:
        subprocess.run(
            ["git", "-C", tmp_path, "-c", "user.name=n", "-c", "user.email=e", *words],
            check=True,
            capture_output=True,
        )

    assert conditions.commit(tmp_path) == "unknown"
    git("init")
    for folder in ("bench", "docs"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "file").write_text("before")
    git("add", ".")
    git("commit", "-m", "first")
    clean = conditions.commit(tmp_path)
    (tmp_path / "docs" / "file").write_text("after")
    assert conditions.commit(tmp_path) == clean
    assert len(clean) == 12
    (tmp_path / "bench" / "new").write_text("after")
    assert conditions.commit(tmp_path) == f"{clean}-dirty"


def test_every_bench_of_the_catalogue_has_a_module() -> None:
    modules = {path.stem for path in Path(conditions.ROOT / "bench").glob("*.py")}
    assert {bench.module for bench in ALL.values()} <= modules
    assert any(bench.headline for bench in BENCHES.values())
