# SPDX-License-Identifier: Apache-2.0
"""A chain whose tester is that of a cloud, to measure it alone: nothing else of the chain is ever built."""

from __future__ import annotations

from collections.abc import Sequence

from weir.base.cloud import CloudTester
from weir.lab.lab import Lab
from weir.technology import TECHNOLOGIES


def loopback_lab(name: str, tester: CloudTester, flows: int, frames: Sequence[str]) -> Lab:
    """With ports of the kind that a cloud's tester has: sockets at interfaces of the kernel."""
    both = len(tester.directions) > 1
    kernel = next(name for name, one in TECHNOLOGIES.items() if one.no_interface is None and not one.own_core)
    cores = {"tester": [tester.core], "functions": [tester.system_cores[0]]}
    return Lab.model_validate(
        {
            "weir": 1,
            "name": name,
            "chain": ["PVP"],
            "technology": [kernel],
            "traffic": {"frames": list(frames), "flows": {"count": flows}},
            "tester": {"direction": "bidirectional" if both else "left-to-right"},
            "technologies": {kernel: {"cores": cores}},
            "host": {"hugepages": "none"},
        }
    )
