# SPDX-License-Identifier: Apache-2.0
"""Programs that others wrote talk through a chain, where they are installed."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from weir.fabric import namespace

from . import host_traffic
from .test_end_hosts import FUNCTIONS, forwarding, lab_of, topology_of

pytestmark = [
    pytest.mark.root,
    pytest.mark.slow,
    pytest.mark.skipif(os.geteuid() != 0, reason="makes namespaces and processes: run as root"),
]

FILE_BYTES = 5_000_000


def started(netns: str, argv: Sequence[str]) -> subprocess.Popen[bytes]:
    with namespace.inside(netns):
        return subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)


def needed(program: str) -> str:
    found = shutil.which(program)
    if found is None:
        pytest.skip(f"{program} is not installed")
    return found


def bracketed(address: str) -> str:
    return f"[{address}]" if ":" in address else address


@pytest.mark.parametrize("technology", ["direct", "linux-bridge", "ovs", "ovs-dpdk"])
@pytest.mark.usefixtures("run_root")
def test_curl_gets_a_file_as_it_was(technology: str, tmp_path: Path) -> None:
    curl = needed("curl")
    data = random.Random(FILE_BYTES).randbytes(FILE_BYTES)
    (tmp_path / "file").write_bytes(data)
    lab = lab_of(technology, {"l3fwd": FUNCTIONS["l3fwd"]})
    topology = topology_of(lab)
    with forwarding(lab, topology):
        for pair in host_traffic.pairs(topology):
            address = bracketed(pair.to_right)
            words = [sys.executable, "-m", "http.server", "80", "--bind", pair.to_right]
            server = started(pair.right, [*words, "--directory", str(tmp_path)])
            asking = [curl, "-sS", "-g", "--retry", "20", "--retry-connrefused", f"http://{address}/file"]
            got, _ = started(pair.left, asking).communicate()
            server.terminate()
            server.communicate()
            assert got == data
