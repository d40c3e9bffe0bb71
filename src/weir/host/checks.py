# SPDX-License-Identifier: Apache-2.0
"""All checks, in the order of the reference. To add one: a function from facts to findings, and its line.

`shortfalls` says what of a tuned host a machine cannot show, whatever a lab asks for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from weir import __version__
from weir.host import core_checks, device_checks
from weir.host.core_checks import DEEP_SLEEP_US
from weir.host.diagnosis import SEVERITIES, Diagnosis, Finding
from weir.host.facts import Facts

Check = Callable[[Facts], Iterator[Finding]]
CHECKS: tuple[Check, ...] = (
    core_checks.cores,
    core_checks.smt,
    core_checks.numa,
    core_checks.isolation,
    core_checks.governor,
    core_checks.idle,
    core_checks.interrupts,
    core_checks.realtime,
    core_checks.hugepages,
    core_checks.merging,
    core_checks.clock,
    device_checks.virtual,
    device_checks.kvm,
    device_checks.counters,
    device_checks.iommu,
    device_checks.sriov,
    device_checks.offloads,
    device_checks.timestamps,
    device_checks.kernel,
    device_checks.mitigations,
    device_checks.programs,
)


def diagnose(facts: Facts, seconds: float) -> Diagnosis:
    """All findings about a machine. `seconds`: how long it took to read the facts."""
    found = [finding for check in CHECKS for finding in check(facts)]
    found.sort(key=lambda finding: SEVERITIES.index(finding.severity))
    return Diagnosis(weir=__version__, seconds=round(seconds, 2), findings=tuple(found), facts=facts)


def shortfalls(facts: Facts) -> dict[str, str]:
    """Subject and what is: one for each thing that a study of tuned hosts changes, and these facts lack."""
    whose = "the hypervisor's" if facts.cpus.hypervisor else "the firmware's"
    deep = any(state.latency_us >= DEEP_SLEEP_US for state in facts.power.idle_states)
    several = len([node for node in facts.cpus.nodes if node.cpus]) > 1
    said = {
        "isolation": "no CPU is isolated at boot (isolcpus, nohz_full): ticks and kernel threads stay",
        "governor": f"no frequency control: it is {whose}",
        "c-states": f"no deep sleep to switch off: what there is, is {whose}",
        "realtime": "not a realtime kernel",
        "numa": "one NUMA node: no memory is far away",
        "virtual": "a virtual machine: its hypervisor takes CPUs away from every variant alike",
    }
    there = {
        "isolation": bool(facts.isolation.isolated),
        "governor": bool(facts.power.governors),
        "c-states": deep,
        "realtime": facts.interrupts.realtime_kernel,
        "numa": several,
        "virtual": not facts.cpus.hypervisor,
    }
    return {subject: what for subject, what in said.items() if not there[subject]}
