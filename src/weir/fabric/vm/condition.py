# SPDX-License-Identifier: Apache-2.0
"""Whether virtual machines still run in the middle of a measurement, and what those said last that do not."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from weir.base.error import FabricError
from weir.fabric import process, stop_signals
from weir.fabric.program_log import printable
from weir.fabric.site import Facts, Site
from weir.fabric.vm.channel import ANSWER_S
from weir.fabric.vm.command_line import Files
from weir.fabric.vm.monitor import execute
from weir.fabric.vm.storage import Stored, stored, why_full

LAST_LINES = 4
_READ_BYTES, _LINE_LENGTH = 16384, 200


def require_running(params: Mapping[str, Any], facts: Facts, site: Site) -> None:
    """Of a step `vm` that stands. FabricError with what happened, and the machine's last words."""
    node, pid = str(params["node"]), int(facts["pid"])
    # A QEMU that waits for a migration ends when that fails, and the guest goes on where it was.
    if params["incoming"]:
        return
    its = stored(site, node)
    if not process.alive(pid):
        raise FabricError(f"virtual machine {node} {_end(pid)} before it was taken down: {last_words(its)}")
    # Nothing else stops one whose processor is emulated; and a migration has the monitor for itself.
    if params["forwarder"] == "" or (facts["accel"] == "kvm" and not params["failover"]):
        with stop_signals.held():
            found = execute(Files(site.directory, node).monitor, "query-status", answer_s=ANSWER_S)
        if not found["running"]:
            _refuse_still(node, str(found["status"]), its, site)


def _end(pid: int) -> str:
    code = process.exit_code(pid)
    if code == 0:
        return "has ended (its guest rebooted or switched itself off, or somebody ended it)"
    if code is not None and code < 0:
        return f"was ended by {process.signal_name(-code)}"
    return "has ended" if code is None else f"has ended (exit code {code} of QEMU)"


def _refuse_still(node: str, status: str, its: Stored, site: Site) -> None:
    if status != "io-error":
        raise FabricError(f"virtual machine {node} stands still ({status}): {last_words(its)}")
    raise FabricError(
        f"virtual machine {node} stands still, since it could not write to"
        f" its disk: {why_full(site, node)}; it said last: {last_words(its)}",
        "raise vm.overlay_mb, make space, or have its guest write less",
    )


def last_words(its: Stored) -> str:
    """The last lines that QEMU said, and that the guest said on its console; only what is fit to print."""
    found = []
    for who, said in (("QEMU", its.log), ("its console", its.serial)):
        lines = [line for text in _end_of(said).splitlines() if (line := printable(text)[:_LINE_LENGTH])]
        if lines:
            found.append(f"{who}: {' | '.join(lines[-LAST_LINES:])}")
    return "; ".join(found) or "it said nothing"


def _end_of(path: Path) -> str:
    try:
        with path.open("rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - _READ_BYTES))
            return file.read().decode(errors="replace")
    except OSError:
        return ""
