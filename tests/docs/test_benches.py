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
from bench.pairs import SkipError, Spread, of_ratios
from tools import bench_pages as pages
from tools import benches

MACHINE = {"cpu": "AMD EPYC", "cores": 2, "hypervisor": "KVM", "kernel": "6.18"}
ERRORS = {"NDR": {"median": 0.166, "p90": 0.317, "max": 0.334, "nothing_found": 0}}


def result(bench: str, **changes: Any) -> dict[str, Any]:
    fields: dict[str, Any] = {
        **{"name": bench, "ratio": 1.116, "min": 1.04, "max": 1.204, "n": 10, "target": 0.8},
        **{
            "generic": None,
            "bench": bench,
            "against": "a peer",
            "commit": "0123456789ab",
            "date": "2026-11-22",
        },
        **{"machine": MACHINE, "build": {"ours": "built here", "peer": "a package"}, "took_s": 12.4},
        "pairs": [1.04, 1.11, 1.11, 1.116, 1.116, 1.116, 1.116, 1.12, 1.2, 1.204],
        "detail": {},
    }
    return fields | changes


def pairs(ratio: float) -> dict[str, Any]:
    """Ten that are near each other."""
    every = [ratio * (1 + step / 200) for step in range(-5, 6) if step]
    return {"ratio": ratio, "min": every[0], "max": every[-1], "pairs": every}


SEARCH = result(
    "search",
    **pairs(76.6),
    target=10.0,
    detail={
        "devices": 50,
        "error_percent": ERRORS,
        "peer_error_percent": {"NDR": dict.fromkeys(ERRORS["NDR"], 100.0) | {"nothing_found": 50}},
        "harder_error_percent": {"small buffers": ERRORS},
    },
)


def read(folder: Path, *found: dict[str, Any], mixed: bool = False) -> list[pages.Row]:
    for one in found:
        (folder / f"{one['name']}.json").write_text(json.dumps(one), encoding="utf-8")
    return benches.read(folder, mixed=mixed)


def test_results_are_added_to_others_of_another_machine_and_replace_those_of_their_bench(
    tmp_path: Path,
) -> None:
    old = read(tmp_path, result("generator-txonly"), result("ledger"), result("upf-64k", name="upf-64k-up"))
    for path in tmp_path.iterdir():
        path.unlink()
    there = {"commit": "ba9876543210", "date": "2026-11-28"}
    new = read(tmp_path, result("ledger", **there), result("upf-64k", name="upf-64k-down", **there))
    both = benches.beside(old, new)
    assert [(row["name"], row["commit"][:2]) for row in both] == [
        ("generator-txonly", "01"),
        ("ledger", "ba"),
        ("upf-64k-down", "ba"),
    ]
    lines = "\n".join(pages.everything(both))
    assert "commit 0123456789ab, 2026-11-22, on AMD EPYC" in lines
    assert "| `ledger` (ba9876543210; 2026-11-28) |" in lines
    short = " ".join(pages.headlines(both))
    assert "`ledger` 1.12 (1.04 to 1.20; target 0.80; ba9876543210; 2026-11-28)" in short
    assert "`generator-txonly` 1.12 (1.04 to 1.20; target 0.80)" in short
    assert "2 of 3 rows are of other commits or machines." in short


def test_a_row_has_ratio_target_and_peer_and_the_caption_its_conditions(tmp_path: Path) -> None:
    generic = {"n": 10, **pairs(0.713)}
    rows = read(tmp_path, result("generator-txonly", generic=generic))
    for lines in (list(pages.headlines(rows)), list(pages.everything(rows))):
        caption = " ".join(lines[: lines.index("")])
        assert caption.startswith(
            "`make bench`, commit 0123456789ab, 2026-11-22, on AMD EPYC, 2 cores of a virtual machine (KVM), "
            "Linux 6.18. Ours: built here, where nothing else is said."
        )
        assert "1 of 1 targets met" in " ".join(lines)
    assert any(
        line.startswith(
            "| `generator-txonly` | 1.12 (1.04 to 1.20)<br>ours built as the peer: 0.71 (0.70 to 0.73), "
            "**MISSED** | 0.80, met | a peer |"
        )
        for line in pages.everything(rows)
    )


