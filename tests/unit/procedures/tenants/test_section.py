# SPDX-License-Identifier: Apache-2.0
"""A cloud's report: who gets what through, where the rest is lost, and what a tenant more costs."""

from __future__ import annotations

import pytest

from tests.report import synthetic
from weir.procedures.tenants import section, section_paper, section_tcp
from weir.procedures.tenants.section_slope import costs, fitted, slopes
from weir.report.blocks import plain
from weir.results.result import Case, Result, Setup, Throughput
from weir.results.tenants import TcpShare, Tenants, TenantShare, TenantsPoint, TenantsTcp
from weir.results.trial import Drop

QVO = "compute1:qvo of {}.1"


def share(tenant: str, offered: float, delivered: float) -> TenantShare:
    return TenantShare(
        tenant=tenant, offered_pps=offered, delivered_pps=delivered, delivered_min_pps=delivered - 1,
        delivered_max_pps=delivered + 1, loss_ratio=1 - delivered / offered, latency_p99_us=delivered / 10,
    )  # fmt: skip


def found(sending: int, rate_pps: float) -> tuple[Setup, Case]:
    names = [f"t{number}" for number in range(1, sending + 1)]
    lost = [Drop(place=QVO.format(name), reason="socket_full", packets=600) for name in names]
    record = Tenants(
        tenants=names,
        standing=4,
        points=[
            TenantsPoint(load_pps=1000, trials=3, shares=[share(name, 1000, 1000) for name in names]),
            TenantsPoint(
                load_pps=10_000,
                trials=3,
                shares=[share(name, 10_000, 4000 + number) for number, name in enumerate(names)],
                drops=[*lost, Drop(place="t1.1:eth0", reason="interface_tx_dropped", packets=60)],
            ),
            TenantsPoint(load_pps=30_000, trials=0, why="The host took the cores."),
        ],
    )
    case = Case(
        frame="64",
        mean_frame_bytes=64,
        records={"tenants": record.model_dump(mode="json")},
        throughput=[
            Throughput(
                goal="PDR", goal_loss_ratio=0.005, status="found", load_pps=rate_pps, repeats=3,
                load_min_pps=rate_pps * 0.99, load_max_pps=rate_pps * 1.01,
            )
        ],
    )  # fmt: skip
    return Setup(technology="none", chain=f"{sending} of 4", datapath="Open vSwitch", cases=[case]), case


@pytest.fixture
def result() -> Result:
    setups = [found(sending, rate)[0] for sending, rate in ((1, 10_000.0), (2, 9000.0), (4, 7000.0))]
    return synthetic.result(setups=setups)


def test_each_load_of_each_number_of_tenants_has_a_line(result: Result) -> None:
    lines = section.lines(result)
    assert len(lines) == 3 * 3
    assert lines[1] == [
        "1 of 4", "64", "10,000", "4,000", "4,000–4,000", "60 %", "400.0 µs",
        "compute1:qvo (socket_full) 91%, 1 more place",
    ]  # fmt: skip
    assert lines[7][3:5] == ["4,002", "4,000–4,003"]
    assert lines[2][3] == "none"
    assert lines[2][-1] == "The host took the cores."


def test_the_summary_begins_with_the_most_tenants_and_ends_with_what_one_more_costs(result: Result) -> None:
    said = list(section.findings(result))
    assert said[0] == (
        "4 of 4 tenants, 64 B: each gets 1,000 packets a second through; of 10,000 arrive 4,000 to 4,003, "
        "and most of the rest is lost at compute1:qvo."
    )
    assert said[-1].startswith("PDR at 64 B: each tenant more that sends, from 1 to 4, makes it 10.0% less")


def test_the_terminal_shows_what_the_page_shows(result: Result) -> None:
    shown = "".join(plain(one, 200) for one in section.terminal(result))
    assert "compute1:qvo (socket_full) 91%" in shown
    (part, paper) = section.page(result)
    assert "compute1:qvo (socket_full) 91%" in str(part.content[0])
    assert "about 10% less, from 2 to 4" in str(paper.content[0])


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


def test_a_slope_is_found_with_an_interval_that_holds_it() -> None:
    points = [(n, 100.0 - 10 * (n - 1) + noise) for n in (1, 2, 3, 4) for noise in (-1.0, 0.0, 1.0)]
    slope = fitted("PDR", "64 B", points)
    assert slope is not None
    assert slope.share == pytest.approx(-0.1, abs=1e-9)
    assert slope.low < -0.1 < slope.high < 0


@pytest.mark.parametrize("points", [[], [(1, 5.0), (1, 6.0), (1, 7.0)], [(1, 5.0), (2, 6.0)]])
def test_without_enough_points_there_is_no_slope(points: list[tuple[int, float]]) -> None:
    assert fitted("PDR", "64 B", points) is None


