# SPDX-License-Identifier: Apache-2.0
"""An emulated machine ends with its maker: it has four GiB, and reads all files of this host."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from pathlib import Path

from tests.fabric.test_killed_maker import killed_when, until
from weir.fabric.process import alive

STAND_IN = """#!/bin/sh
case $1 in --socket-path=*) : >"${1#*=}" ;; esac
echo >"$(dirname "$0")/$$.pid"
exec sleep 600
"""


def test_the_machine_and_who_shares_files_with_it_end_with_a_maker_that_is_killed(tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_text(STAND_IN)
    program.chmod(0o755)
    code = f"""from pathlib import Path
from types import SimpleNamespace
from tests.other_kernel import machine
program, own = Path({str(program)!r}), Path({str(tmp_path)!r})
machine._SHARED_BY, machine.program = program, lambda *_: program
with machine._shared(own / "files.sock"):
    machine._emulated(SimpleNamespace(image="image"), own, "", 600.0)"""

    def started() -> list[int]:
        return [int(path.stem) for path in tmp_path.glob("*.pid")]

    try:
        killed_when(code, lambda: len(started()) == 2, tmp_path)
        until(lambda: not any(map(alive, started())))
    finally:
        for pid in started():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
