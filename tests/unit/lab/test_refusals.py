# SPDX-License-Identifier: Apache-2.0
"""A bad lab is refused with the line, what is wrong, what was expected, and the nearest name."""

from __future__ import annotations

import pytest

from weir.lab.delay import Sweep

from .lab_text import GOOD, problem, problems

FUNCTIONS = """\
functions:
  firewall: {nf: l2fwd, options: {mode: mac-swap}}
  end: {nf: sink}
"""


def test_an_unknown_key_is_refused_at_its_line_with_the_nearest_key() -> None:
    found = problem(GOOD + "traffic:\n  pacng: constant\n")
    assert (found.line, found.column, found.key) == (6, 3, "traffic.pacng")
    assert found.nearest == "pacing"
    assert "one of capture, connections, fields, flows, frames, ip, l4, left, pacing, right, vlan" in (
        found.expected or ""
    )


def test_an_option_beside_the_name_of_its_function_is_told_where_it_belongs() -> None:
    found = problem(GOOD + "functions: {f1: {nf: l2fwd, mode: mac-swap}}\n")
    assert (found.key, found.expected) == ("functions.f1.mode", "it in `options: {mode: …}`")
    assert found.message.startswith("unknown key; it is an option of l2fwd")


@pytest.mark.parametrize(
    ("traffic", "key", "said"),
    [
        ("left: {address: nowhere}", "traffic.left.address", "is 'nowhere'"),
        ("right: {address: '2001:db8::1'}", "traffic.right.address", "is an IPv6 address"),
        ("frames: [128], ip: 6, left: {address: 10.0.0.1}", "traffic.left.address", "is an IPv4 address"),
        ("left: {address: 224.0.0.1}", "traffic.left.address", "is 224.0.0.1, which is no other"),
        ("left: {address: 198.19.0.1}", "traffic.right.address", "is the left end's, too"),
    ],
)
def test_an_end_without_an_address_of_its_own_is_refused(traffic: str, key: str, said: str) -> None:
    found = problem(GOOD + f"traffic: {{{traffic}}}\n")
    assert found.key == key
    assert found.message.startswith(said)


def test_a_title_with_control_characters_is_refused() -> None:
    found = problem(GOOD + 'title: "\\e[2Jgone"\n')
    assert found.key == "title"


def test_a_problem_reads_as_file_line_column_key_and_advice() -> None:
    text = str(problem(GOOD + "baselin: direct\n"))
    assert text.partition("lab.yml")[2].startswith(":5:1: baselin: unknown key; expected one of baseline")
    assert text.endswith("(did you mean baseline?)")


def test_all_problems_are_reported_at_once_in_the_order_of_the_file() -> None:
    bad = GOOD.replace("ovs-dpdk", "ovs-dpkd") + (
        "baseline: sr-iov\ntraffic: {ip: 5, vlan: 0}\nmeasure: {repeats: 0}\ncores: {tester: [7]}\n"
    )
    keys = [found.key for found in problems(bad)]
    assert keys == ["technology[2]", "traffic.ip", "traffic.vlan", "measure.repeats", "cores.tester[0]"]


def test_a_mistyped_key_is_not_missing_besides() -> None:
    (found,) = problems(GOOD.replace("chain:", "chian:"))
    assert (found.message, found.nearest) == ("unknown key", "chain")
    assert {one.key for one in problems("weir: 1\nname: a\nchian: PVP\n")} == {"chian", "technology"}


def test_a_load_of_no_goal_is_refused_at_its_place() -> None:
    found = problem(GOOD + "measure:\n  latency:\n    loads:\n      - 50% NDR\n      - 50% PRD\n")
    assert (found.line, found.key, found.nearest) == (9, "measure.latency.loads[1]", "PDR")
    assert found.message == "'50% PRD' is of no goal of the lab"
    assert found.expected == "a share of one of NDR, PDR, or a rate"


def test_a_sweep_of_no_goal_is_refused_at_its_place() -> None:
    found = problem(GOOD + "measure: {latency: {sweep: {goal: PDX}}}\n")
    assert (found.key, found.nearest) == ("measure.latency.sweep.goal", "PDR")
    assert found.expected == "one of NDR, PDR"


