# SPDX-License-Identifier: Apache-2.0
"""`cores` of a lab: which CPUs the tester, the functions and the switch run on.

The tester and the functions are one process, weir-dp: on one core they take turns in one loop. The switch is
somebody else's code: a polling switch (ovs-dpdk) must never share a core with weir-dp, or both starve.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated

from pydantic import BeforeValidator, Field

from weir.base.record import ONE_OR_MANY, LabSection, listed

Cpu = Annotated[int, Field(ge=0, le=4095)]
CpuList = Annotated[
    tuple[Cpu, ...], Field(min_length=1, max_length=4096), ONE_OR_MANY, BeforeValidator(listed)
]


class Cores(LabSection):
    """CPU numbers, as in /proc/cpuinfo. What is absent is chosen from the machine: one of each physical core
    before the second threads of any."""

    tester: CpuList | None = Field(default=None, description="generator and receiver")
    functions: CpuList | None = Field(
        default=None, description="network functions, spread over these cores in the order of the chain"
    )
    switch: CpuList | None = Field(
        default=None, description="the switch; the Linux bridge has no core of its own"
    )

    def over(self, other: Cores | None) -> Cores:
        """These cores, completed from `other`."""
        if other is None:
            return self
        return Cores(
            tester=self.tester or other.tester,
            functions=self.functions or other.functions,
            switch=self.switch or other.switch,
        )


def parse_cpus(text: str) -> tuple[int, ...]:
    """(0, 1, 2, 3, 8) from "0-3,8", as the kernel lists CPUs. ValueError if it is no list."""
    found: list[int] = []
    for part in text.strip().split(","):
        if part.strip():
            first, _, last = part.partition("-")
            found.extend(range(int(first), int(last or first) + 1))
    return tuple(found)


def cpus_text(cpus: Iterable[int], separator: str = ",") -> str:
    """ "0-3,8": the reverse; nothing for no CPUs."""
    runs: list[list[int]] = []
    for cpu in sorted(set(cpus)):
        if runs and cpu == runs[-1][-1] + 1:
            runs[-1].append(cpu)
        else:
            runs.append([cpu])
    return separator.join(f"{run[0]}-{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs)


def named_cpus(cpus: Iterable[int]) -> str:
    """ "CPU 1", "CPUs 0-3,8"."""
    text = cpus_text(cpus)
    return f"CPU {text}" if text.isdigit() else f"CPUs {text}"


def whole_cores_first(cpus: Iterable[int], siblings: Iterable[Sequence[int]]) -> tuple[int, ...]:
    """These CPUs by number, one of each physical core before the second threads of any: what polls on both
    threads of a core has half of it. `siblings`: the threads of each core that has more than one."""
    first_of = {cpu: min(group) for group in siblings for cpu in group}
    seen: set[int] = set()
    first: list[int] = []
    others: list[int] = []
    for cpu in sorted(set(cpus)):
        core = first_of.get(cpu, cpu)
        (others if core in seen else first).append(cpu)
        seen.add(core)
    return (*first, *others)


def default_cores(cpus: Sequence[int], *, functions_apart: bool) -> Cores:
    """Where things run unless the lab says so, for a machine with these CPUs, the best first
    (`whole_cores_first`). `functions_apart`: on two, the functions have the second one.

    From four CPUs on the first one is left to the operating system; from six on, each side of the tester has
    its own core, and the functions have all that remain.
    """
    count = len(cpus)
    if count == 1:
        return Cores(tester=(cpus[0],), functions=(cpus[0],), switch=(cpus[0],))
    if count == 2:
        functions = cpus[1] if functions_apart else cpus[0]
        return Cores(tester=(cpus[0],), functions=(functions,), switch=(cpus[1],))
    if count <= 5:
        first = 0 if count == 3 else 1
        tester, functions, switch = cpus[first : first + 3]
        return Cores(tester=(tester,), functions=(functions,), switch=(switch,))
    return Cores(tester=tuple(cpus[1:3]), functions=tuple(cpus[4:]), switch=(cpus[3],))
