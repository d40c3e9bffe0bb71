# SPDX-License-Identifier: Apache-2.0
"""A lab's `host` on this machine, as far as it goes here: seen in weir-dp's threads, and gone again."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from weir import fabric, plan
from weir.fabric import hugepages, markers
from weir.lab import Lab

from .killed import kill, survived

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="changes settings of the host: run as root"),
    pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="a polling CPU, and one for the system"),
]
Picture = dict[str, str]


def lab(**host: Any) -> Lab:
    """A wire in memory, polled by the last CPU."""
    cpu = [max(os.sched_getaffinity(0))]
    return Lab.model_validate(
        {
            "weir": 1,
            "name": "tuned",
            "chain": "PVP",
            "technology": "direct",
            "cores": {"tester": cpu, "functions": cpu, "switch": cpu},
            "technologies": {"direct": {"wire": "memory"}},
            "host": host,
        }
    )


def picture() -> Picture:
    """What tuning changes, apart from pages, which other programs take too."""
    places = [*Path("/proc/irq").glob("*/smp_affinity_list"), Path("/proc/irq/default_smp_affinity")]
    places += [*Path("/sys/devices/system/cpu").glob("cpu[0-9]*/cpufreq/scaling_governor")]
    places += [Path("/proc/sys/kernel/sched_rt_runtime_us")]
    return {str(place): place.read_text() for place in places}


@pytest.fixture
def before(run_root: Path) -> Iterator[Picture]:
    seen = picture()
    yield seen
    assert list(run_root.iterdir()) == []
    assert picture() == seen


def polling_threads(deployment: fabric.Deployment) -> list[tuple[set[int], int]]:
    """CPUs and scheduling policy of each loop's thread."""
    (pid,) = markers.marked(f"{deployment.id}/weir-dp")
    tasks = list(Path(f"/proc/{pid}/task").iterdir())
    loops = [int(task.name) for task in tasks if (task / "comm").read_text().startswith("rte-worker")]
    return [(os.sched_getaffinity(thread), os.sched_getscheduler(thread)) for thread in loops]


@pytest.mark.parametrize(
    ("host", "pinned", "policy"),
    [
        ({}, True, os.SCHED_OTHER),
        ({"rt": True}, True, os.SCHED_FIFO),
        ({"pinning": False, "hugepages": "none"}, False, os.SCHED_OTHER),
    ],
)
def test_what_the_lab_asks_for_is_seen_in_weir_dps_threads(
    host: dict[str, Any], pinned: bool, policy: int, before: Picture
) -> None:
    asked = lab(**host)
    chain = asked.chains()[0]
    deployment_id = plan.deployment_id(asked.name, secrets.token_hex(4))
    topology = plan.build_topology(asked, "direct", chain, deployment_id)
    deployment = fabric.Deployment.deploy(plan.steps(topology, asked), topology)
    try:
        cpus = set(topology.nodes[0].cores) if pinned else os.sched_getaffinity(0)
        assert polling_threads(deployment) == [(cpus, policy)]
        throttled = Path("/proc/sys/kernel/sched_rt_runtime_us").read_text()
        assert throttled == (
            "-1\n" if policy == os.SCHED_FIFO else before["/proc/sys/kernel/sched_rt_runtime_us"]
        )
    finally:
        deployment.destroy()


def test_a_tuned_host_is_as_before_after_a_kill_at_every_point(before: Picture) -> None:
    asked = lab(rt=True)
    about = plan.tuning(asked, secrets.token_hex(4))
    steps = [step for step in plan.tuning_steps(asked, about.cpus) if fabric.lacking(step) is None]
    assert {"hugepages", "rt-throttle"} <= {step.kind for step in steps}
    pages = (hugepages.DIRECTORY / "nr_hugepages").read_text()

    def killing(point: tuple[str, str]) -> Callable[[fabric.Event], None]:
        return lambda event: kill() if (event.step.name, event.state) == point else None

    for point in [(step.name, state) for step in steps for state in ("doing", "done", "recorded")]:
        assert not survived(partial(fabric.Deployment.deploy, steps, about, killing(point))), point
        assert fabric.clean_leftovers() == [about.deployment], point
        assert picture() == before, point
    deployment = fabric.Deployment.deploy(steps, about)
    assert picture() != before
    assert deployment.tuning == about
    deployment.destroy()
    assert (hugepages.DIRECTORY / "nr_hugepages").read_text() == pages