@pytest.mark.parametrize("sweep", ["first: 0.000001", "first: 0.5, last: 0.50001"])
def test_a_sweep_of_loads_that_are_one_or_none_is_refused_at_its_place(sweep: str) -> None:
    found = problem(GOOD + f"measure: {{latency: {{sweep: {{{sweep}}}}}}}\n")
    assert found.key == "measure.latency.sweep"
    assert found.expected == "loads of 0.001 % or more, and as far from each other"


def test_a_sweep_may_be_as_fine_as_loads_can_be_written() -> None:
    assert Sweep(first=0.00001, last=0.00002, points=2).loads == ("0.001% NDR", "0.002% NDR")


@pytest.mark.parametrize("size", [63, 9221])
def test_a_frame_of_no_size_is_refused_with_the_sizes_that_there_are(size: int) -> None:
    assert (
        problem(GOOD + f"traffic: {{frames: [{size}]}}\n").expected == "64 to 9216, with a VLAN tag to 9220"
    )


def test_what_depends_on_a_broken_value_is_not_blamed_too() -> None:
    bad = GOOD.replace("linux-bridge", "linuxbridge") + "baseline: linux-bridge\n"
    assert [found.key for found in problems(bad)] == ["technology[1]"]


@pytest.mark.parametrize(
    ("line", "key", "nearest"),
    [
        ("technology: [ovs_dpdk]", "technology[0]", "ovs-dpdk"),
        ("technology: linux-brige", "technology", "linux-bridge"),
        ("baseline: Direct", "baseline", "direct"),
        ("traffic: {l4: upd}", "traffic.l4", "udp"),
        ("traffic: {flows: {distribution: zif}}", "traffic.flows.distribution", "zipf"),
        ("traffic: {pacing: poison}", "traffic.pacing", "poisson"),
        ("tester: {direction: bidirectonal}", "tester.direction", "bidirectional"),
        ("functions: {default: {nf: l2fw}}", "functions.default.nf", "l2fwd"),
        ("functions: {default: {nf: l2fwd, options: {mod: 1}}}", "functions.default.options.mod", "mode"),
        (
            "functions: {default: {nf: l2fwd, options: {mode: mac-swp}}}",
            "functions.default.options.mode",
            "mac-swap",
        ),
    ],
)
def test_an_unknown_name_comes_with_the_nearest_valid_one(line: str, key: str, nearest: str) -> None:
    base = "".join(
        f"{kept}\n" for kept in GOOD.splitlines() if kept.partition(":")[0] != line.partition(":")[0]
    )
    found = problem(base + line + "\n")
    assert (found.key, found.nearest) == (key, nearest)
    assert nearest in (found.expected or "")


@pytest.mark.parametrize(
    ("template", "least"),
    [
        ("ip: 4, l4: udp", 64),
        ("ip: 4, l4: tcp", 76),
        ("ip: 6, l4: udp", 84),
        ("ip: 6, l4: tcp", 96),
        ("ip: 4, l4: udp, vlan: 7", 68),
        ("ip: 6, l4: tcp, vlan: 7", 100),
    ],
)
def test_a_frame_too_small_for_its_headers_and_the_stamp_is_refused(template: str, least: int) -> None:
    assert not problems(GOOD + f"traffic: {{{template}, frames: [{least}]}}\n")
    found = problem(GOOD + f"traffic: {{{template}, frames: [512, {least - 1}]}}\n")
    assert found.key == "traffic.frames[1]"
    assert str(least) in (found.expected or "")


@pytest.mark.parametrize("frame", ["9216", "jumbo", "imix:ai"])
def test_every_switch_of_software_carries_jumbo_frames(frame: str) -> None:
    assert not problems(GOOD + f"traffic: {{frames: [{frame!r}]}}\n")


def test_a_frame_larger_than_what_weir_sends_is_refused() -> None:
    assert "9216" in (problem(GOOD + "traffic: {frames: [9217]}\n").expected or "")
    assert not problems(GOOD + "traffic: {frames: [9220], vlan: 7}\n")
    assert "9220" in (problem(GOOD + "traffic: {frames: [9221], vlan: 7}\n").expected or "")


