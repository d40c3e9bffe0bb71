# SPDX-License-Identifier: Apache-2.0
"""What of a tuned host a machine cannot show, whatever a lab asks for."""

from __future__ import annotations

from weir.host.facts import DEEP_SLEEP_US, Facts


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
