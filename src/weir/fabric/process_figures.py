# SPDX-License-Identifier: Apache-2.0
"""What a process has taken of the machine, as proc(5) has it."""

from __future__ import annotations

import os
from pathlib import Path

from weir.results.soak import ProcessFigures

_TICKS_PER_S = os.sysconf("SC_CLK_TCK")


def process_figures(name: str, pid: int, proc: Path = Path("/proc")) -> ProcessFigures | None:
    """Of all its threads; None if there is no such process any more."""
    place = proc / str(pid)
    try:
        status = _fields(place / "status")
        stat = (place / "stat").read_text().rsplit(")", 1)[1].split()
        threads = [_fields(task / "status") for task in (place / "task").iterdir()]
    except (FileNotFoundError, ProcessLookupError, IndexError):
        return None
    return ProcessFigures(
        name=name,
        pid=pid,
        rss_kib=_number(status, "VmRSS"),
        hugepages_kib=_number(status, "HugetlbPages"),
        cpu_s=(int(stat[11]) + int(stat[12])) / _TICKS_PER_S,
        threads=len(threads),
        voluntary_switches=sum(_number(one, "voluntary_ctxt_switches") for one in threads),
        involuntary_switches=sum(_number(one, "nonvoluntary_ctxt_switches") for one in threads),
    )


def _fields(path: Path) -> dict[str, str]:
    return dict(line.split(":", 1) for line in path.read_text().splitlines() if ":" in line)


def _number(fields: dict[str, str], name: str) -> int:
    """0 where the kernel has no such field: that of a process that has ended, or of hugepages."""
    return int(fields.get(name, "0").split()[0])
