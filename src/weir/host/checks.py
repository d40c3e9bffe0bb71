# SPDX-License-Identifier: Apache-2.0
"""All checks, in the order of the reference. To add one: a function from facts to findings, and its line."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from weir import __version__
from weir.host import core_checks, device_checks, use_checks
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
    use_checks.deployments,
    use_checks.guests_left,
    use_checks.folders_left,
    use_checks.takers,
)


def diagnose(facts: Facts, seconds: float) -> Diagnosis:
    """All findings about a machine. `seconds`: how long it took to read the facts."""
    found = [finding for check in CHECKS for finding in check(facts)]
    found.sort(key=lambda finding: SEVERITIES.index(finding.severity))
    return Diagnosis(weir=__version__, seconds=round(seconds, 2), findings=tuple(found), facts=facts)
