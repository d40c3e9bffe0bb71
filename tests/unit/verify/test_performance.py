# SPDX-License-Identifier: Apache-2.0
"""Chains of a made-up cloud: which are built, what they are found to carry, what a fault does, and what the
service level says."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from typer.testing import CliRunner

from tests.simulated.tester import Misbehaviour
from weir.cli.main import app
from weir.lab.performance import Performance, performance_complaints
from weir.lab.problem import LabFileError
from weir.lab.sla import DelayLimits, Sla, ThroughputFloor
from weir.lab.sut import load_sut
from weir.report.blocks import new_console
from weir.results.verification import CaseResult, SuiteResult, Verification
from weir.verify.report.junit import junit
from weir.verify.report.page import page
from weir.verify.report.text import show
from weir.verify.run import Run, planned
from weir.verify.suites import SUITES

from .made import MadeCloud, verified
from .made_chains import ALL, CAPACITY_PPS, MadeChains, loaded, sut


def by_name(found: Verification) -> dict[str, CaseResult]:
    return {one.name: one for one in found.suites[0].cases}


def floor(pps: float) -> Sla:
    return Sla(throughput=(ThroughputFloor(goal="NDR", pps=pps),))


def test_each_chain_is_built_once_and_its_rate_is_found_with_every_frame_and_number_of_flows() -> None:
    cloud = MadeChains()
    cases = by_name(loaded(cloud, sut(traffic=ALL)))
    assert {name: (one.outcome, one.why) for name, one in cases.items()} == {
        "pvp_generic": ("passed", None),
        "pvvp_generic": ("passed", None),
    }
    assert [one.instances for one in cloud.built] == [1, 2]
    assert cloud.standing == 0
    for case, capacity in ((cases["pvp_generic"], CAPACITY_PPS), (cases["pvvp_generic"], CAPACITY_PPS / 2)):
        loads = [(one.flows, one.case.frame) for one in case.chains]
        assert loads == [(1, "64"), (1, "1518"), (10, "64"), (10, "1518")]
        for one in case.chains:
            rates = {each.goal: each.load_pps for each in one.case.throughput}
            assert rates["NDR"] == pytest.approx(capacity, rel=0.06)
            assert rates["PDR"] == pytest.approx(capacity, rel=0.06)
            assert [point.load for point in one.case.delays] == ["50% PDR"]
            ledger = one.ledger()
            assert ledger.trials > 5
            assert ledger.residual == 0
            assert ledger.offered == ledger.delivered + sum(drop.packets for drop in ledger.lost)


def test_cases_are_all_combinations_of_the_factors() -> None:
    file = sut(techniques=("generic", "pinned+hugepages"))
    wanted = file.performance.model_copy(update={"vcpus": (0, 2)})
    found = loaded(MadeChains(lacked="none"), file.model_copy(update={"performance": wanted}))
    assert list(by_name(found)) == [
        "pvp_generic", "pvp_generic_2vcpu", "pvp_pinned+hugepages", "pvp_pinned+hugepages_2vcpu",
        "pvvp_generic", "pvvp_generic_2vcpu", "pvvp_pinned+hugepages", "pvvp_pinned+hugepages_2vcpu",
    ]  # fmt: skip


def test_what_the_cloud_lacks_is_skipped_by_name_and_counts_in_no_limit() -> None:
    cloud = MadeChains()
    found = loaded(cloud, sut(floor(1000), techniques=("generic", "pinned+sr-iov")))
    cases = by_name(found)
    assert (cases["pvp_pinned+sr-iov"].outcome, cases["pvp_pinned+sr-iov"].why) == (
        "skipped",
        "it has no sr-iov",
    )
    assert [one.technique for one in cloud.built] == ["generic", "generic"]
    assert {one.outcome for one in found.verdicts()} == {"met"}


def test_a_cloud_without_chains_has_all_of_them_skipped() -> None:
    file = sut()
    found = verified(MadeCloud(), file, [SUITES["performance"].of(file)])
    assert {one.why for one in found.suites[0].cases} == {"this driver builds no chains yet"}
    assert [one.outcome for one in found.verdicts()] == ["not judged"]


def test_an_instance_that_drops_every_tenth_packet_fails_its_case_which_says_where_they_went() -> None:
    found = loaded(MadeChains(wrong=Misbehaviour(denied_share=0.1)))
    case = by_name(found)["pvp_generic"]
    assert case.outcome == "failed"
    assert case.why is not None
    assert case.why.startswith("PVP generic, 64 B, 1 flow: no NDR: ")
    assert "packets were lost: " in case.why
    assert case.why.endswith(" at dut/firewall (denied)")
    assert [one.outcome for one in found.verdicts()] == ["missed"]


def test_what_a_chain_was_not_loaded_with_any_more_is_not_judged() -> None:
    why = "the chain is gone"
    found = loaded(MadeChains(gone=why, gone_at_load=3), sut(floor(1000), traffic=ALL))
    assert [(one.outcome, one.why) for one in found.suites[0].cases] == [("failed", why)] * 2
    assert [(one.criterion, one.outcome, one.why) for one in found.verdicts()[1:5]] == [
        ("performance: PVP generic, 64 B, 1 flow: NDR at least", "met", None),
        ("performance: PVP generic, 1518 B, 1 flow: NDR at least", "met", None),
        ("performance: PVP generic, 64 B, 10 flows: NDR at least", "not judged", why),
        ("performance: PVP generic, 1518 B, 10 flows: NDR at least", "not judged", why),
    ]


def test_a_chain_that_lets_nothing_through_fails_its_case_and_leaves_its_limits_unjudged() -> None:
    why = "nothing that outside sends arrives at outside; lost were 5 at vnf1 (not_returned)"
    found = loaded(MadeChains(nothing_comes=why), sut(floor(1000)))
    assert {one.why for one in found.suites[0].cases} == {why}
    assert [(one.outcome, one.why) for one in found.verdicts()[1:]] == [("not judged", why)] * 2


def test_trials_that_do_not_balance_are_no_answer_and_the_level_is_not_judged() -> None:
    found = loaded(MadeChains(wrong=Misbehaviour(unaccounted=3)), sut(floor(1000)))
    case = by_name(found)["pvp_generic"]
    assert case.outcome == "skipped"
    assert "could not be measured" in (case.why or "")
    assert case.chains[0].ledger().unbalanced > 0
    assert {one.outcome for one in found.verdicts()} == {"not judged"}


def test_a_trial_of_a_chain_that_was_not_empty_is_one_whose_packets_are_not_all_accounted_for() -> None:
    (chain, *_) = by_name(loaded(MadeChains()))["pvp_generic"].chains
    assert chain.ledger().unbalanced == 0
    chain.case.trials[0].doubted = ["held"]
    assert chain.ledger().unbalanced == 1


@pytest.mark.parametrize(("pps", "outcomes"), [(9000.0, {"met"}), (15_000.0, {"met", "missed"})])
def test_the_service_level_is_judged_for_each_chain_frame_and_number_of_flows(
    pps: float, outcomes: set[str]
) -> None:
    found = loaded(MadeChains(), sut(floor(pps), traffic=ALL))
    verdicts = found.verdicts()[1:]
    assert len(verdicts) == 8
    assert {one.outcome for one in verdicts} == outcomes
    assert verdicts[0].criterion == "performance: PVP generic, 64 B, 1 flow: NDR at least"
    assert {one.criterion.split()[1] for one in verdicts if one.outcome == "missed"} <= {"PVVP"}


def test_delays_are_judged_at_their_load() -> None:
    found = loaded(MadeChains(), sut(Sla(latency_us=DelayLimits(p99=1.0))))
    one = found.verdicts()[1]
    assert one.criterion == "performance: PVP generic, 64 B, 1 flow: latency P99 at 50% PDR"
    assert one.outcome == "missed"


def test_a_rate_near_the_testers_own_is_labelled() -> None:
    found = loaded(MadeChains(ceiling_pps=CAPACITY_PPS))
    rates = by_name(found)["pvp_generic"].chains[0].case.throughput
    assert all(one.tester_bound for one in rates)


def test_what_was_found_is_read_again_as_it_was_written_without_slices() -> None:
    first = loaded(MadeChains())
    again = Verification.read(first.model_dump_json())
    assert again == first
    assert all(
        trial.slices is None for one in by_name(again)["pvp_generic"].chains for trial in one.all_trials()
    )


def test_a_case_that_ctrl_c_ended_is_measured_anew_and_others_stay() -> None:
    file = sut()
    suite = SUITES["performance"].of(file)
    cloud = MadeChains()
    found = planned(file, [suite], cloud)

    def interrupt(_suite: SuiteResult, case: CaseResult) -> None:
        if case.name == "pvp_generic" and len(cloud.built) == 1:
            raise KeyboardInterrupt

    first = Run(file, [suite], cloud, found, keep=lambda _: None, told=interrupt).run()
    assert {one.outcome for one in first.suites[0].cases} == {"passed", "not run"}
    again = Verification.read(first.model_dump_json())
    second = Run(file, [suite], cloud, again, keep=lambda _: None, told=lambda *_: None).run()
    assert [one.instances for one in cloud.built] == [1, 2]
    assert {one.outcome for one in second.suites[0].cases} == {"passed"}


def test_ctrl_c_while_the_tester_is_measured_alone_ends_the_run_and_what_stays_is_told() -> None:
    cloud = MadeChains(stays_alone="made-verify-1 is not all gone")
    found = loaded(cloud)
    assert found.interrupted
    assert {name: (one.outcome, one.not_removed) for name, one in by_name(found).items()} == {
        "pvp_generic": ("not run", "made-verify-1 is not all gone"),
        "pvvp_generic": ("not run", None),
    }
    assert (cloud.measured_alone, cloud.built) == (1, [])


def test_a_dry_run_says_what_would_be_skipped(tmp_path: Path) -> None:
    keys = "performance: {chains: PVP, techniques: [generic, pinned]}"
    text = f"weir: 1\nname: some\nsuites: performance\n{keys}\n"
    (tmp_path / "sut.yml").write_text(text)
    said = CliRunner().invoke(app, ["verify", str(tmp_path), "--dry-run"]).output
    assert "pvp_generic  an instance (generic) carries traffic" in said
    assert "pvp_pinned   skipped: Weir's own cloud has no pinned: its instances are namespaces" in said
    assert "nothing was run" in said


def test_every_report_has_rates_delays_and_the_ledger() -> None:
    found = loaded(MadeChains(), sut(floor(15_000.0), techniques=("generic", "sr-iov")))
    out = io.StringIO()
    show(found, new_console(out, width=140))
    shown, made, root = out.getvalue(), page(found), ElementTree.fromstring(junit(found))
    for text in (shown, made):
        for said in ("NDR", "50% PDR", "unaccounted", "It has no packets.", "it has no sr-iov", "at least"):
            assert said in text
    told = root.find("testsuite/testcase/system-out")
    assert told is not None
    assert "0 unaccounted for" in (told.text or "")
    (level,) = [one for one in root if one.get("name") == "made.sla"]
    failure = level.find("testcase/failure")
    assert failure is not None
    assert "pps, at least 15,000 pps" in (failure.get("message") or "")


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ("performance: {techniques: dpdk}", "has 'dpdk'; expected generic, unfiltered"),
        ("performance: {techniques: generic+pinned}", "joins one to itself, or generic to others"),
        ("performance: {traffic: {frames: 9000}}", "instances' MTU of 1500"),
        ("performance: {latency: {loads: [50% MRR]}}", "names MRR, which is no goal"),
        ("sla: {chains: {throughput: [{goal: PDX, pps: 1}]}}", "names PDX, which is no goal"),
        ("sla: {chains: {latency_us: {p99: 1}}}\nperformance: {latency: null}", "no latency is measured"),
    ],
)
def test_what_is_wrong_with_the_file_is_named(keys: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "sut.yml").write_text(f"weir: 1\nname: some\n{keys}\n")
    with pytest.raises(LabFileError) as refused:
        load_sut(tmp_path)
    assert said in str(refused.value)


def test_the_defaults_are_the_papers_chains_without_acceleration() -> None:
    wanted = Performance()
    assert (wanted.chains, wanted.techniques) == (("PVP", "PVVP"), ("generic",))
    assert [one.name for one in wanted.goals] == ["NDR", "PDR"]


@pytest.mark.parametrize(
    ("keys", "loads"),
    [
        ({}, ("50% PDR",)),
        ({"goals": [{"name": "NDR", "loss_ratio": 0}]}, ("50% NDR",)),
        ({"goals": [{"name": "NDR", "loss_ratio": 0}], "latency": {"loads": ["10% NDR"]}}, ("10% NDR",)),
    ],
)
def test_a_delay_that_nobody_asked_for_is_measured_at_a_goal_that_there_is(
    keys: dict[str, Any], loads: tuple[str, ...]
) -> None:
    wanted = Performance.model_validate(keys)
    assert wanted.latency is not None
    assert wanted.latency.loads == loads
    assert not list(performance_complaints(wanted, Sla()))