@pytest.mark.parametrize(
    ("technology", "more", "why"),
    [
        ("linux-bridge", "technologies: {linux-bridge: {port: af_xdp}}", "an af_xdp port has a page"),
        ("ovs", "technologies: {ovs: {port: af_xdp}}", "an af_xdp port has a page"),
        ("sr-iov", "", "the MTU of the network card is not Weir's"),
        (
            "linux-bridge",
            "functions: {default: {kind: vm, nf: l2fwd}}",
            "virtual machine have an MTU of 1500",
        ),
    ],
)
def test_jumbo_frames_are_refused_where_nothing_carries_them(technology: str, more: str, why: str) -> None:
    text = GOOD.replace("[direct, linux-bridge, ovs-dpdk]", technology) + more
    assert not problems(text + "\ntraffic: {frames: [1518]}\n")
    assert not problems(text + "\ntraffic: {frames: [1522], vlan: 7}\n")
    found = problem(text + "\ntraffic: {frames: [64, 1519]}\n")
    assert found.key == "traffic.frames[1]"
    assert why in found.message
    assert "at most 1518" in (found.expected or "")


@pytest.mark.parametrize(
    ("genome", "said"),
    [
        ("abq", "unknown IMIX letter 'q'"),
        ("abj", "letter j is a frame of 16000"),
        ("aA", "letter A has no size"),
        ("aA:A=63", "letter A is a frame of 63 bytes"),
        ("aA:A=9221", "letter A is a frame of 9221 bytes"),
        ("aA:A=570:A=571", "letter A has two sizes"),
        ("aA:A=570:B=9", "letter B is a frame of 9 bytes"),
        ("aA:A=570:B=99", "letter B has a size and is not in"),
        ("aA:a=570", "custom size 'a=570'"),
        ("aA:A=x", "custom size 'A=x'"),
        ("a" * 65, "65 letters"),
        ("", "0 letters"),
    ],
)
def test_an_imix_with_an_impossible_letter_is_refused(genome: str, said: str) -> None:
    assert said in problem(GOOD + f'traffic: {{frames: ["imix:{genome}"]}}\n').message


def test_an_imix_whose_smallest_frame_does_not_fit_is_refused() -> None:
    found = problem(GOOD + 'traffic: {ip: 6, frames: ["imix:aag"]}\n')
    assert "imix:aag sends a frame of 64 bytes" in found.message


@pytest.mark.parametrize(
    ("measure", "key"),
    [
        ("goals: [{name: NDR, loss_ratio: 1}]", "measure.goals[0].loss_ratio"),
        ("goals: [{name: NDR, loss_ratio: -0.1}]", "measure.goals[0].loss_ratio"),
        ("goals: [{name: A, loss_ratio: 0}, {name: A, loss_ratio: 0.1}]", "measure.goals"),
        ("goals: []", "measure.goals"),
        ("repeats: 101", "measure.repeats"),
        ("repeats: 2.5", "measure.repeats"),
        ("repeats: true", "measure.repeats"),
        ("trial: {duration_s: 0}", "measure.trial.duration_s"),
        ("trial: {duration_s: 2h}", "measure.trial.duration_s"),
        ("trial: {duration_s: 5 parsecs}", "measure.trial.duration_s"),
        ("trial: {duration_s: .nan}", "measure.trial.duration_s"),
        ("trial: {duration_s: .inf}", "measure.trial.duration_s"),
        ("max_load_pps: 10 Mbps", "measure.max_load_pps"),
        ("max_load_pps: 100Gpps", "measure.max_load_pps"),
        ("max_load_pps: 0.00001", "measure.max_load_pps"),
        ("time_limit_s: 1", "measure.time_limit_s"),
    ],
)
def test_measuring_out_of_all_proportion_is_refused(measure: str, key: str) -> None:
    assert problem(GOOD + f"measure: {{{measure}}}\n").key == key


def test_a_limit_that_nothing_keeps_to_is_refused_with_what_one_may_be() -> None:
    found = problem(GOOD + "sla: {latency_us: {p99: 0}}\n")
    assert found.key == "sla.latency_us.p99"
    assert found.expected == 'a number of us above 0 and at most 1000000000 or a text such as "50us"'


