# SPDX-License-Identifier: Apache-2.0
"""A loop in a real control group with a CPU quota."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from weir.fabric.outside.taken import TakenWatch
from weir.results.slices import QUOTA


@pytest.mark.skipif(os.geteuid() != 0, reason="makes a control group and looks at a whole core: run as root")
def test_a_loop_in_a_group_with_a_quota_is_seen_to_be_held_back() -> None:
    core = max(os.sched_getaffinity(0))
    code = f"import os\nos.sched_setaffinity(0, {{{core}}})\nprint(flush=True)\nwhile True: pass"
    loop = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    watch = TakenWatch([core], lambda: {loop.pid}, lambda: {loop.pid})
    group = None
    try:
        assert loop.stdout is not None
        loop.stdout.readline()
        group = group_with_a_tenth_of_the_time(loop.pid)
        time.sleep(0.2)  # two periods: it runs as the quota has it
        watch.begin()
        if watch.refused is not None:
            pytest.skip(f"this kernel does not tell who has a core: {watch.refused}")
        time.sleep(1)
        found = watch.end()
    finally:
        watch.close()
        loop.kill()
        loop.communicate()
        if group is not None:
            group.rmdir()
    held_s, others_s = (
        sum(one.to_raw_ns - one.from_raw_ns for one in found if (one.by == QUOTA) is held) / 1e9
        for held in (True, False)
    )
    if others_s > 0.5:
        pytest.skip(f"others had the core for {others_s:.2f} s of the second in which it was looked at")
    # It ran for a tenth of the second; the rest is the quota's, but for what others had of the core.
    assert 0.7 <= held_s + others_s <= 1.1


def group_with_a_tenth_of_the_time(pid: int) -> Path:
    """Of one CPU; in either version of control groups."""
    for top, limit in (
        (Path("/sys/fs/cgroup/cpu"), ("cpu.cfs_quota_us", "10000")),
        (Path("/sys/fs/cgroup/cpu,cpuacct"), ("cpu.cfs_quota_us", "10000")),
        (Path("/sys/fs/cgroup"), ("cpu.max", "10000 100000")),
    ):
        group = top / f"weir-test-{pid}"
        try:
            group.mkdir()
        except OSError:
            continue
        if (group / limit[0]).exists():
            (group / limit[0]).write_text(limit[1])
            (group / "cgroup.procs").write_text(str(pid))
            return group
        group.rmdir()
    pytest.skip("no control group with a CPU quota can be made here")
