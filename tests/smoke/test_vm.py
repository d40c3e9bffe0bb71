# SPDX-License-Identifier: Apache-2.0
"""Functions in virtual machines, booted under emulation: every packet is accounted for, in the guest too."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from weir.fabric.vm.lacking import lacking
from weir.spec.function import FunctionOptions
from weir.spec.lab import DEFAULT_FUNCTION
from weir.spec.vm import VmOptions

from .tiny import tiny_lab
from .trials import AS_FAST_AS_IT_CAN, trials_of

pytestmark = [
    pytest.mark.root,
    pytest.mark.slow,
    pytest.mark.skipif(os.geteuid() != 0, reason="makes namespaces and processes: run as root"),
]

SMALL = {"forwarder": "kernel", "accel": "tcg", "memory_mb": 256}
KERNEL = {"kind": "vm", "vm": SMALL}
SEVERAL_QUEUES = {"kind": "vm", "vm": SMALL | {"queues": 2, "vcpus": 2}}
WEIR_DP = {"kind": "vm", "nf": "l2fwd", "options": {"mode": "mac-rewrite"}, "vm": {"accel": "tcg"}}


@pytest.mark.parametrize("technology", ["linux-bridge", "ovs-dpdk"])
@pytest.mark.parametrize("function", [KERNEL, SEVERAL_QUEUES, WEIR_DP], ids=["kernel", "queues", "weir-dp"])
@pytest.mark.parametrize("chain", ["PVP", "PVVP"])
def test_no_packet_is_lost_unseen(
    technology: str, function: dict[str, object], chain: str, run_root: Path
) -> None:
    options = FunctionOptions.model_validate(function)
    machine = options.machine()
    assert machine is not None
    missing = lacking([machine], technology)
    if missing is not None:
        pytest.skip(": ".join(missing))
    tiny = tiny_lab(technology)
    lab = tiny.model_copy(update={"chain": (chain,), "functions": {DEFAULT_FUNCTION: options}})
    (gentle,) = trials_of(lab, 1, 500, 0.5, drain_ms=2000)
    (hard,) = trials_of(lab, 1, AS_FAST_AS_IT_CAN, 0.2, drain_ms=2000)
    assert gentle.offered > 0
    assert gentle.delivered > 0
    assert (gentle.unaccounted, hard.unaccounted) == (0, 0)
    assert [*run_root.iterdir()] == []


# Says "login:" on the serial port, then halts: mov dx,0x3f8; cld; xor ax,ax; mov ds,ax; mov si,message;
# next: lodsb; test al,al; jz end; out dx,al; jmp next; end: hlt; jmp end.
BOOT_SECTOR = bytes.fromhex("baf803 fc 31c0 8ed8 be167c ac 84c0 7403 ee ebf8 f4 ebfd") + b"login:\0"


def test_an_image_of_the_users_boots_and_is_never_written_to(tmp_path: Path, run_root: Path) -> None:
    image, user_data = tmp_path / "own.raw", tmp_path / "user-data.yml"
    image.write_bytes(BOOT_SECTOR.ljust(510, b"\0") + b"\x55\xaa" + bytes(1 << 20))
    user_data.write_text("#cloud-config\n")
    before = image.read_bytes()
    options = VmOptions(image=str(image), user_data=str(user_data), accel="tcg", memory_mb=128)
    missing = lacking([options], "linux-bridge")
    if missing is not None:
        pytest.skip(": ".join(missing))
    function = FunctionOptions(kind="vm", vm=options)
    lab = tiny_lab("linux-bridge").model_copy(update={"functions": {DEFAULT_FUNCTION: function}})
    (trial,) = trials_of(lab, 1, 2000, 0.2)
    # Its guest has no driver: all packets wait in the taps, or find them full.
    assert trial.delivered == 0
    assert trial.offered > 0
    assert {drop.reason for drop in trial.drops} <= {"not_read", "interface_tx_dropped"}
    assert trial.unaccounted == 0
    assert image.read_bytes() == before
    assert [*run_root.iterdir()] == []
