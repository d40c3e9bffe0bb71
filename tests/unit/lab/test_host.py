# SPDX-License-Identifier: Apache-2.0
"""`host` of a lab: what it may ask for, and on which machine."""

from __future__ import annotations

from pathlib import Path

import pytest

from weir.lab import LabFileError, load_lab

from .lab_text import GOOD, load, problem

FOUR = (0, 1, 2, 3)
ONE_LEFT = GOOD + "cores: {tester: [1], functions: [2], switch: [3]}\n"
NODES = {0: (0, 1, 2, 3), 1: (4, 5, 6, 7)}


def host(*lines: str) -> str:
    return "host: {" + ", ".join(lines) + "}\n"


def test_a_lab_that_says_nothing_leaves_the_host_as_it_is() -> None:
    asked = load(GOOD).host
    assert (asked.pinning, asked.isolation, asked.interrupts, asked.governor) == (True, None, None, None)
    assert (asked.hugepages, asked.numa, asked.rt) == ("auto", None, False)


@pytest.mark.parametrize(
    ("line", "key", "said"),
    [
        (
            "isolation: partition",
            "host.isolation",
            "every CPU of this machine (0-3) polls under direct: none wo",
        ),
        ("rt: true", "host.rt", "every CPU of this machine (0-3) polls under direct"),
    ],
)
def test_a_lab_that_takes_every_cpu_may_not_keep_the_system_off_them(line: str, key: str, said: str) -> None:
    every = GOOD + "cores: {tester: [0, 1], functions: [2, 3], switch: [3]}\n"
    found = problem(every.replace(", ovs-dpdk", "") + host(line), cpus=FOUR)
    assert found.key == key
    assert found.message.startswith(said)
    assert load(ONE_LEFT + host(line), cpus=FOUR).polling_cpus("ovs-dpdk") == (1, 2, 3)


def test_threads_that_move_can_neither_be_isolated_nor_be_realtime() -> None:
    found = problem(ONE_LEFT + host("pinning: false", "rt: true"), cpus=FOUR)
    assert (found.key, found.expected) == ("host.rt", "pinning: true, or no rt")


def test_the_switchs_other_threads_stay_off_isolated_cpus() -> None:
    lcores = "technologies: {ovs-dpdk: {lcores: [2]}}\n"
    found = problem(ONE_LEFT + lcores + host("isolation: partition"), cpus=FOUR)
    assert found.key == "technologies.ovs-dpdk.lcores"
    assert found.message.startswith("CPU 2 would be isolated for polling")


def test_a_switch_with_dpdk_needs_hugepages() -> None:
    assert problem(GOOD + host("hugepages: none")).key == "host.hugepages"
    assert load(GOOD.replace(", ovs-dpdk", "") + host("hugepages: none")).host.hugepages == "none"


def test_an_unknown_word_is_refused_with_those_that_there_are() -> None:
    found = problem(GOOD + host("governor: perfomance"))
    assert (found.key, found.nearest) == ("host.governor", "performance")


def test_a_lab_with_a_node_gets_its_cores_there(tmp_path: Path) -> None:
    path = tmp_path / "lab.yml"
    path.write_text(GOOD + host("numa: 1"))
    lab = load_lab(path, cpus=range(8), nodes=NODES)
    assert set(lab.polling_cpus("ovs-dpdk")) <= set(NODES[1])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (GOOD + host("numa: 2"), "this machine has no NUMA node 2; expected one of 0, 1"),
        (
            ONE_LEFT + host("numa: 1"),
            "direct would poll on CPUs 1-2, which another NUMA node has; expected cores",
        ),
    ],
)
def test_a_node_that_is_not_there_or_has_not_these_cores_is_refused(
    text: str, said: str, tmp_path: Path
) -> None:
    path = tmp_path / "lab.yml"
    path.write_text(text)
    with pytest.raises(LabFileError, match=said):
        load_lab(path, cpus=range(8), nodes=NODES)
