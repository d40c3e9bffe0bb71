# SPDX-License-Identifier: Apache-2.0
"""Which cores of a machine the functions of a lab may have, and what they would share there.

Whole physical cores on the NUMA node of the ports, which is that of the tester. From four CPUs on the first
one is left to the system, as where a lab names no cores (base/cores.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from weir.base.cores import named_cpus
from weir.plan.placements import Pool

_SYSTEM_FROM = 4


@dataclass(frozen=True)
class MachineCores:
    """The CPUs of a machine."""

    cpus: tuple[int, ...]
    siblings: tuple[tuple[int, ...], ...] = ()
    """Threads of each physical core that has more than one."""
    nodes: Mapping[int, Sequence[int]] = field(default_factory=dict)
    """CPUs by NUMA node; empty: one node."""

    def threads(self, cpu: int) -> tuple[int, ...]:
        """All threads of its physical core."""
        return next((group for group in self.siblings if cpu in group), (cpu,))

    def near(self, cpu: int) -> tuple[int, ...]:
        """The CPUs of its NUMA node."""
        node = next((cpus for cpus in self.nodes.values() if cpu in cpus), self.cpus)
        return tuple(one for one in self.cpus if one in node)


def apart(machine: MachineCores, tester: Sequence[int], *, with_tester: bool) -> Pool:
    """Cores where functions disturb nobody. `with_tester`: they may stand on its cores too."""
    taken = {thread for cpu in tester for thread in machine.threads(cpu)}
    own: list[int] = []
    for cpu in machine.near(tester[0]):
        if not taken & {cpu, *machine.threads(cpu)}:
            own.append(cpu)
            taken.update(machine.threads(cpu))
    system = _system(machine)
    return Pool(tuple(cpu for cpu in own if cpu not in system), tuple(dict.fromkeys(tester)) * with_tester)


def crowded(machine: MachineCores, tester: Sequence[int]) -> Pool:
    """All cores of the node, those of `apart` first: also the tester's, the system's, and second threads."""
    first = apart(machine, tester, with_tester=True)
    rest = [cpu for cpu in machine.near(tester[0]) if cpu not in {*first.own, *first.tester}]
    alone = [cpu for cpu in rest if not set(machine.threads(cpu)) & {*first.own, *tester}]
    second = [cpu for cpu in rest if cpu not in alone]
    return Pool((*first.own, *alone, *second), first.tester)


def sharing(machine: MachineCores, tester: Sequence[int], functions: Iterable[int]) -> Iterator[str]:
    """What these CPUs of functions share with others."""
    own = sorted(set(functions))
    both = sorted(set(own) & set(tester))
    if both:
        yield f"{named_cpus(both)} with the tester"
    polling = {*own, *tester}
    groups = dict.fromkeys(machine.threads(cpu) for cpu in sorted(polling))
    for group in groups:
        pollers = sorted(polling & set(group))
        if len(pollers) > 1:
            yield f"one physical core: {named_cpus(pollers)}"
    system = sorted(_system(machine) & set(own) - set(tester))
    if system:
        yield f"{named_cpus(system)} with the system"


def _system(machine: MachineCores) -> set[int]:
    return set(machine.threads(machine.cpus[0])) if len(machine.cpus) >= _SYSTEM_FROM else set()
