# SPDX-License-Identifier: Apache-2.0
"""XDP programs are set up from the options of l2fwd and l3fwd, and their maps say what became of packets."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from weir.catalogue import linux
from weir.fabric.function.xdp import compiler, counted

from .test_linux import ENDS

OTHER = "02:00:00:00:00:99"
# As bpftool 7.1 prints a map of two CPUs.
DUMPED = [
    {"key": ["0x00"], "formatted": {"key": 0, "values": [{"cpu": 0, "value": 7}, {"cpu": 1, "value": 5}]}},
    {"key": ["0x01"], "formatted": {"key": 1, "values": [{"cpu": 0, "value": 0}, {"cpu": 1, "value": 2}]}},
]


def test_l2fwd_writes_the_next_hops_addresses_or_exchanges_them() -> None:
    made = linux("l2fwd", {"dst_mac": OTHER}, ENDS, "xdp").xdp
    assert made is not None
    assert made.source.name == "l2fwd.bpf.c"
    assert made.defines == {
        "SWAP": "0",
        "LEFT_SRC": "0x02,0x00,0x00,0x00,0x00,0x22",
        "LEFT_DST": "0x02,0x00,0x00,0x00,0x00,0x99",
        "RIGHT_SRC": "0x02,0x00,0x00,0x00,0x00,0x11",
        "RIGHT_DST": "0x02,0x00,0x00,0x00,0x00,0x01",
    }
    swapping = linux("l2fwd", {"mode": "mac-swap"}, ENDS, "xdp").xdp
    assert swapping is not None
    assert swapping.defines == {"SWAP": "1"}


def test_l3fwd_asks_the_routes_that_linux_has() -> None:
    options = {"route_list": "198.51.100.0/24 default"}
    made, plain = linux("l3fwd", options, ENDS, "xdp"), linux("l3fwd", options, ENDS)
    assert made.programs == plain.programs
    assert made.xdp is not None
    assert made.xdp.source.name == "l3fwd.bpf.c"


@pytest.mark.skipif(shutil.which("clang") is None, reason="clang is not installed")
@pytest.mark.parametrize(("nf", "mode"), [("l2fwd", "mac-swap"), ("l2fwd", "mac-rewrite"), ("l3fwd", None)])
def test_each_program_compiles_without_a_warning(nf: str, mode: str | None, tmp_path: Path) -> None:
    made = linux(nf, {"mode": mode} if mode else {}, ENDS, "xdp").xdp
    assert made is not None
    words = compiler(made, {"left": 2, "right": 3}, tmp_path / "it.o")
    subprocess.run(words, check=True)
    assert (tmp_path / "it.o").read_bytes()[:4] == b"\x7fELF"


def test_counts_are_of_all_cpus() -> None:
    assert counted(DUMPED) == {"forwarded": 12, "left_to_linux": 2}
