# SPDX-License-Identifier: Apache-2.0
"""Whether two results were measured in the same place and with the same things (design rule 6)."""

from __future__ import annotations

from weir.results.result import Fingerprint

# Fields whose name says too little for a sentence.
NAMES = {
    "cmdline": "kernel command line",
    "cores": "number of cores",
    "cpu": "CPU",
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
        if field == "versions":
            found += _versions(a, b)
        else:
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
