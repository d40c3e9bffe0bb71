# SPDX-License-Identifier: Apache-2.0
"""What was lost at given loads stands beside the delays, which are of the packets that arrived."""

from __future__ import annotations

import csv
import io

from tests.report.latency_runs import latency_run
from weir.procedures.latency.section import SECTION
from weir.procedures.latency.section_losses import shown
from weir.report import render
from weir.results.result import Drop, Result

SENT = 2000


def run(*, lost: int = 0, searched: bool = False) -> Result:
    """Of one technology at one load, two directions of a thousand packets each."""
    made = latency_run(["direct"])
    made.spec["measure"] = {"latency": {"loads": ["10% PDR"]}, "goals": [{"name": "NDR"}] if searched else []}
    (point,) = made.setups[0].cases[0].delays
    (trial,) = point.trials
    trial.delivered -= lost
    trial.streams[0].delivered -= lost
    trial.drops = [Drop(place="f1.left", reason="rx_missed", packets=lost)] if lost else []
    return made


def test_a_run_that_searched_for_nothing_says_what_was_lost_and_how_much_was_sent() -> None:
    (row,) = shown(run())
    assert (row.offered, row.lost, row.loss_ratio, row.most) == (SENT, 0, 0.0, "")
    assert next(iter(SECTION.findings(run()))) == f"Nothing was lost: {SENT:,} packets were sent."
    assert "what was lost" in render(run(), "terminal")


def test_beside_a_search_losses_are_told_where_there_are_some() -> None:
    assert shown(run(searched=True)) == []
    assert "what was lost" not in render(run(searched=True), "terminal")
    (row,) = shown(run(lost=500, searched=True))
    assert (row.lost, row.loss_ratio, row.most) == (500, 0.25, "rx_missed at f1.left")


def test_the_loss_comes_before_the_delay_of_what_arrived() -> None:
    loss, delay = SECTION.findings(run(lost=500))
    assert loss == (
        "At 10% PDR (direct PVP, 64 B) 25 % of 2,000 packets were lost, most as rx_missed at f1.left."
    )
    assert "the P99 of the delay is" in delay


def test_of_what_was_too_much_it_is_said_that_it_was_still_in_queues() -> None:
    made = run()
    made.setups[0].cases[0].delays[0].trials[0].backlog = 900
    (row,) = shown(made)
    assert (row.lost, row.most) == (900, "still in queues at the end")
    loss, _ = SECTION.findings(made)
    assert loss.endswith(" 45 % of 2,000 packets were lost, most still in queues at the end.")


def test_every_form_has_the_losses() -> None:
    page, text = render(run(lost=500), "html"), render(run(lost=500), "markdown")
    assert "Losses at given loads" in page
    assert "## Losses at given loads" in text
    assert "| 2.000 | 2,000 | 500 | 25 % | rx\\_missed at f1.left |" in text


def test_the_csv_of_a_run_that_searched_for_nothing_has_a_row_a_load_repeat_and_direction() -> None:
    made = run(lost=500)
    rows = list(csv.DictReader(io.StringIO(render(made, "csv"))))
    assert [row["direction"] for row in rows] == ["left-to-right", "right-to-left"]
    assert [row["counted_lost"] for row in rows] == ["500", "0"]
    assert float(rows[0]["latency_p99_us"]) > 0
    assert {row["run"] for row in rows} == {made.id}
    searched = csv.DictReader(io.StringIO(render(run(searched=True), "csv")))
    assert "goal" in (searched.fieldnames or ())


def test_what_a_load_lost_that_was_never_sent_is_no_finding_and_says_why() -> None:
    made = run(lost=500)
    (trial,) = made.setups[0].cases[0].delays[0].trials
    trial.valid, trial.invalid_because = False, ["The tester sent 900 of 2900 packets too few."]
    assert not any("lost" in sentence for sentence in SECTION.findings(made))
    said = render(made, "terminal")
    assert "(invalid)" in said
    assert "direct PVP, frame 64, at 10% PDR: The tester sent 900 of 2900" in " ".join(said.split())
