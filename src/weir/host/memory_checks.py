# SPDX-License-Identifier: Apache-2.0
"""Findings about memory and time: pages, what moves them, and the clock that stamps packets."""

from __future__ import annotations

from collections.abc import Iterator

from weir.host.diagnosis import Finding
from weir.host.facts import Facts


def hugepages(facts: Facts) -> Iterator[Finding]:
    """Is there memory whose addresses are quickly translated?"""
    pools = facts.memory.pools
    if not pools:
        yield Finding(
            subject="hugepages", severity="warning", what="this kernel has none",
            cost="packet memory in 4 KiB pages: more misses of the TLB, at every packet",
            mend="a kernel with CONFIG_HUGETLBFS",
        )  # fmt: skip
        return
    reserved = [pool for pool in pools if pool.total]
    several = len({pool.node for pool in pools}) > 1
    if not reserved:
        yield Finding(
            subject="hugepages", severity="note", what="none is reserved",
            cost="deployments reserve their own; if memory is in pieces by then they get too few and say so",
            mend="weir tune LAB, or at boot: default_hugepagesz=2M hugepages=1024",
        )  # fmt: skip
        return
    listed = ", ".join(
        f"{pool.total} of {_size(pool.page_kb)}" + (f" on node {pool.node}" if several else "")
        + f" ({pool.free} free)"
        for pool in reserved
    )  # fmt: skip
    bare = {pool.node for pool in pools} - {pool.node for pool in reserved}
    if bare:
        yield Finding(
            subject="hugepages", severity="warning",
            what=f"{listed}; none on node {', '.join(map(str, sorted(bare)))}",
            cost="loops on that node have their packets on the other one",
            mend="weir tune LAB with `host: {numa: N}`, which reserves where the lab's cores are",
        )  # fmt: skip
    else:
        yield Finding(subject="hugepages", severity="ok", what=listed)


def _size(page_kb: int) -> str:
    return f"{page_kb >> 20} GiB" if page_kb >= 1 << 20 else f"{page_kb >> 10} MiB"


def merging(facts: Facts) -> Iterator[Finding]:
    """Does the kernel move or merge pages meanwhile?"""
    if facts.memory.ksm:
        yield Finding(
            subject="memory", severity="warning", what="pages with the same content are merged (KSM)",
            cost="a thread of the kernel reads all memory for it, and a merged page is copied when written",
            mend="echo 2 > /sys/kernel/mm/ksm/run",
        )  # fmt: skip
    if facts.memory.transparent == "always":
        yield Finding(
            subject="memory", severity="note", what="transparent hugepages for every program",
            cost="the kernel compacts memory for them, with locks that other programs wait for",
            mend="echo madvise > /sys/kernel/mm/transparent_hugepage/enabled",
        )  # fmt: skip


def clock(facts: Facts) -> Iterator[Finding]:
    """Is the time-stamp counter a clock?"""
    flags = set(facts.cpus.flags)
    lacking = [name for name in ("constant_tsc", "nonstop_tsc") if name not in flags]
    source = facts.software.clocksource
    if flags and lacking:
        yield Finding(
            subject="clock", severity="warning", what=f"the time-stamp counter lacks {', '.join(lacking)}",
            cost="latencies are stamped by it: its rate may follow the core's frequency or sleep",
            mend="another machine for latencies; rates stay true",
        )  # fmt: skip
    elif source is not None and source != "tsc":
        yield Finding(
            subject="clock", severity="warning", what=f"the kernel's clock is {source}, not tsc",
            cost="the kernel does not trust the time-stamp counter, or a virtual machine hides that it could",
            mend="`dmesg | grep -i tsc` says why; `tsc=reliable` at boot if you know better",
        )  # fmt: skip
    elif source is not None:
        yield Finding(subject="clock", severity="ok", what="time-stamp counter, constant and never stopped")
