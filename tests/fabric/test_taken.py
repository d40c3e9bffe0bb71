# SPDX-License-Identifier: Apache-2.0
"""Who had a core: from the kernel's switches, and of a program that really takes one."""

from __future__ import annotations

import itertools
import os
import pwd
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from weir.fabric import markers
from weir.fabric.outside.switches import CoreSwitches, Switch, Told, spans
from weir.fabric.outside.taken import Taken, TakenWatch
from weir.results.slices import QUOTA

OURS, CC, SWITCH = 100, 200, 500


class Recorded:
    """A core whose switches are known."""

    def __init__(self, core: int, switches: list[Switch], told_to_ns: int | None = None) -> None:
        self.core, self.told, self.closed = core, Told(switches, told_to_ns), False

    def begin(self) -> None:
        """Nothing to do."""

    def end(self) -> Told:
        return self.told

    def close(self) -> None:
        self.closed = True


def names(proc: Path, **threads: str) -> Path:
    for tid, name in threads.items():
        (proc / tid.removeprefix("t")).mkdir()
        (proc / tid.removeprefix("t") / "comm").write_text(name + "\n")
    return proc


def watched(proc: Path, switches: list[Switch], *, limited: bool = False) -> list[Taken]:
    watch = TakenWatch(
        [1],
        lambda: {OURS, SWITCH},
        lambda: {OURS},
        opened=lambda core: Recorded(core, switches),  # type: ignore[arg-type,return-value]
        proc=proc,
        is_limited=lambda _tid: limited,
    )
    watch.begin()
    return watch.end()


def test_a_span_goes_from_one_switch_to_the_next_and_the_ends_are_known() -> None:
    switches = [Switch(20, CC, OURS), Switch(50, OURS, CC), Switch(60, CC, OURS)]
    assert list(spans(switches, 10, 90)) == [(10, 20, CC), (20, 50, OURS), (50, 60, CC), (60, 90, OURS)]
    assert list(spans([], 10, 90)) == []


def test_times_of_others_are_told_by_name_and_who_takes_part_is_marked(tmp_path: Path) -> None:
    proc = names(tmp_path, t200="cc1", t300="ksoftirqd/1", t301="ksoftirqd/0", t400="vhost-77")
    now = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)
    order = [OURS, CC, 0, OURS, 300, OURS, 400, 301, OURS, SWITCH, OURS]
    switches = [
        Switch(now + 1000 * at, before, after)
        for at, (before, after) in enumerate(itertools.pairwise(order), start=-11)
    ]
    found = watched(proc, switches)
    assert {one.core for one in found} == {1}
    assert [one.by for one in found if not one.takes_part] == ["cc1 (200)", "ksoftirqd/0 (301)"]
    assert [one.by for one in found if one.takes_part] == [
        "ksoftirqd/1 (300)",
        "vhost-77 (400)",
        "ended program (500)",
    ]
    assert found[0].to_raw_ns - found[0].from_raw_ns == 1000


@pytest.mark.parametrize("ended_take_part", [False, True])
def test_who_came_and_went_takes_part_where_the_system_under_test_may_start_others(
    tmp_path: Path, *, ended_take_part: bool
) -> None:
    now = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)
    gone, named = 600, 200
    switches = [Switch(now - 30, OURS, gone), Switch(now - 20, gone, named), Switch(now - 10, named, OURS)]
    watch = TakenWatch(
        [1],
        lambda: {OURS},
        lambda: {OURS},
        opened=lambda core: Recorded(core, switches),  # type: ignore[arg-type,return-value]
        proc=names(tmp_path, t200="cc1"),
        ended_take_part=ended_take_part,
    )
    watch.begin()
    assert [(one.by, one.takes_part) for one in watch.end()] == [
        ("ended program (600)", ended_take_part),
        ("cc1 (200)", False),
    ]


