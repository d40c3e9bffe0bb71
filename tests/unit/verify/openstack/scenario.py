# SPDX-License-Identifier: Apache-2.0
"""What is recorded of a real cloud, and replayed: cases of a suite, as a user of some kind."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from weir.lab.sut import SuiteName, SutFile
from weir.results.verification import Verification
from weir.verify.driver import Driver
from weir.verify.run import Run, planned
from weir.verify.suites import SUITES


@dataclass(frozen=True)
class Scenario:
    """Which cases, who asks, and how the file differs from naming an image and a flavor that are there."""

    suite: SuiteName = "healthcheck"
    cases: tuple[str, ...] = ()
    """None: all."""
    member: bool = False
    """A user without an administrator's rights."""
    options: dict[str, Any] = field(default_factory=dict)
    performance: dict[str, Any] = field(default_factory=dict)
    """Of the file's section of that name."""


INTERFACE = "weir-os1"
"""Of the host on which it was recorded, at the network outside."""
CHAINS: dict[str, Any] = {"chains": {"interface": INTERFACE}}
LIGHT: dict[str, Any] = {
    "traffic": {"frames": ["64"]},
    "trial": {"duration_s": 0.2, "initial_duration_s": 0.1, "duration_sum_s": 0.4},
    "goals": [{"name": "PDR", "loss_ratio": 0.005}],
    "latency": None,
    "time_limit_s": 20,
}
"""Recordings are of what the cloud answers, not of rates."""
IMAGE_FILE = "IMAGE_FILE"
"""Where the file's path is to be."""
SCENARIOS = {
    "healthcheck": Scenario(),
    "member": Scenario(cases=("tenantnetwork1", "tenantnetwork2"), member=True),
    "made": Scenario(
        cases=("vmready2",),
        options={
            "image": None, "image_file": IMAGE_FILE, "image_format": "raw", "flavor": None,
            "new_flavor": {"vcpus": 1, "ram_mib": 192, "extra_specs": {"hw:cpu_policy": "shared"}},
        },
    ),
    "chains": Scenario(
        suite="performance", cases=("pvp_generic", "pvvp_unfiltered"), options=CHAINS,
        performance={"chains": ["PVP", "PVVP"], "techniques": ["generic", "unfiltered"], **LIGHT},
    ),
    "member-chain": Scenario(
        suite="performance", member=True, options=CHAINS, performance={"chains": ["PVP"], **LIGHT}
    ),
}  # fmt: skip


def sut(wanted: Scenario, cloud: str, image_file: Path, limit_s: float = 300.0) -> SutFile:
    """The file."""
    options = {
        "cloud": cloud, "external_network": "public", "image": "weir-tiny", "flavor": "weir-tiny",
        "ssh_user": "root",
    } | wanted.options  # fmt: skip
    if options.get("image_file") == IMAGE_FILE:
        options["image_file"] = str(image_file)
    return SutFile.model_validate(
        {
            "weir": 1,
            "name": "recorded",
            "driver": "openstack",
            "openstack": options,
            "performance": wanted.performance,
            "case_time_limit_s": limit_s,
        }
    )


def counted() -> Callable[[], str]:
    """Identifiers of stacks: the same each time."""
    numbers = itertools.count(1)
    return lambda: f"c0ffee{next(numbers):06}"


def run(wanted: Scenario, driver: Driver, file: SutFile | None = None) -> Verification:
    """Its cases, to their end."""
    file = file or sut(wanted, "recorded", Path("/nonexistent"))
    suite = SUITES[wanted.suite].of(file)
    cases = tuple(one for one in suite.cases if not wanted.cases or one.name in wanted.cases)
    suite = replace(suite, cases=cases)
    found = planned(file, [suite], driver)
    return Run(file, [suite], driver, found, keep=lambda _: None, told=lambda *_: None).run()