def test_readme_says_of_every_main_bench_whether_it_met_missed_could_not_tell_or_did_not_run(
    tmp_path: Path,
) -> None:
    misses = [
        result("firewall-classifier", name=f"firewall-classifier-{name}", target=1.5, **pairs(ratio))
        for name, ratio in (("uniform", 0.5), ("acl", 1.1))
    ]
    wide = result("ledger", target=1.115)
    skipped = {key: result("bring-up")[key] for key in benches.REQUIRED} | {"skipped": "Mininet is missing."}
    flowgen = result("generator-flowgen", target=2.0)
    rows = read(tmp_path, result("generator-txonly"), flowgen, wide, skipped, *misses, SEARCH)
    short, full = (" ".join(lines(rows)) for lines in (pages.headlines, pages.everything))
    assert "|" not in short
    assert "Met, of the main ones: `generator-txonly` 1.12 (1.04 to 1.20; target 0.80); `search`" in short
    assert "**Missed**, of the main ones: `generator-flowgen` 1.12 (1.04 to 1.20; target 2.00)." in short
    assert "Not told, of the main ones: `ledger` 1.12 (1.04 to 1.20; target 1.115)." in short
    assert "Not run, of the main ones: `generator-pktgen`, `l2fwd-macswap`," in short
    assert "`bring-up`" in short.split("Not run, of the main ones: ")[1]
    counts = "2 of 6 targets met, 3 missed (in 2 benches), 1 not told (in 1 bench; the median of 0 of them is"
    assert counts in short
    assert counts in full
    assert "Missed: `generator-flowgen` (1.12, target 2.00), `firewall-classifier-acl` (1.10," in full
    assert "Not told: `ledger` (1.12, target 1.115)." in full
    assert "| `firewall-classifier-uniform` | 0.50 (0.49 to 0.51) | **1.50, MISSED** |" in full


def test_each_main_bench_stands_in_one_sentence_of_readme() -> None:
    rows = json.loads(benches.RESULTS.read_text(encoding="utf-8"))
    said = " ".join(pages.headlines(rows))
    main = {name for name, bench in BENCHES.items() if bench.headline}
    ran = {row["name"] for row in rows if row["bench"] in main and "skipped" not in row}
    for name in ran | (main - {row["bench"] for row in rows if "skipped" not in row}):
        assert said.count(f"`{name}`") == 1, name


def test_beside_the_ratio_of_the_search_stands_in_how_many_devices_bisection_found_nothing(
    tmp_path: Path,
) -> None:
    said = " ".join(pages.headlines(read(tmp_path, SEARCH)))
    assert "target 10.0; in 50 of 50 devices bisection finds no NDR)" in said


@pytest.mark.parametrize(
    ("figures", "verdict"),
    [
        ({"min": 0.81, "max": 1.2, "n": 5}, "met"),
        ({"min": 0.5, "max": 0.79, "n": 5, "ratio": 0.6}, "MISSED"),
        ({"min": 0.79, "max": 1.2, "n": 150}, "not told"),
        ({"min": 0.9, "max": 1.2, "n": 4}, "not told"),
        ({"min": 0.9, "max": 0.9, "ratio": 0.9, "n": 1}, "met"),
        ({"min": 0.7, "max": 0.99, "ratio": 0.7, "n": 6}, "MISSED"),
    ],
)
def test_of_a_result_without_its_pairs_only_what_all_of_them_say_is_told(
    figures: dict[str, Any], verdict: str
) -> None:
    row = result("ledger", **figures)
    del row["pairs"]
    assert pages.verdict_of(row) == verdict