def mixed(sending: int, tcp_bps: float) -> Setup:
    """Plain beside shaped ones, of which most is lost at the shaper that they share."""
    names = ["plain", "c-1", "c-2"][:sending]
    through = {name: [] if name == "plain" else ["shared.shaper"] for name in names}
    delivered = {"plain": 990.0, "c-1": 200.0, "c-2": 250.0}
    record = Tenants(
        tenants=names,
        standing=3,
        through=through,
        points=[
            TenantsPoint(
                load_pps=1000,
                trials=3,
                shares=[share(name, 1000, 1000 if sending == 1 else delivered[name]) for name in names],
                drops=[
                    Drop(place="shared.shaper:eth0", reason="queue_full", packets=1550),
                    Drop(place="c-1.1:eth0", reason="interface_tx_dropped", packets=300),
                ],
            )
        ],
    )
    over_tcp = TenantsTcp(
        tenants=names,
        standing=3,
        through=through,
        duration_s=5,
        connections=1,
        shares=[
            TcpShare(
                tenant=name, repeats=3, goodput_bps=rate, goodput_min_bps=rate / 2, goodput_max_bps=rate * 2,
                retransmits=3,
            )
            for name, rate in zip(names, (tcp_bps, 2e6, 3e6), strict=False)
        ],
    )  # fmt: skip
    records: dict[str, Tenants | TenantsTcp] = {"tenants": record, "tenants_tcp": over_tcp}
    cases = [
        Case(frame=frame, mean_frame_bytes=64, records={name: one.model_dump(mode="json")})
        for frame, (name, one) in zip(("64", "tcp"), records.items(), strict=True)
    ]
    return Setup(technology="none", chain=f"{sending} of 3", datapath="Open vSwitch", cases=cases)


@pytest.fixture
def beside() -> Result:
    return synthetic.result(setups=[mixed(1, 200e6), mixed(3, 150e6)])


def test_tenants_behind_other_functions_have_a_line_of_their_own_with_where_they_lost(beside: Result) -> None:
    lines = section.lines(beside)
    assert [line[0] for line in lines] == ["1 of 3", "3 of 3: plain", "3 of 3: 2 through shaper"]
    assert lines[1][-1].startswith("shared.shaper:eth0 (queue_full) 100%")
    assert lines[2][3:5] == ["250", "200–250"]
    assert lines[2][-1].startswith("shared.shaper:eth0 (queue_full) 84%, 1 more place")


def test_goodput_is_told_for_each_group(beside: Result) -> None:
    assert section_tcp.lines(beside) == [
        ["1 of 3", "200", "100–400", "200", "3"],
        ["3 of 3: plain", "150", "75.0–300", "150", "3"],
        ["3 of 3: 2 through shaper", "2.5", "1.0–6.0", "5.0", "6"],
    ]
    said = "3 of 3 tenants over TCP: 155 Mbit/s together, plain 150 each and 2 through shaper 2.5 each."
    assert said in list(section.findings(beside))
    table = section.csv(beside)
    assert table is not None
    last = list(table.rows)[-1]
    assert (last["tenant"], last["goodput_bps"], last["frame"]) == ("c-2", 3e6, "tcp")


def test_what_the_paper_found_is_compared_with_what_was_measured(beside: Result) -> None:
    udp, tcp = section_paper.checks(beside)
    assert (udp.here, udp.holds) == ("0.99 of 1,000 packets a second that it gets alone", True)
    assert (tcp.here, tcp.answer) == ("0.75 of what it gets alone", "no")


def chained(functions: int, rate_pps: float) -> Setup:
    setup, case = found(4, rate_pps)
    record = Tenants.model_validate(case.records["tenants"])
    record.through = {name: ["shared.dpi", "shared.fw"][:functions] for name in record.tenants}
    case.records["tenants"] = record.model_dump(mode="json")
    setup.variant = f"{functions} functions"
    return setup


def test_each_shared_function_costs_what_a_packet_more_takes_with_it() -> None:
    rates = (20_000.0, 10_000.0, 2_000.0)
    result = synthetic.result(setups=[chained(number, rate) for number, rate in enumerate(rates)])
    said = costs(result)
    at = "PDR at 64 B, none, 4 of 4"
    assert said[0].startswith(f"{at}: each shared function more in the way, from 0 to 2, ")
    assert said[1] == f"{at}: dpi adds 50.0 µs to each packet (48.5 to 51.5)."
    assert said[2].startswith(f"{at}: fw adds 400.0 µs to each packet")
    (check,) = section_paper.checks(result)
    assert check.holds


def test_without_the_bridge_and_by_size_the_rates_say_what_holds() -> None:
    bridged, large = found(4, 10_000)[0], found(4, 20_000)[0].cases[0]
    large.frame, bridged.technology = "1518", "bridge-filter"
    bridged.cases.append(large)
    result = synthetic.result(setups=[bridged, found(4, 15_000)[0]])
    bypass, small = section_paper.checks(result)
    assert (bypass.here, bypass.holds) == ("1.50 × (1.47 to 1.53)", True)
    assert small.holds
    assert "64 B above 9,900 to 10,100 of all together, 1518 B above 19,800 to 20,200" in small.here


def test_of_one_repeat_nothing_is_told_of_what_holds() -> None:
    bridged, bypassed = found(4, 10_000)[0], found(4, 15_000)[0]
    bridged.technology = "bridge-filter"
    result = synthetic.result(setups=[bridged, bypassed])
    for setup in result.setups:
        for one in setup.cases[0].throughput:
            one.repeats = 1
    (bypass,) = section_paper.checks(result)
    assert (bypass.here, bypass.answer) == ("1.50 × (one repeat)", "not told")