def test_a_thread_of_another_deployment_is_named_by_that(tmp_path: Path) -> None:
    proc = names(tmp_path, t200="rte-worker-1", t500="pmd-c01/id:2")
    for tid, deployment in ((200, "first-9a1e51ff"), (SWITCH, "mine-00000000")):
        marker = f"{markers.MARKER}={deployment}/weir-dp".encode()
        (proc / str(tid) / "environ").write_bytes(b"PATH=/bin\0" + marker + b"\0")
    now = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)
    found = watched(
        proc, [Switch(now - 20, OURS, CC), Switch(now - 10, CC, SWITCH), Switch(now, SWITCH, OURS)]
    )
    assert [one.by for one in found] == ["weir-dp of first-9a1e51ff", "pmd-c01/id:2 (500)"]


def test_whose_a_program_is_and_how_nice_is_told_and_nothing_of_that_of_the_kernels_threads(
    tmp_path: Path,
) -> None:
    proc = names(tmp_path, t200="python", t201="cc1 (x)", t202="kworker/1:2", t203="gone")
    stats = {"t200": (0x400000, 19), "t201": (0x400000, 0), "t202": (0x4208060, 0)}
    for tid, (flags, nice) in stats.items():
        place = proc / tid.removeprefix("t")
        place.joinpath("stat").write_text(f"7 (a) b) S 1 1 1 0 -1 {flags} 1 2 3 4 5 6 7 8 39 {nice} 4 0\n")
    now = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)
    order = [OURS, 200, 201, 202, 203, OURS]
    switches = [Switch(now + at, *both) for at, both in enumerate(itertools.pairwise(order), start=-9)]
    me = pwd.getpwuid(os.getuid()).pw_name
    assert [one.by for one in watched(proc, switches)] == [
        f"python (nice 19) of {me} (200)",
        f"cc1 (x) of {me} (201)",
        "kworker/1:2 (202)",
        "gone (203)",
    ]


def test_so_is_a_program_that_runs_here() -> None:
    program = subprocess.Popen(["nice", "-n", "19", "sleep", "60"])
    try:
        deadline_s = time.monotonic() + 10
        while Path(f"/proc/{program.pid}/comm").read_text() != "sleep\n" and time.monotonic() < deadline_s:
            time.sleep(0.01)
        now = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)
        found = watched(Path("/proc"), [Switch(now - 20, OURS, program.pid), Switch(now, program.pid, OURS)])
    finally:
        program.kill()
        program.wait()
    me = pwd.getpwuid(os.getuid()).pw_name
    assert [one.by for one in found] == [f"sleep (nice 19) of {me} ({program.pid})"]


def test_time_in_which_a_loop_had_to_leave_its_core_to_nobody_is_a_quotas(tmp_path: Path) -> None:
    now = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)
    order = [OURS, 0, CC, 0, OURS, 0, OURS, CC, 0, OURS]
    spent = 0  # its first switch; the second time it slept, and the last time another had the core first
    switches = [
        Switch(now + 1000 * at, *both, preempted=at in (spent - 10, -4))
        for at, both in enumerate(itertools.pairwise(order), start=-10)
    ]
    found = watched(names(tmp_path, t200="cc1"), switches, limited=True)
    assert [(one.by, one.takes_part) for one in found] == [
        (QUOTA, False),
        ("cc1 (200)", False),
        (QUOTA, False),
        ("cc1 (200)", False),
        (QUOTA, False),
    ]


def test_without_a_quota_a_loop_that_leaves_its_core_to_nobody_has_gone_to_another_one(
    tmp_path: Path,
) -> None:
    now = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)
    switches = [Switch(now - 30_000, OURS, CC, preempted=True), Switch(now - 20_000, CC, 0)]
    found = watched(names(tmp_path, t200="cc1"), switches)
    assert [one.by for one in found] == ["cc1 (200)"]


def test_a_kernel_thread_of_ours_that_leaves_its_core_is_no_quotas(tmp_path: Path) -> None:
    now = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)
    switches = [Switch(now - 20, SWITCH, 0, preempted=True), Switch(now - 10, 0, SWITCH)]
    assert [one.by for one in watched(tmp_path, switches, limited=True) if not one.takes_part] == []