@pytest.mark.parametrize(
    ("goals", "said"),
    [
        ("{name: A, loss_ratio: 0}, {name: A, loss_ratio: 0.1}", "has A as name twice"),
        ("{name: A, loss_ratio: 0.1}, {name: B, loss_ratio: 0.1}", "has 0.1 as loss_ratio twice"),
    ],
)
def test_goals_that_nobody_could_tell_apart_are_refused_and_which(goals: str, said: str) -> None:
    found = problem(GOOD + f"measure: {{goals: [{goals}]}}\n")
    assert (found.key, found.message) == ("measure.goals", said)


def test_more_than_a_million_flows_are_refused() -> None:
    assert not problems(GOOD + "traffic: {flows: {count: 1000000}}\n")
    assert "1000000" in (problem(GOOD + "traffic: {flows: {count: 1000001}}\n").expected or "")


def test_a_function_that_ends_the_chain_is_refused() -> None:
    found = problem(GOOD.replace("PVP", "[[firewall, end, firewall]]") + FUNCTIONS)
    assert found.key == "chain[0][1]"
    assert "no packet returns to the tester" in found.message


def test_a_chain_of_an_unknown_function_is_refused() -> None:
    found = problem(GOOD.replace("PVP", "[[frewall]]") + FUNCTIONS)
    assert (found.key, found.nearest) == ("chain[0][0]", "firewall")


@pytest.mark.parametrize("chain", ["PP", "VPV", "[fw]", "[[]]", "[]", "3", "P" + "V" * 65 + "P"])
def test_what_is_no_chain_is_refused(chain: str) -> None:
    assert problem(GOOD.replace("PVP", chain) + FUNCTIONS).key.startswith("chain")


def test_a_baseline_that_is_not_measured_is_refused() -> None:
    found = problem(GOOD + "baseline: ovs\n")
    assert found.key == "baseline"
    assert "direct, linux-bridge, ovs-dpdk" in (found.expected or "")


def test_tester_ports_of_its_own_are_refused_without_sr_iov() -> None:
    found = problem(GOOD + 'tester: {ports: ["0000:03:00.0", "0000:03:00.1"]}\n')
    assert found.key == "tester.ports"


def test_a_technology_named_twice_is_refused() -> None:
    assert "twice" in problem(GOOD.replace("ovs-dpdk", "direct")).message


def test_hardware_timestamps_are_refused_where_the_testers_ports_are_virtual() -> None:
    found = problem(GOOD + "tester: {timestamps: hardware}\n")
    assert found.key == "tester.timestamps"
    assert "linux-bridge" in found.message
    assert found.expected == "auto, or technology: sr-iov alone"


def test_a_chain_with_more_ports_than_dpdk_has_is_refused() -> None:
    assert not problems(GOOD.replace("PVP", "P" + "V" * 15 + "P"))
    found = problem(GOOD.replace("PVP", "P" + "V" * 16 + "P"))
    assert found.key == "chain"
    assert "34 ports" in found.message
    assert "direct, ovs-dpdk" in found.message


def test_a_long_chain_of_kernel_ports_is_allowed() -> None:
    text = GOOD.replace("PVP", "P" + "V" * 64 + "P").replace("direct, linux-bridge, ovs-dpdk", "linux-bridge")
    assert not problems(text)


def test_a_service_level_of_a_goal_that_there_is_not_is_refused_where_it_stands() -> None:
    """It would be missed, or met, by nothing."""
    said = problem(GOOD + "sla: {throughput: [{goal: NDR, pps: 1Mpps}, {goal: PDX, pps: 1Mpps}]}\n")
    assert said.key == "sla.throughput[1].goal"
    assert "'PDX' is no goal of the lab" in said.message
    assert said.expected == "one of NDR, PDR"


def test_a_service_level_of_rates_in_a_lab_without_goals_is_refused_in_its_own_words() -> None:
    no_goals = "measure: {goals: [], latency: {loads: [1Mpps]}}\n"
    said = problem(GOOD + no_goals + "sla: {throughput: [{goal: NDR, pps: 1Mpps}]}\n")
    assert (said.key, said.expected) == ("sla.throughput[0].goal", "no throughput: there are no goals")
