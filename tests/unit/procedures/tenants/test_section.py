# SPDX-License-Identifier: Apache-2.0
"""A cloud's report: who gets what through, at which load, and where its parts stand."""

from __future__ import annotations

import pytest

from tests.report import synthetic
from tests.unit.procedures.tenants.made import found, mixed, share
from weir.procedures.tenants import section, section_tcp
from weir.procedures.tenants.section_rows import arrived, rows
from weir.procedures.tenants.section_slope import slopes
from weir.report.blocks import plain
from weir.results.result import Case, Result, Setup
from weir.results.tenants import Tenants, TenantsPoint


@pytest.fixture
def result() -> Result:
    setups = [found(sending, rate)[0] for sending, rate in ((1, 10_000.0), (2, 9000.0), (4, 7000.0))]
    return synthetic.result(setups=setups)


def of_points(*points: TenantsPoint) -> Result:
    record = Tenants(tenants=[one.tenant for one in points[0].shares], standing=4, points=list(points))
    case = Case(frame="64", mean_frame_bytes=64, records={"tenants": record.model_dump(mode="json")})
    setup = Setup(technology="none", chain="all", datapath="Open vSwitch", cases=[case])
    return synthetic.result(setups=[setup])


def test_each_load_of_each_number_of_tenants_has_a_line(result: Result) -> None:
    lines = section.lines(result)
    assert len(lines) == 3 * 3
    assert lines[1] == [
        "1 of 4", "to outside", "64", "10,000", "4,000", "4,000", "60 %", "400.0 µs",
        "compute1:qvo (socket_full) 91%, 1 more place",
    ]  # fmt: skip
    assert lines[7][5] == "4,000–4,003"
    assert lines[2][4] == "none"
    assert lines[2][-1] == "The host took the cores."


def test_of_an_even_number_of_tenants_the_median_is_between_the_two_in_the_middle() -> None:
    delivered = {"a": 100.0, "b": 200.0, "c": 800.0, "d": 1000.0}
    point = TenantsPoint(load_pps=1000, trials=1, shares=[share(*one) for one in _sent(delivered)])
    assert section.lines(of_points(point))[0][4:6] == ["500", "100–1,000"]


def _sent(delivered: dict[str, float]) -> list[tuple[str, float, float]]:
    return [(tenant, 1000.0, packets) for tenant, packets in delivered.items()]


def test_the_latency_is_said_to_be_the_worst_tenants() -> None:
    assert "worst tenant's p99" in section.HEAD
    assert "Latency: of the tenant that has the greatest, the median of its trials'" in section.MEANING[0]


def test_the_summary_begins_with_the_most_tenants_and_ends_with_what_one_more_costs(result: Result) -> None:
    said = list(section.findings(result))
    assert said[0] == (
        "4 of 4 tenants, 64 B: each loses 0.5 % at most of 1,000 packets a second, and the least gets 1,000; "
        "of 10,000 arrive 4,000 to 4,003, lost at compute1:qvo (socket_full) 98%, 1 more place."
    )
    assert said[-1].startswith("PDR at 64 B, from 1 to 4 tenants that send: each one more takes 10.0% of")


def test_a_load_of_which_little_time_counts_has_a_mark() -> None:
    shares = [share("t1", 1000, 1000)]
    points = [
        TenantsPoint(load_pps=load, trials=1, shares=shares, counted_share=counted)
        for load, counted in ((1000, 0.8), (2000, 0.4))
    ]
    made = of_points(*points)
    assert [line[3] for line in section.lines(made)] == ["1,000", "2,000 D"]
    table = section.csv(made)
    assert table is not None
    assert [row["counted_share"] for row in table.rows] == [0.8, 0.4]


def test_a_load_is_not_carried_if_one_tenant_of_many_loses_much_of_it() -> None:
    shares = [share("t1", 1000, 690), *(share(f"t{number}", 1000, 1000) for number in range(2, 65))]
    (said,) = section.findings(of_points(TenantsPoint(load_pps=1000, trials=1, shares=shares)))
    assert said.endswith(
        ": the lowest of the loads is not carried; of 1,000 arrive 690 to 1,000, lost at a queue that grew."
    )


def test_what_the_least_tenant_gets_of_a_carried_load_is_told() -> None:
    shares = [share("t1", 1000, 996), share("t2", 1000, 1000)]
    (said,) = section.findings(of_points(TenantsPoint(load_pps=1000, trials=1, shares=shares)))
    assert said.endswith(": each loses 0.5 % at most of 1,000 packets a second, and the least gets 996.")


def test_a_load_that_was_not_sent_in_full_is_told_with_what_was_sent() -> None:
    point = TenantsPoint(load_pps=5000, trials=1, shares=[share("t1", 1500, 1500)])
    (said,) = section.findings(of_points(point))
    assert said.endswith("at most of 5,000 packets a second (1,500 were sent), and gets 1,500.")