@pytest.mark.parametrize(("held_s", "by"), [(0.0, "cc1 (200)"), (0.4e-3, "cc1 (200)"), (0.6e-3, QUOTA)])
def test_who_has_a_core_since_a_quota_was_spent_is_not_blamed(held_s: float, by: str, tmp_path: Path) -> None:
    now = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)
    switches = [Switch(now - 2_000_000, OURS, CC, preempted=True), Switch(now - 1_000_000, CC, SWITCH)]
    seen = iter((7.0, 7.0 + held_s))
    watch = TakenWatch(
        [1],
        lambda: {OURS, SWITCH},
        lambda: {OURS},
        opened=lambda core: Recorded(core, switches),  # type: ignore[arg-type,return-value]
        proc=names(tmp_path, t200="cc1", t500="vhost-77"),
        held_back_s=lambda: next(seen),
    )
    watch.begin()
    assert [one.by for one in watch.end()] == [by, "vhost-77 (500)"]


def test_the_program_that_measures_is_named_as_itself(tmp_path: Path) -> None:
    """Where no core is left for it; another weir is a program as all are."""
    own = os.getpid()
    proc = names(tmp_path, **{f"t{own}": "weir", "t200": "weir"})
    now = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)
    thread, child = 900, 901
    (proc / str(own) / "task" / str(thread)).mkdir(parents=True)
    names(proc, t901="weir")
    (proc / str(child) / "stat").write_text(f"{child} (weir) R {own} 1 1 0 -1 0 1 2 3 4 5 6 7 8 39 0 4 0\n")
    order = [OURS, CC, own, thread, child, OURS]
    found = watched(
        proc, [Switch(now + at, *both) for at, both in enumerate(itertools.pairwise(order), start=-9)]
    )
    assert [one.by for one in found] == [
        "weir (200)",
        f"weir itself ({own})",
        f"weir itself ({thread})",
        f"weir itself ({child})",
    ]


def test_from_where_switches_were_lost_nobody_is_blamed_and_that_is_told(tmp_path: Path) -> None:
    now = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)
    switches = [Switch(now - 30, OURS, CC), Switch(now - 20, CC, OURS), Switch(now - 10, OURS, CC)]
    told = [Recorded(1, switches, now - 10), Recorded(2, [], 0), Recorded(3, switches)]
    watch = TakenWatch(
        [1, 2, 3],
        lambda: {OURS},
        lambda: {OURS},
        opened=lambda core: told[core - 1],  # type: ignore[arg-type,return-value]
        proc=names(tmp_path, t200="cc1"),
    )
    watch.begin()
    found = watch.end()
    assert [(one.core, one.to_raw_ns - one.from_raw_ns) for one in found if one.core != 3] == [(1, 10)]
    assert [one.core for one in found] == [1, 3, 3]
    assert [one.core for one in watch.unrecorded] == [1, 2]
    assert all(one.to_raw_ns >= one.from_raw_ns >= now for one in watch.unrecorded)


def test_a_kernel_that_does_not_tell_is_no_error_and_says_why() -> None:
    def refused(core: int) -> CoreSwitches:
        del core
        raise PermissionError(13, "Permission denied")

    watch = TakenWatch([0], set, opened=refused)
    watch.begin()
    assert watch.end() == []
    assert watch.refused == "perf_event_open: Permission denied"


def stolen_s(core: int) -> float:
    """What the hypervisor has taken of a core: in nobody's CPU time, though somebody had the core."""
    line = next(one for one in Path("/proc/stat").read_text().splitlines() if one.startswith(f"cpu{core} "))
    return int(line.split()[8]) / os.sysconf("SC_CLK_TCK")


CLOCKS_DIFFER_S = 0.002  # a fiftieth of what the program takes


