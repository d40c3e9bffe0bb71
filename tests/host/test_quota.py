# SPDX-License-Identifier: Apache-2.0
"""A limit on CPU time is seen in either version of control groups, and said before anything is measured."""

from __future__ import annotations

from pathlib import Path

import pytest

from weir.fabric.host.quota import quota_cpus, throttled_s
from weir.fabric.host.tree import Tree
from weir.host.core_checks import cores
from weir.host.facts import Cpus, Facts

V1, V2 = "sys/fs/cgroup/cpu,cpuacct", "sys/fs/cgroup"


def made(root: Path, files: dict[str, str]) -> Tree:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(f"{text}\n")
    return Tree(root)


@pytest.mark.parametrize(
    ("files", "quota"),
    [
        ({}, None),
        (
            {f"{V2}/cgroup.controllers": "cpu", "proc/self/cgroup": "0::/a", f"{V2}/a/cpu.max": "max 100000"},
            None,
        ),
        (
            {
                f"{V2}/cgroup.controllers": "cpu",
                "proc/self/cgroup": "0::/a",
                f"{V2}/a/cpu.max": "50000 100000",
            },
            0.5,
        ),
        (
            {
                f"{V2}/cgroup.controllers": "cpu",
                "proc/self/cgroup": "0::/slice/unit",
                f"{V2}/slice/cpu.max": "150000 100000",
                f"{V2}/slice/unit/cpu.max": "max 100000",
            },
            1.5,
        ),
        (
            {
                "proc/self/cgroup": "3:cpuset:/\n2:cpu,cpuacct:/docker/0123",  # as seen from within
                f"{V1}/cpu.cfs_quota_us": "50000",
                f"{V1}/cpu.cfs_period_us": "100000",
            },
            0.5,
        ),
        (
            {
                "proc/self/cgroup": "2:cpu,cpuacct:/",
                f"{V1}/cpu.cfs_quota_us": "-1",
                f"{V1}/cpu.cfs_period_us": "100000",
            },
            None,
        ),
    ],
)
def test_the_least_limit_of_a_group_and_those_around_it_counts(
    files: dict[str, str], quota: float | None, tmp_path: Path
) -> None:
    assert quota_cpus(made(tmp_path, files)) == quota


@pytest.mark.parametrize(
    ("version", "stat", "seconds"),
    [
        (1, "nr_periods 9\nnr_throttled 7\nthrottled_time 1500000000", 1.5),
        (2, "usage_usec 5\nnr_throttled 7\nthrottled_usec 1500000", 1.5),
        (2, "usage_usec 5", 0.0),
    ],
)
def test_for_how_long_a_limit_held_threads_back_is_counted_in_either_version(
    version: int, stat: str, seconds: float, tmp_path: Path
) -> None:
    limited: dict[str, str] = {
        "proc/self/cgroup": "0::/a" if version == 2 else "2:cpu,cpuacct:/a",
        f"{V2}/cgroup.controllers": "cpu",
        f"{V2}/a/cpu.max": "50000 100000",
        f"{V2}/a/cpu.stat": stat,
        f"{V1}/a/cpu.cfs_quota_us": "50000",
        f"{V1}/a/cpu.cfs_period_us": "100000",
        f"{V1}/a/cpu.stat": stat,
    }
    assert throttled_s(made(tmp_path, limited)) == seconds
    unlimited = limited | {f"{V2}/a/cpu.max": "max 100000", f"{V1}/a/cpu.cfs_quota_us": "-1"}
    assert throttled_s(made(tmp_path, unlimited)) == 0.0


def test_doctor_says_what_a_limit_below_the_cpus_costs_and_nothing_of_a_higher_one() -> None:
    def said(quota: float | None) -> list[str]:
        return [one.what for one in cores(Facts(cpus=Cpus(online=(0, 1), allowed=(0, 1), quota=quota)))]

    assert said(0.5)[0] == "a control group leaves Weir the time of 0.5 of 2 CPUs"
    assert len(said(0.5)) == len(said(None)) + 1 == len(said(2.0)) + 1