def test_a_small_ratio_is_said_with_digits_that_say_something(tmp_path: Path) -> None:
    (line,) = (
        line
        for line in pages.everything(read(tmp_path, result("rule-changes", **pairs(0.000234))))
        if line.startswith("| `rule-changes`")
    )
    assert "| 0.00023 (0.00023 to 0.00024) | **0.80, MISSED** |" in line


def test_a_measurement_that_another_bench_made_took_no_time_of_its_own(tmp_path: Path) -> None:
    rows = read(
        tmp_path, result("firewall-classifier", took_s=0.0), result("firewall-10k-flows", took_s=80.0)
    )
    table = [line for line in pages.everything(rows) if line.startswith("| `firewall-")]
    assert [line.split(" | ")[-1] for line in table] == ["shared with `firewall-new-flows` |", "80 |"]
    assert all(bench.shares in ALL for bench in ALL.values() if bench.shares is not None)


def test_what_did_not_run_is_named_with_its_reason(tmp_path: Path) -> None:
    skipped = {key: result("bring-up")[key] for key in benches.REQUIRED} | {"skipped": "Mininet is missing."}
    said = " ".join(pages.everything(read(tmp_path, result("generator-txonly"), skipped)))
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
    with pytest.raises(pages.ResultsError, match=f"does not say {key}:"):
        benches.read(tmp_path)


@pytest.mark.parametrize("commit", ["0123456789ab-dirty", "unknown"])
def test_a_result_of_no_commit_is_refused(commit: str, tmp_path: Path) -> None:
    with pytest.raises(pages.ResultsError, match=f"is of {commit}"):
        read(tmp_path, result("ledger", commit=commit), mixed=True)


def test_commits_are_not_mixed_unless_asked_for_and_a_row_then_says_its_own(tmp_path: Path) -> None:
    rows = [result("generator-txonly"), result("ledger", commit="ba9876543210", date="2026-11-20")]
    with pytest.raises(pages.ResultsError, match="commit or machine of ledger are not those of"):
        read(tmp_path, *rows)
    table = list(pages.everything(benches.read(tmp_path, mixed=True)))
    assert any(line.startswith("| `ledger` (ba9876543210; 2026-11-20) |") for line in table)
    assert any(line.startswith("| `generator-txonly` |") for line in table)


def test_errors_of_the_search_stand_goal_by_goal(tmp_path: Path) -> None:
    lines = list(pages.of_search(read(tmp_path, SEARCH)))
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


LINE = of_ratios("ledger", [0.9, 0.95, 0.96, 0.965, 1.0], target=1.01, detail={})


def test_a_printed_line_says_in_words_what_was_missed() -> None:
    assert LINE.text() == "ledger 0.960 0.900 1.000 5, MISSED target 1.01"
    assert replace(LINE, target=0.9).text().endswith(", met target 0.9")
    assert replace(LINE, target=None).text() == "ledger 0.960 0.900 1.000 5"
    slower = replace(LINE, target=0.9, generic=Spread(0.8, 0.7, 0.85, 10))
    assert slower.text().endswith("; ours built as the peer: 0.800 0.700 0.850 10, MISSED target 0.9")


def test_what_a_bench_writes_is_what_the_tables_need(tmp_path: Path) -> None:
    (tmp_path / "ledger-of-before.json").write_text('{"bench": "ledger"}', encoding="utf-8")
    results.save(ALL["ledger"], "ledger", [LINE], took_s=3.21, folder=tmp_path)
    results.save_skipped(ALL["bring-up"], "bring-up", "no Mininet", folder=tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"ledger.json", "bring-up.json"}
    ran, skipped = (json.loads((tmp_path / f"{name}.json").read_text()) for name in ("ledger", "bring-up"))
    assert not [key for key in (*benches.REQUIRED, *benches.FIGURES) if key not in ran]
    assert not [key for key in benches.REQUIRED if key not in skipped]
    assert (ran["verdict"], ran["took_s"], skipped["skipped"]) == ("MISSED", 3.2, "no Mininet")
    assert ran["pairs"] == [0.9, 0.95, 0.96, 0.965, 1.0]


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
