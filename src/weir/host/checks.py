# SPDX-License-Identifier: Apache-2.0
"""All checks, in the order of the reference. To add one: a function from facts to findings, and its line."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from weir import __version__
from weir.host import device_checks, memory_checks, processor_checks
from weir.host.diagnosis import SEVERITIES, Diagnosis, Finding
from weir.host.facts import Facts

Check = Callable[[Facts], Iterator[Finding]]
CHECKS: tuple[Check, ...] = (
    processor_checks.cores,
    processor_checks.smt,
    processor_checks.numa,
    processor_checks.isolation,
    processor_checks.governor,
    processor_checks.idle,
    processor_checks.interrupts,
    processor_checks.realtime,
    memory_checks.hugepages,
    memory_checks.merging,
    memory_checks.clock,
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