@pytest.mark.skipif(os.geteuid() != 0, reason="looks at a whole core: run as root")
def test_a_program_that_takes_a_core_is_seen_when_it_did() -> None:
    core = max(os.sched_getaffinity(0))
    watch = TakenWatch([core], lambda: {os.getpid()})
    watch.begin()
    if watch.refused is not None:
        pytest.skip(f"this kernel does not tell who has a core: {watch.refused}")
    code = (
        f"import os, time\nos.sched_setaffinity(0, {{{core}}})\nprint(time.process_time(), flush=True)\n"
        "while time.process_time() < 0.1: pass"
    )
    begun_ns = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)
    stolen_before_s = stolen_s(core)
    program = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert program.stdout is not None
    elsewhere_s = float(program.stdout.readline())  # Python's start, until it has moved: on any core
    _, status, used = os.wait4(program.pid, 0)  # to its end, with what its exit took
    program.returncode = os.waitstatus_to_exitcode(status)
    program.stdout.close()
    ran_s = used.ru_utime + used.ru_stime
    ended_ns = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)
    found = [one for one in watch.end() if one.by.endswith(f"({program.pid})")]
    watch.close()
    seen_s = sum(one.to_raw_ns - one.from_raw_ns for one in found) / 1e9
    # No less than its CPU time there, but for what the clocks differ by; more by what the hypervisor took
    # meanwhile, of which the kernel knows in ticks of 10 ms.
    assert ran_s - elsewhere_s - CLOCKS_DIFFER_S <= seen_s
    assert seen_s <= ran_s + stolen_s(core) - stolen_before_s + 0.02
    assert all(begun_ns <= one.from_raw_ns <= one.to_raw_ns <= ended_ns for one in found)
    assert {one.core for one in found} == {core}


@pytest.mark.skipif(os.geteuid() != 0, reason="looks at a whole core: run as root")
def test_it_leaves_no_descriptor_behind() -> None:
    before = set(Path("/proc/self/fd").iterdir())
    watch = TakenWatch([0], set)
    for _ in range(3):
        watch.begin()
        watch.end()
    watch.close()
    assert len(set(Path("/proc/self/fd").iterdir())) <= len(before)


LOOP, STRANGER, WAITING = 100, 700, 701


def running(proc: Path, tid: int, *, core: int = 1, ran_s: float = 1.0, state: str = "R") -> None:
    """A thread as the kernel shows it, by itself and as a process's."""
    for place in (proc / str(tid), proc / str(tid) / "task" / str(tid)):
        place.mkdir(parents=True, exist_ok=True)
        fields = [state, *["0"] * 35, str(core), *["0"] * 13]
        place.joinpath("stat").write_text(f"{tid} (program {tid}) {' '.join(fields)}\n")
        place.joinpath("schedstat").write_text(f"{round(ran_s * 1e9)} 0 1\n")
        place.joinpath("comm").write_text(f"program {tid}\n")


def without_a_switch(proc: Path, meanwhile: Callable[[], None] = lambda: None) -> list[str]:
    watch = TakenWatch(
        [1],
        lambda: {LOOP},
        lambda: {LOOP},
        opened=lambda core: Recorded(core, []),  # type: ignore[arg-type,return-value]
        proc=proc,
    )
    watch.begin()
    meanwhile()
    return [one.by.partition(" of ")[0] for one in watch.end()]


def test_who_has_a_core_all_the_time_is_told_although_it_went_to_nobody_else(tmp_path: Path) -> None:
    running(tmp_path, STRANGER)
    running(tmp_path, WAITING, core=0)
    assert without_a_switch(tmp_path) == [f"program {STRANGER}"]


def test_a_loop_that_had_its_core_all_the_time_is_nobody_else_and_who_waits_for_it_had_nothing(
    tmp_path: Path,
) -> None:
    running(tmp_path, LOOP)
    running(tmp_path, WAITING)
    assert without_a_switch(tmp_path, lambda: running(tmp_path, LOOP, ran_s=1.5)) == []


def test_a_loop_that_did_not_run_had_nothing_and_of_those_who_could_it_is_who_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for tid in (LOOP, STRANGER, WAITING):
        running(tmp_path, tid)
    monkeypatch.setattr(time, "sleep", lambda _: running(tmp_path, STRANGER, ran_s=1.01))
    assert without_a_switch(tmp_path) == [f"program {STRANGER}"]


def test_a_core_on_which_nothing_runs_is_nobodys(tmp_path: Path) -> None:
    running(tmp_path, LOOP, state="S")
    assert without_a_switch(tmp_path) == []
