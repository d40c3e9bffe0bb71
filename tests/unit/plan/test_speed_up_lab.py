# SPDX-License-Identifier: Apache-2.0
"""labs/speed-up has a core for each loop of a function from as many CPUs on as its README says."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from weir import plan
from weir.lab import load_lab

LAB = Path(__file__).resolve().parents[3] / "labs" / "speed-up"
README = (LAB / "README.md").read_text(encoding="utf-8")
(NEEDED,) = (int(one) for one in re.findall(r"\*\*All chains need (\d+) CPUs\*\*", README))
DEPLOYMENT = "speed-up-01234567"


def shared(cpus: int) -> set[str]:
    """Chains with two loops of functions on one core. A dispatcher collects, too: that is one of them."""
    lab = load_lab(LAB, quick=False, cpus=range(cpus))
    found = set()
    for chain in lab.chains():
        made = plan.Plan.of(plan.build_topology(lab, "direct", chain, DEPLOYMENT), lab)
        loops = Counter(area.core for area in made.configure.areas if _polls(area.kind, area.name))
        if max(loops.values()) > 1:
            found.add(str(made.topology.chain))
    return found


def _polls(kind: str, name: str) -> bool:
    return kind not in ("generator", "receiver") and ".collector" not in name


@pytest.mark.parametrize(("cpus", "chains"), [(NEEDED, set()), (NEEDED - 1, {"workers-8", "ran-upf-4"})])
def test_every_loop_has_a_core_of_its_own_on_so_many_cpus_and_on_one_less_they_share(
    cpus: int, chains: set[str]
) -> None:
    assert shared(cpus) == chains
