# SPDX-License-Identifier: Apache-2.0
"""What the kernel at hand lacks, by the tests that would be skipped or told to refuse there: under Debian's
kernel in an emulated machine (minutes)."""

from __future__ import annotations

import os
import shlex
import shutil
import sys

import pytest

from .machine import run

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.geteuid() != 0, reason="shares this host's files with a machine: run as root"),
    pytest.mark.skipif(shutil.which("qemu-system-x86_64") is None, reason="no QEMU here"),
]
LIMIT_S = 900.0


@pytest.mark.parametrize(
    ("module", "test"),
    [
        ("ip_vs", "tests/smoke/test_counterparts.py -k ipvs"),
        ("openvswitch", "tests/smoke/test_frames.py -k 'ovs and not dpdk'"),
        ("openvswitch", "tests/smoke/test_kernel_datapath.py"),
        ("openvswitch", "tests/smoke/test_kernel_function.py -k 'simplest and ovs'"),
        ("8021q", "tests/smoke/test_spanning.py -k vlans_of_one_interface"),
    ],
)
def test_what_needs_another_kernel_passes_there(module: str, test: str) -> None:
    asked = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-n0",
        "--color=no",
        "-rs",
        "-m",
        "",
        "-p",
        "no:cacheprovider",
    ]
    found = run(["sh", "-c", 'modprobe "$0" && exec "$@"', module, *asked, *shlex.split(test)], LIMIT_S)
    assert found.code == 0, found.said
    assert " skipped" not in found.said, found.said
