# SPDX-License-Identifier: Apache-2.0
"""What reports say beyond the stored numbers; what timed packets, and how exactly."""

from __future__ import annotations

import pytest

from weir import report
from weir.comparison.warnings import warnings
from weir.lab.frames import SIMPLE_IMIX, frame_label
from weir.report import summary, terminal
from weir.report.page import cases
from weir.report.rates import NoRatio
from weir.results.campaign import CampaignRecord, LeftOutRounds, SharedCampaign
from weir.results.result import ArrivalClock, Drop, Originated, Result

from .disturbed import disturbed
from .synthetic import result


def test_a_fidelity_sentence_is_said_once_and_names_setups_only_if_it_is_not_for_all() -> None:
    said = dict(summary.fidelity(result()))
    assert said["Virtual links: no physical network card took part."] == []
    assert said["The tester drives both ends of each wire."] == ["direct PVP", "direct PVVP"]


def test_a_refused_technology_is_named_once_though_it_has_two_chains() -> None:
    assert [name for name, _ in summary.refusals(result())] == ["sr-iov"]


def test_drops_are_summed_over_valid_trials_without_the_warm_up() -> None:
    case = result().setups[0].cases[0]
    trial = case.curve[0].model_copy(
        update={"valid": True, "drops": [Drop(place="p", reason="r", packets=3)]}
    )
    case.curve = [trial, trial]
    case.trials = [
        trial.model_copy(update={"purpose": "calibration"}),
        trial.model_copy(update={"valid": False}),
    ]
    assert summary.drops_by_place(case) == [Drop(place="p", reason="r", packets=6)]


def test_packets_that_functions_made_have_a_table_of_their_own_with_how_many_arrived() -> None:
    made = result()
    case = made.setups[0].cases[0]
    origins = [Originated(place="f2/left/upf", packets=39)]
    case.curve = [
        case.curve[0].model_copy(update={"valid": True, "originated": origins, "originated_arrived": 7})
    ]
    case.trials = []
    assert summary.originated_by_place(case) == origins
    page = str(cases.cases(made))
    assert "Packets that functions made, all valid trials; 7 reached the tester" in page
    assert "f2/left/upf" in page


def test_there_is_no_ratio_without_a_baseline_result() -> None:
    made = result()
    for setup in made.setups:
        if setup.technology == "linux-bridge":
            setup.cases = []
    assert {(row.ratio, row.no_ratio) for row in summary.rows(made)} == {(None, NoRatio.NO_RATE)}
    assert {row.ratio_text for row in summary.rows(made)} == {"–"}


def test_ratios_of_a_result_are_written_with_their_bounds() -> None:
    found = {row.setup.name: (row.ratio_text, row.flags, row.no_ratio) for row in summary.rows(disturbed())}
    assert found == {
        "direct": ("≥20.0", "T", None),
        "linux-bridge": ("1", "", None),
        "ovs": ("–", "L", NoRatio.OUT_OF_TIME),
        "ovs-dpdk": ("–", "SD", NoRatio.OTHER_STATE),
    }


@pytest.mark.parametrize(
    ("frame", "label"),
    [
        ("64", "64"),
        ("imix:aaaaaaaddddg", "IMIX a7d4g"),
        (SIMPLE_IMIX, "IMIX"),
        ("imix:abab", "IMIX abab"),
        ("imix:aaAAA:A=9000", "IMIX a2A3 A=9000"),
    ],
)
def test_a_genome_is_written_with_its_runs_counted(frame: str, label: str) -> None:
    assert frame_label(frame) == label


def test_the_page_knows_the_mix_that_has_a_name() -> None:
    assert f"const SIMPLE_IMIX = '{SIMPLE_IMIX}';" in report.render(result(), "html")


def test_a_lab_without_a_title_is_called_by_its_name() -> None:
    assert summary.title(result(title=" ")) == "switching"


COUNTER = ArrivalClock(
    direction="left-to-right", clock="counter", driver="net_virtio_user", resolution_ns=0.4, why="no card"
)
CARD = ArrivalClock(
    direction="right-to-left", clock="card", driver="net_ice", resolution_ns=1, uncertainty_ns=412.3
)


def timed(*clocks: ArrivalClock) -> Result:
    made = result()
    for setup in made.setups:
        for case in setup.cases:
            case.clocks = list(clocks)
    return made


def test_clocks_that_differ_are_told_by_direction() -> None:
    there, back = summary.timing([COUNTER, CARD], physical=False)
    assert there == "Left to right: Software timestamps by the time-stamp counter, one for each burst."
    assert back.startswith("Right to left: Arrivals by the network card's clock (net_ice)")
    assert "resolves 1 ns and is known within 412 ns" in back


def test_why_it_is_the_counter_is_said_only_where_there_is_a_card() -> None:
    virtual, physical = (summary.timing([COUNTER], physical=card)[0] for card in (False, True))
    assert "no card" not in virtual
    assert physical.endswith("The network card's own clock does not: no card.")


def test_every_report_for_people_says_what_timed_packets() -> None:
    made = timed(CARD)
    assert any("net_ice" in sentence for sentence, _ in summary.fidelity(made))
    for said in (terminal.render(made, whole=True), report.render(made, "html")):
        assert "412 ns" in said.replace("\n", " ")


def test_a_result_from_before_says_nothing_of_it() -> None:
    assert summary.setup_clocks(result().setups[0]) == []


def test_the_testers_own_floor_is_told_for_each_setup() -> None:
    told = list(summary.floors(result()))
    assert told[0].endswith("latency floor 2.4 µs; timestamps resolve 0.4 ns.")


def test_points_that_a_campaign_over_hosts_lacks_are_of_all_that_it_planned_not_of_one_hosts_own() -> None:
    run = result()
    missing = [LeftOutRounds(name="ovs", chain="PVP", frame=frame, measured=0, left_out=3) for frame in "ab"]
    shared = SharedCampaign(id="campaign-1", host="nfv1", points=12, spec={})
    run.campaign = CampaignRecord(rounds=3, points=3, left_out=missing, shared=shared)
    said = summary.left_out(run)
    assert said is not None
    assert said.startswith(
        "6 of 12 points of the campaign over all hosts (a case in one round) were left out:"
    )
    assert any("6 of 12 points of its campaign over all hosts" in one for one in warnings([run], [result()]))
    run.campaign = CampaignRecord(rounds=3, points=12, left_out=missing, budget_s=60)
    alone = summary.left_out(run)
    assert alone is not None
    assert alone.startswith("6 of 12 points (a case in one round) were left out when the budget of")


@pytest.mark.parametrize(
    ("cases", "end"), [(4, "d, 3 of 3 rounds"), (5, "and 1 case more"), (6, "and 2 cases more")]
)
def test_of_many_cases_that_a_campaign_lacks_the_rest_is_counted(cases: int, end: str) -> None:
    run = result()
    missing = [
        LeftOutRounds(name="ovs", chain="PVP", frame=frame, measured=0, left_out=3)
        for frame in "abcdef"[:cases]
    ]
    run.campaign = CampaignRecord(rounds=3, points=3 * cases, left_out=missing)
    assert (summary.left_out(run) or "").endswith(end)
