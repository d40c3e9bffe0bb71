# SPDX-License-Identifier: Apache-2.0
"""A core that goes from one thread to another more often than the kernel keeps."""

from __future__ import annotations

import os
import struct
import subprocess
import sys
from collections.abc import Iterator

import pytest

from weir.fabric.outside import switches
from weir.fabric.outside.switches import CoreSwitches, Switch

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="looks at a whole core: run as root")

CORE = max(os.sched_getaffinity(0))
SLEEPS = 1000
"""Each has the core leave the program and come back; four pages keep 409 switches."""


@pytest.fixture
def core(monkeypatch: pytest.MonkeyPatch) -> Iterator[CoreSwitches]:
    """With room for four pages of switches."""
    monkeypatch.setattr(switches, "_DATA_PAGES", 4)
    try:
        made = CoreSwitches(CORE)
    except OSError as error:
        pytest.skip(f"this kernel does not tell who has a core: {error}")
    yield made
    made.close()


def sleeper(core: CoreSwitches, *, drained: bool) -> int:
    """Its number, after it has slept and woken up so often."""
    code = (
        f"import os, sys, time\nos.sched_setaffinity(0, {{{CORE}}})\n"
        f"for _ in range({SLEEPS}):\n    time.sleep(0.0001)\n"
        "    if not _ % 20: print(flush=True), sys.stdin.readline()"
    )
    program = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert program.stdin is not None
    assert program.stdout is not None
    while program.stdout.readline():
        if drained:
            core.drain()
        program.stdin.write(b"\n")
        program.stdin.flush()
    program.communicate()
    return program.pid


def of(pid: int, told: list[Switch]) -> int:
    return sum(pid in (one.from_tid, one.to_tid) for one in told)


def test_what_was_lost_is_of_the_time_in_which_it_was_and_not_of_the_next(core: CoreSwitches) -> None:
    core.begin()
    pid = sleeper(core, drained=False)
    told = core.end()
    assert told.to_raw_ns == told.switches[-1].raw_ns
    assert of(pid, told.switches) < SLEEPS
    core.begin()
    os.sched_yield()
    told = core.end()
    assert told.to_raw_ns is None


def test_nothing_is_lost_while_somebody_makes_room(
    core: CoreSwitches, monkeypatch: pytest.MonkeyPatch
) -> None:
    core.begin()
    pid = sleeper(core, drained=True)
    told = core.end()
    if told.to_raw_ns is not None:
        pytest.skip("others on this machine had the core too often")
    assert of(pid, told.switches) >= 2 * SLEEPS
    times = [one.raw_ns for one in told.switches]
    assert times == sorted(times)
    monkeypatch.setattr(switches, "_KEPT_MOST", 4000)
    core.begin()
    sleeper(core, drained=True)
    assert core.end().to_raw_ns is not None


def record(kind: int, tid: int, other: int, raw_ns: int, flags: int = 0) -> bytes:
    """As perf_event_open(2) has it; one of what was lost is longer."""
    if kind == switches._RECORD_LOST:
        return struct.pack("IHHQQIIQQ", kind, 0, 48, 1, 7, 1, tid, raw_ns, CORE)
    return struct.pack("IHHIIIIQQ", kind, flags, 40, 1, other, 1, tid, raw_ns, CORE)


def test_what_was_lost_before_the_first_is_of_an_earlier_time_and_later_ends_what_is_known() -> None:
    switch, lost = switches._RECORD_SWITCH_CPU_WIDE, switches._RECORD_LOST
    out = record(switch, 5, 6, 10, switches._MISC_SWITCH_OUT | switches._MISC_PREEMPTED)
    into = record(switch, 5, 6, 20)
    known = [Switch(10, 5, 6, preempted=True), Switch(20, 6, 5)]
    missing = record(lost, 0, 0, 30)
    assert switches._switches(b"") == ([], False)
    assert switches._switches(out + into) == (known, False)
    assert switches._switches(missing + out + into) == (known, False)
    assert switches._switches(out + into + missing + out) == (known, True)
