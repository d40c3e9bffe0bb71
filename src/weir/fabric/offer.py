# SPDX-License-Identifier: Apache-2.0
"""What this machine offers to whoever has labs measured on it."""

from __future__ import annotations

import os
import platform
from collections.abc import Collection
from contextlib import suppress

from weir.base.started import boot_id
from weir.fabric.check import check
from weir.fabric.fingerprint import weir_version
from weir.fabric.host.devices import memory
from weir.fabric.host.isolated import measuring_cpus
from weir.fabric.host.tree import Tree
from weir.results.host_offer import HostOffer
from weir.technology import TECHNOLOGIES

_PAGE_KB = 2048


def offer(beside: Collection[int] = ()) -> HostOffer:
    """As it is now; takes a second or so, and changes nothing. What needs root is refused to others.
    `beside`: CPUs of whoever has begun the measurement."""
    lacking = {name: check(name) for name in TECHNOLOGIES}
    cpus = measuring_cpus()
    return HostOffer(
        node=platform.node(),
        boot_id=boot_id(),
        architecture=platform.machine(),
        weir=weir_version(),
        cpus=cpus,
        cpus_shared=tuple(sorted({*cpus} & {*beside})),
        hugepages_2m_free=sum(pool.free for pool in memory(Tree()).pools if pool.page_kb == _PAGE_KB),
        technologies={
            name: None if one is None else f"{one.missing}; {one.fix}" for name, one in lacking.items()
        },
    )


def cpus_of_parent() -> set[int]:
    """Where the process that has started this one may run."""
    with suppress(OSError):  # it may have ended
        return os.sched_getaffinity(os.getppid())
    return set()


def cpus_beside(own: Collection[int]) -> list[int]:
    """CPUs of this machine for a measurement that whoever runs on `own` begins: the others, where `own` are
    only some of them, so that it is out of the way; else all."""
    every = set(own)
    with suppress(OSError):  # a container may hide the first process
        every |= os.sched_getaffinity(1)
    return sorted(every - set(own) or every)
