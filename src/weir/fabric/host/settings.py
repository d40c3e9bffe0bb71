# SPDX-License-Identifier: Apache-2.0
"""Step kinds interrupts, governor and rt-throttle: files of /proc and /sys with another value for a while.

Deployments overlap and go in any order. Each journals, file by file and before it writes, what it sets and
what the file held before any of Weir's. Who goes while another one holds the file leaves it that one's value;
the last one writes the first value back. A value that nobody of Weir has set is somebody else's, and stays:
who comes then begins a new generation, which that value is given back to, and the older ones write no more.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from weir.base.cores import cpus_text, parse_cpus
from weir.base.error import FabricError
from weir.base.step import StepKind
from weir.fabric.host.power import cpus_of_mask, mask_of_cpus
from weir.fabric.host.tree import Tree
from weir.fabric.site import Facts, Site, generation, newest
from weir.plan import Step

Write = Callable[[Path, str], object]
_CPU = "sys/devices/system/cpu"
_IRQ = "proc/irq"
_RT_RUNTIME = "proc/sys/kernel/sched_rt_runtime_us"
_DEFAULT = f"{_IRQ}/default_smp_affinity"


class HostSettings(ABC):
    """One kind of step. A kind says which files it sets to what, and why it cannot, if it cannot."""

    kind: ClassVar[StepKind]

    def __init__(self, root: Path = Path("/"), write: Write = Path.write_text) -> None:
        self._tree = Tree(root)
        self._write = write

    @abstractmethod
    def lacking(self, params: Mapping[str, Any]) -> str | None:
        """Why this machine cannot do it; None if it can. Touches nothing."""

    @abstractmethod
    def wanted(self, params: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
        """Path below the root, and the value that it shall have."""

    def do(self, step: Step, site: Site) -> Facts:
        """Sets what can be set. FabricError where this machine cannot do it; files that refuse are noted, and
        stay."""
        why = self.lacking(step.params)
        if why is not None:
            raise FabricError(f"cannot {step.text}: {why}", "leave the key out of `host`, or mend that")
        refused = []
        with site.alone():
            others = site.elsewhere(self.kind)
            for path, value in list(self.wanted(step.params)):
                held = [facts[path] for facts in others if facts.get(path)]
                now = self._tree.text(path)
                if now is None or (not held and _same(path, now, value)):
                    continue
                site.note({path: {**_before(path, now, held), "set": value}})
                if not _same(path, now, value) and not self._set(path, value):
                    refused.append(path)
        return {"refused": refused} if refused else {}

    def undo(self, params: Mapping[str, Any], facts: Facts, site: Site) -> None:  # noqa: ARG002
        """Gives each file back the value that it had, or the one of another deployment that holds it."""
        with site.alone():
            others = site.elsewhere(self.kind)
            for path, held in facts.items():
                if not isinstance(held, dict):
                    continue
                others_hold = [other[path] for other in others if other.get(path)]
                rest = [one for one in others_hold if generation(one) == generation(held)]
                value = rest[-1]["set"] if rest else held["before"]
                now = self._tree.held(path)  # what cannot be read now may still be ours
                ours = now is not None and _same(path, now, held["set"])
                newer = any(generation(one) > generation(held) for one in others_hold)
                if ours and not newer and not _same(path, str(now), value):
                    self._write(self._tree.root / path, value)
                site.note({path: None})  # from now on it is not held

    def _set(self, path: str, value: str) -> bool:
        """False where the kernel does not let go: interrupts that it manages itself, or of one CPU."""
        try:
            self._write(self._tree.root / path, value)
        except OSError:
            return False
        return True


class Interrupts(HostSettings):
    """Devices are served, and new ones too, on CPUs that do not poll."""

    kind = "interrupts"

    def lacking(self, params: Mapping[str, Any]) -> str | None:
        """The kernel names no interrupts in some containers; and somebody must serve them."""
        if not self._tree.exists(_DEFAULT):
            return "this kernel shows no /proc/irq"
        if not self._rest(params):
            return "no CPU is left that does not poll"
        return None

    def wanted(self, params: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
        """Each keeps those of its CPUs that do not poll; if it has none of them, it gets all that do not."""
        polling, rest = set(params["cpus"]), self._rest(params)
        for path in [str(place) for place in self._tree.glob(f"{_IRQ}/[0-9]*/smp_affinity_list")]:
            now = set(parse_cpus(self._tree.text(path) or ""))
            if now & polling:
                yield path, cpus_text(now - polling or rest)
        default = set(cpus_of_mask(self._tree.text(_DEFAULT) or ""))
        yield _DEFAULT, mask_of_cpus(tuple(default - polling or rest))

    def _rest(self, params: Mapping[str, Any]) -> set[int]:
        return set(self._tree.cpus(f"{_CPU}/online")) - set(params["cpus"])


class Governor(HostSettings):
    """The frequency governor of the polling CPUs."""

    kind = "governor"

    def lacking(self, params: Mapping[str, Any]) -> str | None:
        """Virtual machines have none, and some drivers do not have every one."""
        for cpu in params["cpus"]:
            offered = self._tree.text(f"{_CPU}/cpu{cpu}/cpufreq/scaling_available_governors")
            if not self._tree.exists(f"{_CPU}/cpu{cpu}/cpufreq/scaling_governor"):
                return f"CPU {cpu} has no frequency control: it is the hypervisor's or the firmware's"
            if offered is not None and params["governor"] not in offered.split():
                return f"CPU {cpu} has no governor {params['governor']}, but {offered}"
        return None

    def wanted(self, params: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
        """One file a CPU."""
        for cpu in params["cpus"]:
            yield f"{_CPU}/cpu{cpu}/cpufreq/scaling_governor", str(params["governor"])


class RtThrottle(HostSettings):
    """Realtime threads may use all time of a CPU: else a loop under SCHED_FIFO stands still each second."""

    kind = "rt-throttle"

    def lacking(self, params: Mapping[str, Any]) -> str | None:
        """Kernels without realtime scheduling have no such file; and a loop lets nothing else run."""
        if not self._tree.exists(_RT_RUNTIME):
            return f"this kernel has no /{_RT_RUNTIME}"
        if not set(self._tree.cpus(f"{_CPU}/online")) - set(params["cpus"]):
            return "no CPU is left that does not poll"
        return None

    def wanted(self, params: Mapping[str, Any]) -> Iterator[tuple[str, str]]:  # noqa: ARG002
        """-1: no limit."""
        yield _RT_RUNTIME, "-1"


def _before(path: str, now: str, held: Sequence[Facts]) -> Facts:
    """What is given back at last, and the generation of those who share it."""
    sharing = newest(held)
    for one in sharing.members:
        # One that was killed before it wrote has left the value that was there.
        if _same(path, now, one["set"]) or _same(path, now, one["before"]):
            return {"before": one["before"], "generation": sharing.number}
    return {"before": now, "generation": sharing.following}


def _same(path: str, one: str, other: str) -> bool:
    """Masks are written in as many words as the kernel has CPUs."""
    if path == _DEFAULT:
        return cpus_of_mask(one) == cpus_of_mask(other)
    return one.strip() == other.strip()