def test_loads_are_looked_at_from_the_lowest_whatever_the_order_of_the_file() -> None:
    got = {30_000.0: 4000.0, 1000.0: 1000.0, 3000.0: 2000.0, 300.0: 300.0}
    points = [
        TenantsPoint(load_pps=load, trials=1, shares=[share("t1", load, packets)])
        for load, packets in got.items()
    ]
    (said,) = section.findings(of_points(*points))
    assert said.endswith(
        " of 1,000 packets a second, and gets 1,000; of 3,000 arrive 2,000, lost at a queue that grew."
    )


def test_the_terminal_shows_what_the_page_shows(result: Result) -> None:
    shown = "".join(plain(one, 200) for one in section.terminal(result))
    assert "compute1:qvo (socket_full) 91%" in shown
    (part, paper) = section.page(result)
    assert "compute1:qvo (socket_full) 91%" in str(part.content[0])
    assert "about 10%, from 2 to 4" in str(paper.content[0])


def test_where_packets_were_lost_is_words_that_may_take_several_lines_on_the_page(result: Result) -> None:
    """A narrow page would hide the column otherwise."""
    (content,) = next(iter(section.page(result))).content
    assert f'class="wrap">{section.HEAD[-1]}</th>' in str(content)
    assert str(content).count('<td class="wrap">') == len(section.lines(result))


def test_the_table_has_a_row_for_each_tenant(result: Result) -> None:
    table = section.csv(result)
    assert table is not None
    rows = list(table.rows)
    assert len(rows) == 2 * (1 + 2 + 4)
    assert {key for row in rows for key in row} == set(section.COLUMNS) - set(section_tcp.COLUMNS)
    assert rows[-1]["tenant"] == "t4"


def test_where_several_ways_to_filter_are_compared_each_line_says_which(result: Result) -> None:
    for setup, name in zip(result.setups, ("bridge-filter", "none", "none"), strict=True):
        setup.technology = name
    assert [line[0] for line in section.lines(result)][::3] == [
        "bridge-filter, 1 of 4",
        "none, 2 of 4",
        "none, 4 of 4",
    ]
    (slope,) = slopes(result)
    assert (slope.of, slope.fewest, slope.most) == ("64 B, none", 2, 4)


def test_runs_of_chains_have_none_of_it() -> None:
    assert section.SECTION.kind(synthetic.result()) is None
    assert list(section.terminal(synthetic.result())) == []
    assert section.csv(synthetic.result()) is None


def test_tenants_behind_other_functions_have_a_line_of_their_own() -> None:
    lines = section.lines(synthetic.result(setups=[mixed(1, 200e6), mixed(3, 150e6)]))
    assert [line[0] for line in lines] == ["1 of 3", "3 of 3: plain", "3 of 3: 2 through shaper"]
    assert lines[2][4:6] == ["225", "200–250"]
    assert lines[2][-1].startswith("shared.shaper:eth0 (queue_full) 84%, 1 more place")


def in_both_directions() -> Result:
    """From outside less arrives."""
    ways = {"left-to-right": 1000.0, "right-to-left": 400.0}
    shares = [
        share(tenant, 1000, delivered).model_copy(update={"direction": direction})
        for tenant in ("t1", "t2")
        for direction, delivered in ways.items()
    ]
    record = Tenants(
        tenants=["t1", "t2"],
        standing=4,
        points=[TenantsPoint(load_pps=1000, trials=3, shares=shares)],
        directions=list(ways),
    )
    case = Case(frame="64", mean_frame_bytes=64, records={"tenants": record.model_dump(mode="json")})
    return synthetic.result(
        setups=[Setup(technology="none", chain="2 of 4", datapath="Open vSwitch", cases=[case])]
    )


def test_each_direction_has_a_line_and_rows_of_its_own_and_both_have_one_finding() -> None:
    both = in_both_directions()
    assert [line[:5] for line in section.lines(both)] == [
        ["2 of 4", "to outside", "64", "1,000", "1,000"],
        ["2 of 4", "from outside", "64", "1,000", "400"],
    ]
    assert list(section.findings(both)) == [
        "2 of 4 tenants, 64 B, to outside: each loses 0.5 % at most of 1,000 packets a second, and the least "
        "gets 1,000. From outside: the lowest of the loads is not carried; of 1,000 arrive 400, lost "
        "at a queue that grew."
    ]
    table = section.csv(both)
    assert table is not None
    assert [(row["tenant"], row["direction"], row["delivered_pps"]) for row in table.rows] == [
        ("t1", "left-to-right", 1000),
        ("t1", "right-to-left", 400),
        ("t2", "left-to-right", 1000),
        ("t2", "right-to-left", 400),
    ]
    assert section.paper_lines(both) == []
    assert any(
        "in both directions together" in text for note in section.notes(both) for text in note.sentences
    )


def test_a_readme_says_of_which_direction_what_arrived_is_unless_all_goes_outside(result: Result) -> None:
    (row,) = rows(in_both_directions())
    assert arrived(row, row.record.points[0]) == "to outside: 1,000; from outside: 400, 60 % lost"
    assert arrived(rows(result)[0], rows(result)[0].record.points[1]) == "4,000, 60 % lost"
