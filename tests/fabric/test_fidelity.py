# SPDX-License-Identifier: Apache-2.0
"""What a result rests on, said in sentences."""

from __future__ import annotations

from weir import plan
from weir.fabric.fidelity import fidelity
from weir.spec import Chain, Lab

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
    assert "No hugepages were free" in said("direct", memory="no-huge")
    assert "hugepages" not in said("direct")


def test_all_that_shares_a_core_is_listed() -> None:
    assert "tester, f1 and f2 share core 0, in one polling loop." in said("ovs-dpdk")
