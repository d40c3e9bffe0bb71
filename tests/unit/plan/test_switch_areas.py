# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from weir import plan
from weir.lab.lab import Lab
from weir.plan.execution import execution
from weir.plan.switch_areas import EXACT_MATCHES
from weir.plan.trials import switched_candidates, trial_chain, trial_lab

from .test_execution import area, lab_of, of

ONE_CORE_EACH = {"tester": [0], "functions": [0], "switch": [1]}


def switched_lab(technology: str, **changes: object) -> Lab:
    spec = {"technology": technology, "technologies": {}, "cores": ONE_CORE_EACH}
    return lab_of(**(spec | changes))


def test_a_polling_thread_takes_each_packet_once_a_network_from_other_cores() -> None:
    one = of(switched_lab("ovs-dpdk"))
    two = of(switched_lab("ovs-dpdk", chain=[["f", "f"]]))
    pmd = area(one, "pmd.1")
    assert (pmd.kind, pmd.core, pmd.share(), area(two, "pmd.1").share()) == ("pmd", 1, 2.0, 3.0)
    through = [path for path in pmd.paths if path.share]
    assert {(path.crossing, path.parting, path.hop) for path in through} == {(1.0, 1.0, "pmd")}
    assert area(one, "f1").paths[0].crossing == 1.0
    assert area(one, "receiver.right").share() == 1.0


def test_the_exact_match_cache_knows_flows_of_each_network_up_to_its_size() -> None:
    few, many = (of(switched_lab("ovs-dpdk", traffic={"flows": {"count": count}})) for count in (500, 40_000))
    assert {path.remembered for path in area(few, "pmd.1").paths} == {1.0}
    assert area(many, "pmd.1").paths[0].remembered == pytest.approx(EXACT_MATCHES / 80_000)


def test_the_kernel_forwards_on_the_core_that_sends() -> None:
    found = of(switched_lab("linux-bridge", cores={"tester": [0], "functions": [1]}))
    sent, returned = area(found, "softirq.0"), area(found, "softirq.1")
    assert (sent.share(), returned.share()) == (1.0, 1.0)
    assert sent.paths[0].hop == "bridge"
    assert (sent.paths[0].crossing, sent.paths[0].parting) == (0.0, 1.0)
    generator = area(found, "generator.left").paths[0]
    assert (generator.takers, generator.parting) == ((("softirq.0", 0),), 0.0)
    function = area(found, "f1").paths[0]
    assert (function.entry, function.crossing, function.cold) == ("packet_socket", 1.0, 0.0)


def test_on_one_core_the_kernel_forwards_there_for_all() -> None:
    found = of(switched_lab("linux-bridge", cores={"tester": [0], "functions": [0]}))
    assert area(found, "softirq.0").share() == 2.0
    assert {path.parting for path in area(found, "softirq.0").paths} == {0.0}


def test_a_bridge_with_netfilter_is_another_one() -> None:
    found = of(switched_lab("linux-bridge", technologies={"linux-bridge": {"netfilter": True}}))
    assert {path.hop for path in area(found, "softirq.0").paths} == {"netfilter bridge"}


def test_the_main_thread_of_open_vswitch_forwards_what_the_kernel_gives_it() -> None:
    found = of(switched_lab("ovs", technologies={"ovs": {"datapath": "userspace"}}))
    thread = area(found, "ovs-vswitchd.main")
    assert (thread.core, thread.share(), area(found, "softirq.0").share()) == (1, 2.0, 2.0)
    assert {path.hop for path in area(found, "softirq.0").paths} == {"veth"}


def test_open_vswitch_in_the_kernel_forwards_as_a_bridge_does() -> None:
    found = of(switched_lab("ovs", technologies={"ovs": {"datapath": "kernel"}}))
    assert [one.name for one in found.areas if one.kind == "softirq"] == ["softirq.0"]
    assert area(found, "softirq.0").paths[0].hop == "openvswitch"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (
            {"technology": "sr-iov"},
            "does not know the switch of sr-iov; expected one of direct, linux-bridge",
        ),
        ({"technology": "ovs"}, "`datapath: auto` leaves that to the machine; expected technologies"),
        (
            {
                "technology": "ovs",
                "technologies": {"ovs": {"datapath": "userspace"}},
                "cores": {"tester": [0], "functions": [1], "switch": [1]},
            },
            "core 1 would be shared by the switch and by weir-dp",
        ),
        (
            {"technology": "ovs-dpdk", "cores": ONE_CORE_EACH | {"switch": [1, 2]}},
            "a switch on one core, and this one has cores 1-2",
        ),
        (
            {
                "technology": "ovs-dpdk",
                "functions": {"f": {"kind": "vm", "vm": {"forwarder": "kernel"}}},
            },
            "what happens in a virtual machine, which f1 of the chain is",
        ),
        (
            {
                "technology": "linux-bridge",
                "functions": {"f": {"nf": "l3fwd", "fastpath": True, "offload": {"kind": "xdp"}}},
            },
            "what share of its packets f1 of the chain would have offloaded; expected functions without",
        ),
    ],
)
def test_what_the_model_does_not_know_is_refused_with_the_reason(
    changes: dict[str, object], said: str
) -> None:
    with pytest.raises(plan.PlanError, match=said):
        of(switched_lab(**changes))  # type: ignore[arg-type]


def test_trials_have_chains_of_one_function_and_of_more_and_leave_the_switch_its_core() -> None:
    lab = switched_lab("ovs-dpdk")
    found = switched_candidates(lab, "ovs-dpdk", (0, 1))
    assert {len(one.functions) for one in found if one.apart} == {2, 3}
    assert {(one.tester, one.cores) for one in found} == {((0,), (0,))}
    one = next(one for one in found if one.apart)
    its = trial_lab(lab, one)
    chain = trial_chain(its)
    topology = plan.build_topology(its, "ovs-dpdk", chain, "costs-00000000")
    assert topology.switch_cores == (1,)
    assert area(execution(topology, its, chain, "64"), "pmd.1").share() == len(one.functions) + 1


def test_where_the_switch_takes_the_only_core_there_are_no_trials() -> None:
    assert switched_candidates(switched_lab("ovs-dpdk"), "ovs-dpdk", (1,)) == []
