# SPDX-License-Identifier: Apache-2.0
"""Which steps and settings of the host this machine can do, and which were done."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from weir.base.step import StepKind
from weir.base.topology import Topology
from weir.fabric.host.cpus import nodes
from weir.fabric.host.tree import Tree
from weir.fabric.step_handlers import lacking
from weir.lab.lab import Lab
from weir.plan import Step
from weir.plan.tuning import deployment_steps
from weir.results.result import HostSetting
from weir.technology import TECHNOLOGIES

_KEYS: dict[str, StepKind] = {
    "isolation": "isolation",
    "interrupts": "interrupts",
    "governor": "governor",
    "rt": "rt-throttle",
}


@dataclass(frozen=True)
class Skipped:
    """A step that is wished for and cannot be done here."""

    step: Step
    why: str


def possible(steps: Sequence[Step]) -> tuple[list[Step], list[Skipped]]:
    """Steps to do, and those left out. A required one stays: doing it says what to mend."""
    skipped = []
    for step in steps:
        why = None if step.params.get("required") is not False else lacking(step)
        if why is not None:
            skipped.append(Skipped(step, why))
    left_out = [one.step for one in skipped]
    ordinary = any(step.kind == "rt-throttle" for step in left_out)
    done = [_without_realtime(step) if ordinary else step for step in steps if step not in left_out]
    return done, skipped


def _without_realtime(step: Step) -> Step:
    """A loop under SCHED_FIFO needs what could not be done."""
    return step.model_copy(update={"params": {**step.params, "rt": False}}) if "rt" in step.params else step


def host_settings(
    lab: Lab, topology: Topology, *, memory: str, refused: Sequence[str]
) -> Iterator[HostSetting]:
    """Each key of `host`, and whether it holds for what was deployed. `memory`: as weir-dp says;
    `refused`: what the kernel kept as it was, a sentence for each step.
    """
    host = lab.host
    yield _setting("pinning", host.pinning, None if host.pinning else "")
    steps = {step.kind: step for step in deployment_steps(topology, lab)}
    why = {one.step.kind: one.why for one in possible(list(steps.values()))[1]}
    kept = {text.split(":")[0]: text for text in refused}
    for key, kind in _KEYS.items():
        step = steps.get(kind)
        partly = kept.get(step.text) if step is not None else None
        asked = getattr(host, key)
        yield _setting(key, asked, "" if step is None else why.get(kind), partly)
    huge = memory == "hugepages"
    yield _setting(
        "hugepages", host.hugepages, None if huge else "" if host.hugepages == "none" else "none free"
    )
    there = len([node for node in nodes(Tree()) if node.cpus])
    far = None if there > 1 else "one NUMA node: no memory is far away"
    yield _setting("numa", host.numa, "" if host.numa is None else far)
    options = lab.options(topology.technology)
    for number, key in enumerate(TECHNOLOGIES[topology.technology].cpu_options):
        chosen = topology.switch_cores if number == 0 else getattr(options, key)
        yield _setting(key, _listed(chosen), None if chosen else "")


def _setting(key: str, asked: object, why: str | None, partly: str | None = None) -> HostSetting:
    """`why` not: None where it was done, empty where nobody asked."""
    text = str(asked).lower() if isinstance(asked, bool) else None if asked is None else str(asked)
    return HostSetting(key=key, asked=text, applied=why is None, why=why or partly or None)


def _listed(cpus: Sequence[int] | None) -> str | None:
    return ",".join(map(str, cpus)) if cpus else None
