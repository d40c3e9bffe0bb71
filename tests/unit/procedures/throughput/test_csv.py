# SPDX-License-Identifier: Apache-2.0
"""The CSV says what the JSON says."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

from tests.report.disturbed import disturbed
from tests.report.hostile import hostile
from tests.report.synthetic import result
from weir import report
from weir.results.result import Result

NUMBERS = ("load_pps", "load_min_pps", "load_max_pps", "l2_bps", "l1_bps", "loss_ratio", "goal_loss_ratio")


def rows_of(made: Result) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(report.render(made, "csv"), newline="")))


def found_in_json(made: Result) -> dict[tuple[str, str, str, str], dict[str, Any]]:
    document = json.loads(report.render(made, "json"))
    return {
        (setup["technology"], setup["chain"], case["frame"], found["goal"]): found
        for setup in document["setups"]
        for case in setup["cases"]
        for found in case["throughput"]
    }


def test_each_throughput_is_one_row_with_the_numbers_of_the_json() -> None:
    made = result()
    rows = {(r["technology"], r["chain"], r["frame"], r["goal"]): r for r in rows_of(made) if r["goal"]}
    expected = found_in_json(made)
    assert rows.keys() == expected.keys()
    for key, found in expected.items():
        for column in NUMBERS:
            cell = rows[key][column]
            assert (float(cell) if cell else None) == found[column], (key, column)


def test_ratio_is_load_over_the_load_of_the_baseline() -> None:
    made = result()
    expected = found_in_json(made)
    checked = 0
    for row in rows_of(made):
        if row["ratio_to_baseline"]:
            base = expected["linux-bridge", row["chain"], row["frame"], row["goal"]]
            assert float(row["ratio_to_baseline"]) == float(row["load_pps"]) / base["load_pps"]
            checked += 1
    assert checked == 4 * 2 * 4 * 2 - 4, "all but the irregular ones of ovs"


def test_a_ratio_has_its_interval_and_its_bound() -> None:
    rows = {row["technology"]: row for row in rows_of(disturbed())}
    columns = ("ratio_to_baseline", "ratio_min", "ratio_max", "ratio_bound", "flags")
    assert [rows["direct"][column] for column in columns] == ["20.0", "19.0", "21.0", ">=", "T"]
    assert [rows["linux-bridge"][column] for column in columns] == ["1.0", "1.0", "1.0", "=", ""]
    assert [rows["ovs-dpdk"][column] for column in columns] == ["", "", "", "none", "SD"]


def test_an_answer_out_of_time_has_both_bounds_and_no_rate() -> None:
    row = next(row for row in rows_of(disturbed()) if row["technology"] == "ovs")
    assert (row["status"], row["lower_bound_pps"], row["upper_bound_pps"]) == (
        "out of time",
        "100000.0",
        "250000.0",
    )
    assert {row[column] for column in ("load_pps", "load_min_pps", "load_max_pps", "l2_bps", "l1_bps")} == {
        ""
    }
    assert row["ratio_bound"] == "none"


def test_refused_technologies_and_given_up_cases_have_a_row_with_the_reason() -> None:
    made = result()
    made.setups[0].cases[0] = (
        made.setups[0].cases[0].model_copy(update={"problem": "port gone", "throughput": []})
    )
    said = {(row["technology"], row["status"]): row["why"] for row in rows_of(made)}
    assert "sriov_totalvfs" in said["sr-iov", "refused"]
    assert said["direct", "given up"] == "port gone"


def test_a_case_that_was_given_up_after_it_had_throughputs_has_their_rows_and_no_other() -> None:
    made = disturbed()
    case = made.setups[1].cases[0]
    case.problem = "Interrupted before it was finished."
    (row,) = [row for row in rows_of(made) if row["technology"] == "linux-bridge"]
    assert (row["goal"], row["status"], row["load_pps"]) == ("NDR", "found", "400000.0")
    assert (row["why"], row["flags"]) == (case.problem, "X")
    case.throughput = [case.throughput[0].model_copy(update={"status": "irregular", "why": "Late."})]
    (row,) = [row for row in rows_of(made) if row["technology"] == "linux-bridge"]
    assert (row["status"], row["why"], row["flags"]) == ("irregular", f"Late. {case.problem}", "IX")


def test_an_irregular_answer_of_disturbed_trials_says_how_much_was_left_out() -> None:
    made = disturbed()
    lost = {"status": "irregular", "load_pps": None, "left_out_share": 1.0, "why": "Others had a core."}
    case = made.setups[0].cases[0]
    case.throughput = [case.throughput[0].model_copy(update=lost)]
    rows = {row["technology"]: row for row in rows_of(made)}
    columns = ("disturbed", "left_out_share", "flags")
    assert [rows["direct"][column] for column in columns] == ["true", "1.0", "TDI"]
    assert [rows["linux-bridge"][column] for column in columns] == ["false", "0.0", ""]


def test_quotes_and_line_breaks_in_texts_stay_in_their_cell() -> None:
    made = result()
    attacked = hostile(made, attack='",\r\n"x')
    assert len(rows_of(attacked)) == len(rows_of(made))
