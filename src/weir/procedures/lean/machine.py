# SPDX-License-Identifier: Apache-2.0
"""What memory and other cores cost on this machine ([Lean], Tables III and VI), measured by weir-lean."""

from __future__ import annotations

from typing import Any

from weir import fabric
from weir.fabric import lean as process
from weir.fabric.built import built
from weir.procedures.lean.numbers import spread
from weir.results.lean import Latency, MachineResult

_L1_BYTES, _L2_BYTES, _L3_BYTES = 32 << 10, 512 << 10, 32 << 20  # where the kernel does not say
_MEMORY_MIN, _MEMORY_MAX = 64 << 20, 256 << 20


def sizes_bytes(caches: dict[str, int]) -> dict[str, int]:
    """Where loads wander to meet each level: half of a cache is sure to be in it, four times L3 is not."""
    l1, l2, l3 = (
        caches.get(name, usual) for name, usual in (("L1", _L1_BYTES), ("L2", _L2_BYTES), ("L3", _L3_BYTES))
    )
    return {
        "L1 cache": l1 // 2,
        "L2 cache": l2 // 2,
        "L3 cache": min(4 * l2, l3 // 2),
        "local memory": min(max(4 * l3, _MEMORY_MIN), _MEMORY_MAX),
    }


def measure_machine() -> MachineResult:
    """Takes some seconds. FabricError without weir-lean."""
    caches, cpus = process.caches_bytes(), process.separate_cpus()
    sizes = sizes_bytes(caches)
    lines = process.measure_machine(built("weir-lean"), list(sizes.values()), cpus)
    tsc_hz = lines[0]["tsc_hz"]
    by_size = {line["bytes"]: line for line in lines if "bytes" in line}
    latencies = [
        _latency(what, by_size[size]["cycles"], tsc_hz, size)
        for what, size in sizes.items()
        if size in by_size
    ]
    between = next((line for line in lines if "clean" in line), None)
    notes = []
    if between is None:
        notes.append("One core alone: nothing comes from another one.")
    else:
        latencies += [
            _latency("line of another core, clean", between["clean"], tsc_hz),
            _latency("line of another core, dirty", between["dirty"], tsc_hz),
            _latency("message to another core, one way", between["turn"], tsc_hz),
        ]
    huge = all(line["huge"] for line in by_size.values())
    if not huge:
        notes.append("No free hugepages: loads over much memory pay for address translation too.")
    return MachineResult(
        cpus=cpus,
        hugepages=huge,
        caches_bytes=caches,
        latencies=latencies,
        notes=notes,
        fingerprint=fabric.fingerprint(tsc_hz, "hugepages" if huge else "no-huge", {}),
    )


def _latency(what: str, cycles: list[Any], tsc_hz: int, size_bytes: int | None = None) -> Latency:
    found = spread([float(one) for one in cycles])
    return Latency(what=what, size_bytes=size_bytes, cycles=found, ns=found.median / tsc_hz * 1e9)
