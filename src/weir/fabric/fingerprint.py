# SPDX-License-Identifier: Apache-2.0
"""Which Weir and which machine a result was measured with (docs/design/method.md, Comparing two results)."""

from __future__ import annotations

import functools
import os
import platform
import subprocess
from pathlib import Path

from weir import __version__
from weir.base import SOURCE_TREE
from weir.base.cores import cpus_text
from weir.fabric import probe
from weir.fabric.host import cpus as processors
from weir.fabric.host.devices import memory as pages
from weir.fabric.host.power import power
from weir.fabric.host.quota import quota_cpus
from weir.fabric.host.tree import Tree
from weir.results.result import Fingerprint

_PATIENCE_S = 10


@functools.cache
def weir_version(root: Path | None = SOURCE_TREE) -> str:
    """ "0.1.0+g1a2b3c4d5e6f", with ".dirty" if something that git knows was changed since; "0.1.0" where git
    or its history is missing, or Weir was installed."""
    if root is None or not (root / ".git").exists():
        return __version__
    try:
        done = subprocess.run(
            ["git", "-C", str(root), "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"],
            capture_output=True,
            text=True,
            check=False,
            timeout=_PATIENCE_S,
            env={**os.environ, "GIT_OPTIONAL_LOCKS": "0"},
        )
    except (OSError, subprocess.TimeoutExpired):
        return __version__
    if done.returncode != 0:
        return __version__
    return f"{__version__}+g{done.stdout.strip().replace('-', '.')}"


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
        host=platform.node(),
        cpu_quota=quota_cpus(tree),
    )


def hypervisor() -> str:
    """The vendor that a virtual machine shows; empty on bare metal."""
    return processors.hypervisor(Tree())
