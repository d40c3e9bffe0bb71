# SPDX-License-Identifier: Apache-2.0
"""The machine that a result was measured on (design rule 6), from /proc and /sys."""

from __future__ import annotations

import platform

from weir.base.cores import cpus_text
from weir.fabric import probe
from weir.fabric.host import cpus as processors
from weir.fabric.host.devices import memory as pages
from weir.fabric.host.power import power
from weir.fabric.host.tree import Tree
from weir.fabric.revision import weir_version
from weir.results.result import Fingerprint

_UNKNOWN = "unknown"
_PAGE_KB = 2048


def fingerprint(tsc_hz: int, memory: str, versions: dict[str, str]) -> Fingerprint:
    """`memory`: hugepages or no-huge, as weir-dp says; `versions`: of DPDK, of switches."""
    tree = Tree()
    cpus, isolation = processors.cpus(tree), processors.isolation(tree)
    return Fingerprint(
        cpu=cpus.model,
        cores=len(cpus.allowed),
        kernel=platform.release(),
        cmdline=isolation.cmdline or _UNKNOWN,
        governor=", ".join(power(tree).governors) or _UNKNOWN,
        smt=cpus.smt_control or _UNKNOWN,
        isolated=cpus_text(isolation.alone()) or "none",
        numa_nodes=max(1, len(cpus.nodes)),
        hugepages_2m=sum(pool.total for pool in pages(tree).pools if pool.page_kb == _PAGE_KB),
        memory=memory,
        hypervisor=hypervisor(),
        tsc_hz=tsc_hz,
        offloads=probe.veth_offloads(),
        versions={"weir": weir_version(), "python": platform.python_version(), **versions},
    )


def hypervisor() -> str:
    """The vendor that a virtual machine shows; empty on bare metal."""
    return processors.hypervisor(Tree())
