# SPDX-License-Identifier: Apache-2.0
"""What a result rests on, said in sentences."""

from __future__ import annotations

from importlib import import_module

import pytest

from weir import plan
from weir.fabric.fidelity import fidelity
from weir.lab import Chain, Lab

USERSPACE = "Open vSwitch 3.1.0 (userspace datapath)"


def said(
    technology: str, *, memory: str = "hugepages", datapath: str = "auto", netfilter: bool = False
) -> str:
    """Of two functions that share a core with the tester."""
    cores = {"tester": [0], "functions": [0], "switch": [1]}
    lab = Lab.model_validate(
        {
            "weir": 1,
            "name": "small",
            "chain": "PVVP",
            "technology": technology,
            "cores": cores,
            "technologies": {"ovs": {"datapath": datapath}, "linux-bridge": {"netfilter": netfilter}},
        }
    )
    chain = Chain("PVVP", ("default", "default"))
    topology = plan.build_topology(lab, technology, chain, "small-0badcafe")
    return "\n".join(fidelity(topology, lab.options(technology), datapath=USERSPACE, memory=memory))


def test_only_where_the_kernels_datapath_was_wanted_its_absence_is_said() -> None:
    assert "this kernel has no Open vSwitch datapath" in said("ovs")
    assert "this kernel has no Open vSwitch datapath" not in said("ovs-dpdk")
    assert f"{USERSPACE}: as the lab asks." in said("ovs", datapath="userspace")


def test_whether_bridged_packets_pass_netfilter_is_said_of_the_linux_bridge_alone() -> None:
    assert "Bridged packets do not pass netfilter" in said("linux-bridge")
    assert "Bridged packets pass netfilter (br_netfilter), as the lab asks." in said(
        "linux-bridge", netfilter=True
    )
    assert "netfilter" not in said("ovs", netfilter=True)


def test_small_pages_are_said_and_hugepages_are_not() -> None:
    assert "No hugepages were used" in said("direct", memory="no-huge")
    assert "hugepages" not in said("direct")


def test_what_was_never_run_on_hardware_says_so() -> None:
    assert "A network card's virtual functions: this part of Weir was never run on hardware" in said("sr-iov")
    assert "never run on hardware" not in said("ovs-dpdk")


def test_guests_under_kvm_say_so_too_and_emulated_ones_do_not() -> None:
    lab = Lab.model_validate(
        {
            "weir": 1,
            "name": "small",
            "chain": "PVP",
            "technology": "ovs-dpdk",
            "cores": {"tester": [0], "functions": [1], "switch": [1]},
            "functions": {"default": {"kind": "vm"}},
        }
    )
    topology = plan.build_topology(lab, "ovs-dpdk", Chain("PVP", ("default",)), "small-0badcafe")
    options = lab.options("ovs-dpdk")
    kvm, tcg = (
        fidelity(topology, options, datapath=USERSPACE, memory="hugepages", emulated=emulated)
        for emulated in ([], ["f1"])
    )
    assert "KVM runs f1: this part of Weir was never run on hardware before." in kvm
    assert not any("KVM" in sentence for sentence in tcg)


def test_all_that_shares_a_core_is_listed() -> None:
    assert "tester, f1 and f2 share core 0, in one polling loop." in said("ovs-dpdk")


def of_linux(steered: list[str], *, rps: bool = True) -> list[str]:
    """Of a function that Linux does on the tester's core."""
    lab = Lab.model_validate(
        {
            "weir": 1,
            "name": "small",
            "chain": "PVP",
            "technology": "linux-bridge",
            "cores": {"tester": [0], "functions": [0]},
            "functions": {"default": {"kind": "kernel", "kernel": {"rps": rps}}},
        }
    )
    topology = plan.build_topology(lab, "linux-bridge", Chain("PVP", ("default",)), "small-0badcafe")
    options = lab.options("linux-bridge")
    return fidelity(topology, options, datapath="", memory="hugepages", steered=steered)


def test_where_linux_takes_packets_is_said_as_the_kernel_did_and_not_as_it_was_planned() -> None:
    assert "it takes what comes in on core 0." in "\n".join(of_linux(["f1"]))
    refused = "\n".join(of_linux([]))
    assert "it takes what comes in on the core of whoever sends, since this kernel has no receive" in refused
    assert "on the core of whoever sends.\n" in "\n".join(of_linux([], rps=False))


def test_linux_that_shares_a_core_with_a_polling_loop_is_named_where_it_has_that_core() -> None:
    sentence = "Linux as f1 takes turns with a polling loop on core 0."
    assert sentence in of_linux(["f1"])
    assert sentence not in of_linux([])


def test_a_cpu_quota_that_polling_loops_exceed_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    sentence = "A control group left the time of 0.5 CPUs (its CPU quota) to loops on 1"
    module = import_module("weir.fabric.fidelity")  # whose name is a function's, too
    for quota, said in ((None, False), (0.5, True), (4.0, False)):
        monkeypatch.setattr(module, "quota_cpus", lambda _tree, quota=quota: quota)
        assert any(one.startswith(sentence) for one in of_linux([])) == said


def test_that_the_tester_answers_translated_sources_is_said_where_there_are_some() -> None:
    def of(translated: tuple[int, int] | None) -> str:
        lab = Lab.model_validate({"weir": 1, "name": "small", "chain": "PVP", "technology": "direct"})
        topology = plan.build_topology(lab, "direct", lab.chains()[0], "small-0badcafe")
        options = lab.options("direct")
        return "\n".join(
            fidelity(topology, options, datapath="none", memory="hugepages", translated=translated)
        )

    assert "99 of 100 flows from left to right are translated on the way" in of((99, 100))
    assert "translated" not in of((0, 100)) + of(None)
