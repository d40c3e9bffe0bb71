# SPDX-License-Identifier: Apache-2.0
"""What a lab asks of its host, as steps."""

from __future__ import annotations

from typing import Any

from weir import plan
from weir.plan import Step

from .test_topology import lab, topology

TWO = {"cores": {"tester": [1], "functions": [2], "switch": [3]}}


def deployed(technology: str = "direct", **host: Any) -> list[Step]:
    asked = {**TWO, "host": host}
    return plan.steps(topology(technology, 1, **asked), lab(**asked))


def kinds(steps: list[Step]) -> list[str]:
    return [step.kind for step in steps]


def tuned(**host: Any) -> list[Step]:
    chosen = lab(**TWO, host=host)
    return plan.tuning_steps(chosen, plan.tuning(chosen, "1a2b3c4d").cpus)


def test_a_deployment_does_what_the_lab_names_and_nothing_else() -> None:
    assert kinds(deployed()) == ["run-directory", "hugepages", "weir-dp"]
    everything = deployed(isolation="partition", interrupts="away", governor="performance", rt=True)
    assert kinds(everything)[1:-1] == ["hugepages", "interrupts", "governor", "rt-throttle", "isolation"]
    assert all(step.params["required"] for step in everything[2:-1])
    assert everything[2].params["cpus"] == [1, 2]
    assert kinds(deployed(isolation="none", interrupts="leave")) == kinds(deployed())


def test_the_polling_switchs_core_is_isolated_with_the_others() -> None:
    (isolation,) = [step for step in deployed("ovs-dpdk", isolation="partition") if step.kind == "isolation"]
    assert isolation.params["cpus"] == [1, 2, 3]
    assert isolation.text == "isolate CPUs 1-3 in a cpuset partition"


def test_tuning_does_all_that_the_lab_does_not_forbid() -> None:
    assert kinds(tuned()) == ["hugepages", "interrupts", "governor", "isolation"]
    assert not any(step.params["required"] for step in tuned())
    assert kinds(tuned(governor="leave", isolation="none", rt=True)) == [
        "hugepages",
        "interrupts",
        "rt-throttle",
    ]
    assert kinds(tuned(pinning=False)) == ["hugepages", "interrupts", "governor"]
    (asked,) = [step for step in tuned(isolation="partition") if step.kind == "isolation"]
    assert asked.params["required"]


def test_tuning_promises_what_the_chain_needs_that_has_most_pages() -> None:
    machine = {"kind": "vm", "nf": "l2fwd", "vm": {"hugepages": True, "memory_mb": 4096}}
    functions = {"plain": {"nf": "l2fwd"}, "machine": machine}
    chosen = lab(**TWO, technology="linux-bridge", chain=[["plain"] * 4, ["machine"]], functions=functions)
    promised = plan.tuning_steps(chosen, plan.tuning(chosen, "1a2b3c4d").cpus)[0]
    needed_mb = [
        int(str(step.params["memory_mb"]))
        for chain in chosen.chains()
        for step in plan.steps(plan.build_topology(chosen, "linux-bridge", chain, "small-1a2b3c4d"), chosen)
        if step.kind == "hugepages"
    ]
    assert len(needed_mb) == 2
    assert promised.params["memory_mb"] == needed_mb[1] > 4096


def test_small_pages_realtime_and_floating_threads_reach_weir_dp() -> None:
    plain, small = deployed()[-1], deployed(hugepages="none", rt=True)
    assert (plain.params["huge"], plain.params["pinned"], plain.params["rt"]) == (True, True, False)
    assert "hugepages" not in kinds(small)
    assert (small[-1].params["huge"], small[-1].params["rt"]) == (False, True)
    assert small[-1].text == "start weir-dp, polling on cores 1, 2 (realtime, in 4 KiB pages)"
    assert deployed(pinning=False)[-1].params["pinned"] is False
