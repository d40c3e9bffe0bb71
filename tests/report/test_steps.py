# SPDX-License-Identifier: Apache-2.0
"""What steps bring, in each format: one table, one plot, a sentence in the summary, columns of the CSV."""

from __future__ import annotations

import csv
import io
import json
import re
from typing import Any

from weir import report
from weir.report.sections import executive_summary
from weir.report.terminal import render

from .stepped import NO_OFFLOAD, STEPS, stepped
from .synthetic import result

TITLE = "What each step brings"


def table_of(text: str) -> dict[str, list[str]]:
    """Cells by step, of the terminal's table."""
    lines = text.partition(TITLE)[2].partition("\n\n")[0].splitlines()
    return {words[0]: words[1:] for words in map(str.split, lines) if words and words[0] in STEPS}


def test_the_terminal_has_a_row_for_each_step_with_rates_cycles_and_their_intervals() -> None:
    rows = table_of(report.render(stepped(), "terminal"))
    assert list(rows) == list(STEPS)
    assert rows["plain"] == ["1.000", "–", "–", "400", "–", "–"]
    assert rows["index"] == ["2.200", "2.00", "2.00–3.00", "2.00", "200", "2.00", "2.00–4.00", "2.00"]
    assert rows["fast-path"] == ["4.000", "1.82", "1.48–2.00", "4.00", "100", "2.00", "1.00–2.50", "4.00"]
    assert rows["offload"] == ["–"] * 6


def test_the_terminal_draws_both_measures_to_one_scale() -> None:
    text = report.render(stepped(), "terminal")
    bars = {mark: [len(one) for one in re.findall(rf"({mark}+) \d", text)] for mark in "█▒"}
    assert bars == {"█": [10, 20, 40], "▒": [10, 20, 40]}


def test_a_table_of_several_chains_names_each() -> None:
    made = stepped()
    made.setups += [one.model_copy(update={"chain": "ran-upf-content"}) for one in made.setups]
    part = report.render(made, "terminal").partition(TITLE)[2].partition("Left out")[0]
    assert part.count("ran-upf, 128 B") == part.count("ran-upf-content,") == 2


def test_it_fits_80_columns() -> None:
    lines = report.render(stepped(), "terminal").partition(TITLE)[2].partition("Left out")[0].splitlines()
    assert max(map(len, lines)) <= 80


def test_the_page_has_one_plot_and_one_table_before_the_throughput() -> None:
    page = report.render(stepped(), "html")
    part = page.partition('<section id="steps"')[2].partition("</section>")[0]
    assert page.index('<section id="steps"') < page.index('<section id="throughput"')
    assert part.count("<svg") == 1
    assert [re.sub("<.*?>", "", row) for row in re.findall("<tbody>(.*?)</tbody>", part)]
    rows = [re.findall(r"<td[^>]*>(.*?)</td>", row) for row in re.findall(r"<tr>(.*?)</tr>", part)][1:]
    assert rows[1] == [
        "ran-upf, 128 B", "index", "2.200", "2.00 (2.00–3.00)", "2.00 (2.00–3.00)",
        "200", "2.00 (2.00–4.00)", "2.00 (2.00–4.00)", "250", "1.83 (1.80–3.00)", "1.83 (1.80–3.00)",
    ]  # fmt: skip


def test_the_plots_bars_are_as_long_as_the_numbers_beside_them() -> None:
    part = report.render(stepped(), "html").partition('<section id="steps"')[2].partition("</svg>")[0]
    bars: dict[str, list[float]] = {}
    for width, name in re.findall(r'<rect [^>]*width="([\d.]+)" height="10" class="(b\d)"', part):
        bars.setdefault(name, []).append(float(width))
    for name, values in {"b0": (1, 2, 4), "b1": (1, 2, 4), "b2": (1, 11 / 6, 3)}.items():
        widths = bars[name]
        assert len(widths) == len(values)
        for width, value in zip(widths, values, strict=True):
            assert abs(width - value * widths[0]) <= 0.2, (name, widths)
    assert "4.00 (1.82)" in part
    assert part.count('class="span"') == 2 * 3, "whiskers of the two steps that are compared"


