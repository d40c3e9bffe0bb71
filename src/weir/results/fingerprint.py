# SPDX-License-Identifier: Apache-2.0
"""Where and with what a result was measured: the machine, its software, the best state of its cores.

Two results compare only if they were measured in the same place and with the same things.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from weir.base.record import Record


class Fingerprint(Record):
    """The machine and its software. Two results compare only if these agree."""

    cpu: str
    """Model of the processor."""
    cores: int
    """Cores that the run could use."""
    kernel: str
    cmdline: str
    """Command line of the kernel."""
    governor: str
    """Frequency governor."""
    smt: str
    """Simultaneous multithreading."""
    isolated: str
    """Isolated cores, as the kernel lists them."""
    numa_nodes: int
    hugepages_2m: int
    """Hugepages of 2 MiB."""
    memory: str
    """Hugepages or not: what weir-dp had."""
    hypervisor: str
    """Empty on bare metal."""
    tsc_hz: int
    """Rate of the time-stamp counter."""
    offloads: str
    """Offloads of the kernel's interfaces."""
    versions: dict[str, str]
    """Versions of the software that took part."""
    host: str = ""
    """Name of the machine; empty in older results."""
    cpu_quota: float | None = None
    """So many CPUs' time control groups left to Weir: 0.5 is half of one's. None: all, or an older result."""


_Key = TypeVar("_Key", int, str)


SAME_DISTANCE_TIMES = 1.5
"""Cores whose distance from each other differs by less are as near as before."""


class MachineBest(Record):
    """The best state that cores were in often enough, in a run or in all runs since the machine booted."""

    boot_id: str
    """As the kernel tells it; of another boot nothing is known."""
    piece_cycles: dict[int, float] = {}
    """By core: of a piece of work that is the same in all runs of one version of Weir."""
    distances_cycles: dict[str, float] = {}
    """By both cores, "0-1": of a round trip."""

    def with_better(self, other: MachineBest) -> MachineBest:
        """The better of both for each core. Of another boot nothing counts."""
        if other.boot_id != self.boot_id:
            return self
        return MachineBest(
            boot_id=self.boot_id,
            piece_cycles=_least(self.piece_cycles, other.piece_cycles),
            distances_cycles=_least(self.distances_cycles, other.distances_cycles),
        )


def _least(one: Mapping[_Key, float], other: Mapping[_Key, float]) -> dict[_Key, float]:
    found = dict(one)
    for key, cycles in other.items():
        found[key] = min(cycles, found.get(key, cycles))
    return found


# Fields whose name says too little for a sentence.
NAMES = {
    "cmdline": "kernel command line",
    "cores": "number of cores",
    "cpu": "CPU",
    "cpu_quota": "number of CPUs whose time control groups left to Weir",
    "hugepages_2m": "number of 2 MiB pages",
    "isolated": "list of isolated cores",
    "numa_nodes": "number of NUMA nodes",
    "smt": "SMT state",
    "tsc_hz": "time-stamp counter's rate",
}
# The time-stamp counter's rate is calibrated at each boot and varies in the last digits.
TSC_TOLERANCE = 1e-3


def differences(one: Fingerprint, other: Fingerprint) -> list[str]:
    """One sentence for each thing that differs; none when the results may be compared."""
    found: list[str] = []
    for field in Fingerprint.model_fields:
        a, b = getattr(one, field), getattr(other, field)
        if a == b or (field == "tsc_hz" and abs(a - b) <= TSC_TOLERANCE * max(a, b)):
            continue
        if field == "host" and not (a and b):
            continue
        if field == "versions":
            found += _versions(a, b)
        elif (a or "none") != (b or "none"):  # older results have another word for none
            found.append(
                f"The {NAMES.get(field, field.replace('_', ' '))} differs: {a or 'none'} and {b or 'none'}."
            )
    return found


def _versions(one: dict[str, str], other: dict[str, str]) -> list[str]:
    return [
        f"The version of {name} differs: {one.get(name, 'none')} and {other.get(name, 'none')}."
        for name in sorted(one.keys() | other.keys())
        if one.get(name) != other.get(name)
    ]
