# SPDX-License-Identifier: Apache-2.0
"""Rate, delay and cycles of what is compared: one table of page and Markdown, and columns of the CSV."""

from __future__ import annotations

import csv
import io

from weir import report
from weir.procedures.side_by_side.section import TITLE, tables
from weir.report.numbers import in_us
from weir.report.sections import PlainTable
from weir.results.result import DelayPoint, Result

from .latency_runs import SLOWEST_OF_1000, trial
from .stepped import stepped
from .synthetic import result


def compared() -> Result:
    """Three variants, none of them a step."""
    made = stepped()
    made.spec.pop("steps")
    return made


def table(made: Result) -> PlainTable:
    (found,) = tables(made)
    return found


def test_each_case_has_its_rate_its_ratio_and_its_cycles() -> None:
    found = table(compared())
    assert found.head[:5] == ("chain", "frame", "variant", "NDR, Mpps", "×")
    assert found.head[5:] == ("cycles, functions", "cycles, threads", "cycles, way")
    assert found.lines == [
        ["ran-upf", "128", "plain", "1.000", "1", "400", "420", "450"],
        ["ran-upf", "128", "index", "2.200", "2.00", "200", "220", "250"],
        ["ran-upf", "128", "fast-path", "4.000", "4.00", "100", "120", "150"],
    ]


def test_delays_are_of_the_first_load_and_of_valid_trials() -> None:
    made = compared()
    first, second, _ = (setup.cases[0] for setup in made.setups[:3])
    point = DelayPoint(load="100kpps", load_pps=1e5, worst_direction="right-to-left")
    first.delays = [
        point.model_copy(update={"first_packets": True, "trials": [trial(SLOWEST_OF_1000, times=9)]}),
        point.model_copy(update={"trials": [trial(SLOWEST_OF_1000)]}),
    ]
    second.delays = [point.model_copy(update={"trials": [trial(SLOWEST_OF_1000, valid=False)]})]
    found = table(made)
    worst = first.delays[1].worst
    assert worst is not None
    assert worst.direction == "right-to-left"
    assert worst.latency is not None
    assert found.head[5:7] == ("P50 at 100kpps, µs", "P99, µs")
    assert found.lines[0][5:7] == [in_us(worst.latency.p50_us), in_us(worst.latency.p99_us)]
    assert [line[5:7] for line in found.lines[1:]] == [["–", "–"], ["–", "–"]]


def test_delays_at_different_loads_do_not_stand_in_one_column() -> None:
    made = compared()
    first, second, _ = (setup.cases[0] for setup in made.setups[:3])
    share, rate = (
        DelayPoint(load=load, load_pps=1e5, worst_direction="right-to-left", trials=[trial(SLOWEST_OF_1000)])
        for load in ("10% PDR", "100Mbit/s")
    )
    first.delays, second.delays = [share, rate], [rate]
    assert table(made).head[5] == "P50 at 100Mbit/s, µs"
    second.delays = [rate.model_copy(update={"load": "1Gbit/s"})]
    assert table(made).head[5] == "P50 at 10% PDR, µs"
    assert table(made).lines[1][5:7] == ["–", "–"]


def test_page_and_markdown_have_it_and_a_lab_with_steps_or_without_areas_has_not() -> None:
    for form in ("html", "markdown"):
        assert TITLE in report.render(compared(), form)
        assert TITLE not in report.render(stepped(), form)
        assert TITLE not in report.render(result(), form)


def test_a_run_that_compares_nothing_has_none() -> None:
    made = compared()
    made.setups = made.setups[:1]
    assert list(tables(made)) == []


def test_the_csv_has_cycles_of_each_rate() -> None:
    made = compared()
    for case_trial in made.setups[2].cases[0].trials:
        case_trial.areas = [one.model_copy(update={"kind": "guest"}) for one in case_trial.areas[:1]]
    rows = {
        row["variant"]: row for row in csv.DictReader(io.StringIO(report.render(made, "csv"), newline=""))
    }
    names = [f"{name}_cycles_per_packet" for name in ("functions", "threads", "way")]
    assert [float(rows["index"][name]) for name in names] == [200, 220, 250]
    assert (rows["index"]["cycles_bound"], rows["fast-path"]["cycles_bound"]) == ("=", "<=")
    assert (rows["offload"]["way_cycles_per_packet"], rows["offload"]["cycles_bound"]) == ("", "")