def test_the_plot_leaves_out_what_nothing_is_known_of() -> None:
    made = stepped()
    for setup in made.setups:
        for case in setup.cases:
            for trial in case.trials:
                trial.areas = []
    part = report.render(made, "html").partition('<section id="steps"')[2].partition("</section>")[0]
    assert 'class="b0"' in part
    assert 'class="b1"' not in part
    assert "in the same cycles" not in part


def test_markdown_has_the_same_table() -> None:
    text = report.render(stepped(), "markdown")
    assert f"## {TITLE}" in text
    assert "| ran-upf, 128 B | index | 2.200 | 2.00 (2.00–3.00) |" in text


def test_a_csv_row_has_what_its_step_brings() -> None:
    text = report.render(stepped(), "csv")
    rows = {row["step"]: row for row in csv.DictReader(io.StringIO(text, newline="")) if row["goal"]}
    assert list(rows) == list(STEPS)
    assert (rows["offload"]["status"], rows["offload"]["why"]) == ("refused", f"left out: {NO_OFFLOAD}")
    assert (rows["index"]["status"], float(rows["index"]["load_pps"])) == ("found", 2.2e6)
    index = rows["index"]
    assert index["step_before"] == "plain"
    shared = ("value", "min", "max")
    rates = [index[f"ratio_to_step_before{'' if one == 'value' else f'_{one}'}"] for one in shared]
    fewer = [
        index[f"functions_fewer_than_step_before{'' if one == 'value' else f'_{one}'}"] for one in shared
    ]
    assert [*map(float, rates), *map(float, fewer)] == [2, 2, 3, 2, 2, 4]
    assert float(rows["fast-path"]["ratio_to_first_step"]) == 4
    assert (float(index["functions_cycles_per_packet"]), float(index["way_cycles_per_packet"])) == (200, 250)
    assert (index["confirming_trials"], index["cycles_bound"]) == ("3", "=")
    assert rows["plain"]["ratio_to_step_before"] == ""


def test_of_a_search_that_ran_out_of_time_there_is_no_rate_and_no_ratio_to_it() -> None:
    made = stepped()
    plain = made.setups[0].cases[0]
    plain.throughput = [plain.throughput[0].model_copy(update={"out_of_time": True})]
    rows = {row["step"]: row for row in csv.DictReader(io.StringIO(report.render(made, "csv"), newline=""))}
    assert (rows["plain"]["status"], rows["plain"]["load_pps"]) == ("out of time", "")
    assert rows["index"]["ratio_to_step_before"] == ""
    assert rows["index"]["functions_fewer_than_step_before"] == "2.0"
    part = report.render(made, "html").partition('<section id="steps"')[2].partition("</svg>")[0]
    assert 'class="b1"' in part
    assert 'class="b0"' not in part


def test_json_has_the_steps_names_and_all_that_they_are_told_from() -> None:
    document = json.loads(report.render(stepped(), "json"))
    assert document["spec"]["steps"] == list(STEPS)
    trials = document["setups"][1]["cases"][0]["trials"]
    assert [area["busy_cycles"] for area in trials[1]["areas"]][:2] == [120_000, 130_000]


def test_the_summary_begins_with_what_each_step_brings() -> None:
    first = executive_summary(stepped())[0]
    assert first == (
        "Step by step, NDR through ran-upf, 128 B: index 2.00 × (2.00–3.00), fast-path 1.82 × (1.48–2.00) "
        "the rate of the one before."
    )


def test_a_step_that_was_left_out_is_named_with_its_reason() -> None:
    text = report.render(stepped(), "terminal")
    assert f"offload: {NO_OFFLOAD}" in text


def test_a_step_that_found_no_rate_says_why_below_the_table() -> None:
    made = stepped()
    case = made.setups[1].cases[0]
    none: dict[str, Any] = {
        "status": "irregular",
        "load_pps": None,
        "rounds": [],
        "why": "Nothing came through.",
    }
    case.throughput = [case.throughput[0].model_copy(update=none)]
    text = " ".join(render(made, whole=True).split())
    assert "Steps without a rate – index, ran-upf, 128 B: Nothing came through." in text


def test_a_lab_without_steps_has_no_such_section() -> None:
    made = result()
    assert TITLE not in report.render(made, "terminal")
    assert '<section id="steps"' not in report.render(made, "html")
    assert "Step by step" not in "".join(executive_summary(made))
