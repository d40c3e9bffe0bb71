# SPDX-License-Identifier: Apache-2.0
"""The smallest lab, of one technology."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from weir.lab import Lab, load_lab

TECHNOLOGIES = ("direct", "linux-bridge", "ovs", "ovs-dpdk")
EACH = tuple(pytest.param(one, marks=pytest.mark.long) if one == "ovs-dpdk" else one for one in TECHNOLOGIES)
"""The same, to parametrize by where one takes much longer than the others."""
LAB = Path(__file__).with_name("tiny.yml")


def tiny_lab(technology: str) -> Lab:
    """It, with that technology alone, on the cores of this machine."""
    lab = load_lab(LAB, quick=False, cpus=sorted(os.sched_getaffinity(0)))
    return lab.model_copy(update={"technology": (technology,), "baseline": technology})
