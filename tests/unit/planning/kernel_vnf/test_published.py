# SPDX-License-Identifier: Apache-2.0
"""The numbers of [ExecAreas]: what Tables 1 and 2 say together, and what follows from them."""

from __future__ import annotations

import csv
from importlib import resources

import pytest

from weir.planning.kernel_vnf.configuration import PUBLISHED, agree, calibrated, disagreements, published
from weir.planning.kernel_vnf.equations import Parameters, cumulative_cycles
from weir.planning.kernel_vnf.ranking import Case, predict

NAMES = ["1+1/ic-off", "1+1/ic125", "2+1/ic-off", "2+1/ic125", "3+1", "4+1", "4+2", "5+2"]
AGREEING = ["1+1/ic-off", "1+1/ic125"]


@pytest.mark.parametrize("source", PUBLISHED)
def test_the_eight_configurations_are_there_in_the_papers_order(source: str) -> None:
    assert list(published(source)) == NAMES
    assert [one.cores for one in published(source).values()] == [2, 2, 3, 3, 4, 5, 6, 7]


@pytest.mark.parametrize("table", PUBLISHED)
def test_each_number_names_its_place_in_the_paper(table: str) -> None:
    text = resources.files("weir.planning.kernel_vnf").joinpath(f"{table}.csv").read_text(encoding="utf-8")
    rows = list(csv.DictReader(text.splitlines()))
    column = {row["config"]: f"Table {table[-1]}, column {NAMES.index(row['config']) + 1}" for row in rows}
    assert all(column[row["config"]] in row["source"] for row in rows)


@pytest.mark.parametrize(
    ("name", "scale", "frame_bytes", "printed"),
    [
        ("1+1/ic-off", 2, 64, 37232),
        ("1+1/ic-off", 2, 1024, 40962),
        ("1+1/ic-off", 4, 64, 86898),
        ("1+1/ic-off", 4, 1024, 92456),
    ],
)
def test_table_2_gives_the_points_of_table_1_to_the_printed_precision(
    name: str, scale: int, frame_bytes: int, printed: int
) -> None:
    assert round(cumulative_cycles(published("table-2")[name].parameters, scale, frame_bytes)) == printed


@pytest.mark.parametrize(
    ("name", "printed"),
    [
        ("1+1/ic-off", Parameters(0.9521, 1.9813, 24772.0, -12560.8)),
        ("1+1/ic125", Parameters(2.0494, -1.0486, 14814.0, -8239.8)),
    ],
)
def test_the_points_of_table_1_give_table_2_within_what_rounding_them_hides(
    name: str, printed: Parameters
) -> None:
    found = published("table-1")[name].parameters
    # Half a cycle in each point: 1/960 in a slope, so 1/960 in a, (1 + 2)/960 in a0; likewise in b and b0.
    assert found.a == pytest.approx(printed.a, abs=1 / 960)
    assert found.a0 == pytest.approx(printed.a0, abs=3 / 960)
    assert found.b == pytest.approx(printed.b, abs=0.6)
    assert found.b0 == pytest.approx(printed.b0, abs=1.7)


def test_the_tables_agree_in_two_columns_and_in_no_other() -> None:
    assert [name for name in NAMES if agree(name)] == AGREEING


@pytest.mark.parametrize(
    ("name", "percent"),
    [
        ("2+1/ic-off", [4.4, -2.9, 4.3, 1.3]),
        ("2+1/ic125", [5.5, -3.9, 3.1, 2.2]),
        ("3+1", [4.4, -2.6, 1.0, 0.7]),
        ("4+1", [-0.7, -1.1, -0.2, 4.6]),
        ("4+2", [1.0, -5.8, 0.3, 2.9]),
        ("5+2", [13.7, -14.9, 3.9, -0.7]),
    ],
)
def test_the_other_columns_disagree_by_so_many_percent(name: str, percent: list[float]) -> None:
    assert [round(100 * one, 1) for one in disagreements(name)] == percent


def test_table_1_has_4_1_and_larger_scale_by_the_same_costs() -> None:
    added = {
        name: [high.cycles - low.cycles for low, high in zip(points[:2], points[2:], strict=True)]
        for name in NAMES[4:]
        for points in [published("table-1")[name].points]
    }
    assert added["4+1"] == added["4+2"] == added["5+2"] == [6904, 7105]
    assert added["3+1"] == [6972, 7439]


@pytest.mark.parametrize(
    ("name", "flows", "mpps", "gbps"),
    [
        ("1+1/ic-off", 2, 0.398, 0.267),
        ("1+1/ic-off", 100, 0.681, 0.458),
        ("1+1/ic125", 2, 0.686, 0.461),
        ("1+1/ic125", 100, 1.150, 0.773),
    ],
)
@pytest.mark.parametrize("source", PUBLISHED)
def test_throughput_of_the_papers_machine_is_the_same_by_both_tables_where_they_agree(
    source: str, name: str, flows: int, mpps: float, gbps: float
) -> None:
    found = predict(published(source)[name], Case(3.7e9, 8, 10e9, flows, 64))
    assert found.scale == min(flows, 4)
    assert round(found.throughput.pps / 1e6, 3) == mpps
    assert round(found.throughput.l1_bps / 1e9, 3) == gbps


def test_a_file_of_rates_calibrates_like_one_of_costs() -> None:
    by_cost = published("table-1")["2+1/ic125"]
    lines = ["config,f,frame_bytes,cpu_ghz,mpps"] + [
        f"2+1/ic125,{p.scale},{p.frame_bytes:g},3.7,{p.scale**2 * 3.7e3 / p.cycles!r}" for p in by_cost.points
    ]
    found = calibrated("\n".join(lines))["2+1/ic125"]
    assert found.parameters.b == pytest.approx(by_cost.parameters.b)
    assert found.parameters.a0 == pytest.approx(by_cost.parameters.a0)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("config,f\n", "expected a first line with config,f,frame_bytes and cycles"),
        ("config,f,frame_bytes,cycles\n", "no points"),
        (
            "config,f,frame_bytes,cycles\n2+1,1,64,many\n",
            "line 2: expected numbers in f, frame_bytes, cycles",
        ),
        ("config,f,frame_bytes,cycles\n2+1,1,64,-5\n", "line 2: expected numbers above 0"),
        ("config,f,frame_bytes,cycles\n2+1,1,64,nan\n", "line 2: expected numbers above 0"),
        ("config,f,frame_bytes,cycles\n2+1,1,64\n", "line 2: expected numbers"),
        ("config,f,frame_bytes,cycles\n2+1,1,64,500\n", r"2\+1: 1 points that do not tell"),
        (
            "config,f,frame_bytes,cycles\n" + "".join(f"x,{f},{s},9\n" for f in (1, 2) for s in (64, 99)),
            "expected cores as x\\+y",
        ),
    ],
)
def test_a_file_that_is_no_calibration_is_refused(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        calibrated(text)
