# SPDX-License-Identifier: Apache-2.0
"""The machine that a result was measured on (design rule 6), from /proc and /sys."""

from __future__ import annotations

import os
import platform
from pathlib import Path

from weir import __version__
from weir.fabric import probe
from weir.store.result import Fingerprint

_UNKNOWN = "unknown"


def fingerprint(tsc_hz: int, memory: str, versions: dict[str, str]) -> Fingerprint:
    """`memory`: hugepages or no-huge, as weir-dp says; `versions`: of DPDK, of switches."""
    return Fingerprint(
        cpu=_cpuinfo("model name"),
        cores=len(os.sched_getaffinity(0)),
        kernel=platform.release(),
        cmdline=_text("/proc/cmdline"),
        governor=_text("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        smt=_text("/sys/devices/system/cpu/smt/control"),
        isolated=_text("/sys/devices/system/cpu/isolated") or "none",
        numa_nodes=max(1, len(list(Path("/sys/devices/system/node").glob("node[0-9]*")))),
        hugepages_2m=int(_text("/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages") or 0)
        if Path("/sys/kernel/mm/hugepages/hugepages-2048kB").exists()
        else 0,
        memory=memory,
        hypervisor=hypervisor(),
        tsc_hz=tsc_hz,
        offloads=probe.veth_offloads(),
        versions={"weir": __version__, "python": platform.python_version(), **versions},
    )


def hypervisor() -> str:
    """The vendor that a virtual machine shows; empty on bare metal."""
    if "hypervisor" not in _cpuinfo("flags").split():
        return ""
    return _text("/sys/class/dmi/id/sys_vendor")


def _text(path: str) -> str:
    try:
        return Path(path).read_text().strip()
    except OSError:
        return _UNKNOWN


def _cpuinfo(key: str) -> str:
    for line in _text("/proc/cpuinfo").splitlines():
        name, _, value = line.partition(":")
        if name.strip() == key:
            return value.strip()
    return _UNKNOWN
