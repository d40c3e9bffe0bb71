# SPDX-License-Identifier: Apache-2.0
"""Kernel stacks of all cores, sampled by perf's software clock, as cycles of the kernel's areas.

A sample stands for 1 / RATE_HZ seconds of its core. Hardware counters are not needed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from typing import Literal

from weir.fabric.outside.kernel_areas import SOFTIRQ, area_of

RATE_HZ = 997
"""A prime: no clock of the machine beats with it."""

Context = Literal["softirq", "syscalls"]

_HEAD = re.compile(r"^(?P<name>\S.*?)\s+(?P<tid>-?\d+) +\[(?P<core>\d+)\]")
_FRAME = re.compile(r"^\s+(?P<address>[0-9a-f]+) (?P<symbol>.+)$")
_KERNEL = 1 << 63


@dataclass(frozen=True)
class Sample:
    """One stack. `kernel`: its kernel functions, innermost first."""

    tid: int
    core: int
    kernel: tuple[str, ...]


@dataclass
class Sampled:
    """Samples of one core by context and area."""

    samples: int = 0
    areas: dict[Context, Counter[str]] = field(
        default_factory=lambda: {"softirq": Counter(), "syscalls": Counter()}
    )


def parse(script: str) -> Iterator[Sample]:
    """The samples of `perf script -F comm,tid,cpu,ip,sym`."""
    head: re.Match[str] | None = None
    kernel: list[str] = []
    for line in [*script.splitlines(), ""]:
        frame = _FRAME.match(line)
        if frame is not None:
            if int(frame["address"], 16) >= _KERNEL:
                kernel.append(frame["symbol"].split("+0x")[0])
            continue
        found = _HEAD.match(line)
        if head is not None and (found is not None or not line.strip()):
            yield Sample(int(head["tid"]), int(head["core"]), tuple(kernel))
            head = None
        if found is not None:
            head, kernel = found, []


def sampled(script: str, ours: Collection[int]) -> dict[int, Sampled]:
    """By core. `ours`: the threads whose system calls count; softirqs count in whatever thread they ran."""
    cores: dict[int, Sampled] = {}
    for one in parse(script):
        core = cores.setdefault(one.core, Sampled())
        core.samples += 1
        inside = next((at for at, symbol in enumerate(one.kernel) if symbol in SOFTIRQ), None)
        if inside is not None:
            core.areas["softirq"][area_of(one.kernel[: inside + 1])] += 1
        elif one.kernel and one.tid in ours:
            core.areas["syscalls"][area_of(one.kernel)] += 1
    return cores
