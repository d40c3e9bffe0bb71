# SPDX-License-Identifier: Apache-2.0
"""Findings about cores (how many, whose, how fast, what interrupts them), memory, and the clock."""

from __future__ import annotations

from collections.abc import Iterator

from weir.base.cores import cpus_text, named_cpus
from weir.host.diagnosis import Finding
from weir.host.facts import DEEP_SLEEP_US, Facts

ROOMY_CPUS = 4  # from here on the default cores leave one to the system
_TUNE = "weir tune LAB"
_MORE_CPUS = "give it more CPUs: loops poll on all that there are, and something must run the system"


def cores(facts: Facts) -> Iterator[Finding]:
    """Enough of them, and all of their time?"""
    allowed, online = facts.usable_cpus(), facts.cpus.online
    quota = facts.cpus.quota
    if quota is not None and quota < len(allowed):
        yield Finding(
            subject="cores", severity="warning",
            what=f"a control group leaves Weir the time of {quota:g} of {len(allowed)} CPUs",
            cost="the kernel stops polling loops for most of each period: trials fail, and the host is said "
            "to have had the cores",
            mend="raise its limit (cpu.max, in v1 cpu.cfs_quota_us): a container without --cpus, a unit "
            "without CPUQuota=",
        )  # fmt: skip
    said = f"{len(allowed)} CPU{'s' if len(allowed) > 1 else ''} ({cpus_text(allowed)})"
    if len(allowed) < len(online):
        said += f" of {len(online)} for this process"
    if len(allowed) == 1:
        yield Finding(
            subject="cores", severity="warning", what=said,
            cost="tester, functions and switch share one loop; ovs-dpdk cannot run",
            mend="give it two CPUs or more; with four the system has one of its own",
        )  # fmt: skip
    elif len(allowed) < ROOMY_CPUS:
        yield Finding(
            subject="cores", severity="warning", what=f"{said}: every one polls",
            cost="the system's own work interrupts loops: loss, and latency peaks, that are not the switch's",
            mend=f"give it {ROOMY_CPUS} CPUs, so that the system has one of its own",
        )  # fmt: skip
    else:
        yield Finding(subject="cores", severity="ok", what=said)


def smt(facts: Facts) -> Iterator[Finding]:
    """Do two loops share one core?"""
    polling = set(facts.polling_cpus())
    shared = [group for group in facts.cpus.siblings if len(polling & set(group)) > 1]
    if not facts.cpus.siblings:
        yield Finding(subject="smt", severity="ok", what="one thread a core")
    elif shared:
        firsts = cpus_text(min(polling & set(group)) for group in shared)
        yield Finding(
            subject="smt", severity="warning",
            what=f"two threads a core, such as CPUs {cpus_text(shared[0], ' and ')}",
            cost="loops on both threads share one core's units and caches; each depends on the other's load",
            mend=f"one thread of each core in the lab's `cores` ({firsts}), or "
            "`echo off > /sys/devices/system/cpu/smt/control`",
        )  # fmt: skip
    else:
        yield Finding(subject="smt", severity="ok", what="on, but no core has two threads that may poll")


def numa(facts: Facts) -> Iterator[Finding]:
    """Is memory far away from some cores?"""
    nodes = [node for node in facts.cpus.nodes if node.cpus]
    if len(nodes) < 2:
        yield Finding(subject="numa", severity="ok", what="one node")
        return
    listed = "; ".join(f"node {node.number}: {named_cpus(node.cpus)}" for node in nodes)
    homes = ", ".join(f"{nic.name} is on {nic.node}" for nic in facts.devices.nics if nic.node is not None)
    yield Finding(
        subject="numa", severity="note", what=f"{len(nodes)} nodes. {listed}",
        cost="a core reads another node's packets over the link between the nodes",
        mend="one node for a lab: `host: {numa: N}`" + (f"; {homes}" if homes else ""),
    )  # fmt: skip
    if facts.memory.numa_balancing:
        yield Finding(
            subject="numa", severity="warning", what="NUMA balancing is on",
            cost="the kernel unmaps pages to see who uses them: page faults in the middle of loops",
            mend="sysctl kernel.numa_balancing=0",
        )  # fmt: skip


def isolation(facts: Facts) -> Iterator[Finding]:
    """Does the scheduler keep other work away?"""
    seen = facts.isolation
    for partition in seen.partitions:
        if "invalid" in partition.state:
            yield Finding(
                subject="isolation", severity="warning",
                what=f"cpuset partition {partition.path} ({named_cpus(partition.cpus)}) is "
                f"{partition.state}",
                cost="the kernel does not isolate its CPUs",
                mend="take the reason away, then write `isolated` to its cpuset.cpus.partition again",
            )  # fmt: skip
    alone = seen.alone()
    if alone:
        yield Finding(subject="isolation", severity="ok", what=f"{named_cpus(alone)} are isolated")
        ticking = alone - set(seen.nohz_full)
        if ticking:
            yield Finding(
                subject="isolation", severity="note",
                what=f"isolated {named_cpus(ticking)} have a timer tick",
                cost="the kernel interrupts a loop for each tick",
                mend=f"boot with nohz_full={cpus_text(alone)} rcu_nocbs={cpus_text(alone)}",
            )  # fmt: skip
        return
    if len(facts.cpus.allowed) < 2:
        return
    cost = "the scheduler runs other threads on polling cores, for milliseconds at a time"
    if _none_left(facts):
        yield Finding(
            subject="isolation", severity="warning", what="no CPU is isolated, and none could be",
            cost=cost, mend=_MORE_CPUS,
        )  # fmt: skip
        return
    boot = cpus_text(facts.polling_cpus())
    by_boot = f"boot with isolcpus=managed_irq,domain,{boot} nohz_full={boot} rcu_nocbs={boot}"
    yield Finding(
        subject="isolation", severity="warning", what="no CPU is isolated",
        cost=cost,
        mend=f"{_TUNE} (until reboot), or {by_boot}"
        if seen.cpuset_in_v2
        else f"{by_boot}; `weir tune` needs cgroup v2 with its cpuset controller, here is {_cgroups(facts)}",
    )  # fmt: skip


def _none_left(facts: Facts) -> bool:
    """Whether loops poll on every CPU that there is: the rest of the system has no other."""
    return set(facts.cpus.online) <= set(facts.polling_cpus())


def _cgroups(facts: Facts) -> str:
    names = {"both": "cpuset in v1", "v1": "v1 alone", "v2": "v2 without cpuset", "none": "none"}
    return names[facts.isolation.cgroup]


def governor(facts: Facts) -> Iterator[Finding]:
    """Do cores run at one known speed?"""
    governors = facts.power.governors
    slow = {name: cpus for name, cpus in governors.items() if name != "performance"}
    if not governors:
        whose = "the hypervisor's" if facts.cpus.hypervisor else "the firmware's"
        yield Finding(subject="governor", severity="ok", what=f"no frequency control here: it is {whose}")
    elif slow:
        listed = ", ".join(f"{name} on {named_cpus(cpus)}" for name, cpus in slow.items())
        yield Finding(
            subject="governor", severity="warning", what=f"{listed} ({facts.power.driver})",
            cost="cores speed up only after load has come, so short trials and low loads measure slow cores",
            mend=f"{_TUNE}, or `cpupower frequency-set -g performance`",
        )  # fmt: skip
    else:
        yield Finding(subject="governor", severity="ok", what="performance")
    if facts.power.turbo:
        yield Finding(
            subject="turbo", severity="note", what="cores may exceed their nominal frequency",
            cost="a core's speed depends on what the others do and on heat: results repeat less well",
            mend="to compare versions: `echo 1 > /sys/devices/system/cpu/intel_pstate/no_turbo`"
            if facts.power.pstate_status and "intel" in (facts.power.driver or "")
            else "to compare versions: `echo 0 > /sys/devices/system/cpu/cpufreq/boost`",
        )  # fmt: skip


def idle(facts: Facts) -> Iterator[Finding]:
    """Do cores sleep deeply?"""
    power = facts.power
    deep = [state for state in power.idle_states if state.latency_us >= DEEP_SLEEP_US and not state.disabled]
    if not power.idle_states:
        whose = "the hypervisor's" if facts.cpus.hypervisor else "the firmware's"
        yield Finding(subject="c-states", severity="ok", what=f"the kernel chooses none: sleep is {whose}")
    elif deep:
        worst = max(deep, key=lambda state: state.latency_us)
        yield Finding(
            subject="c-states", severity="warning",
            what=f"down to {worst.name}: {worst.latency_us} µs to wake, by {power.idle_driver}",
            cost="what waits (kernel paths, interrupts, guests) answers that much later; polling does not",
            mend=f"`cpupower idle-set -D {DEEP_SLEEP_US}`, or boot with "
            + ("intel_idle.max_cstate=1" if power.idle_driver == "intel_idle" else "processor.max_cstate=1"),
        )  # fmt: skip
    else:
        yield Finding(subject="c-states", severity="ok", what=f"none that takes {DEEP_SLEEP_US} µs to leave")


def interrupts(facts: Facts) -> Iterator[Finding]:
    """Are devices served where loops poll?"""
    seen, polling = facts.interrupts, set(facts.polling_cpus())
    on_them = [irq for irq in seen.irqs if irq.name and polling & set(irq.cpus)]
    if on_them and len(facts.usable_cpus()) > 1:
        names = ", ".join(dict.fromkeys(irq.name for irq in on_them[:3]))
        yield Finding(
            subject="interrupts", severity="warning",
            what=f"{len(on_them)} may be served on {named_cpus(polling)}: {names}"
            + (", …" if len(on_them) > 3 else ""),
            cost="each stops a loop for microseconds; a burst of them fills rings and loses packets",
            mend=_MORE_CPUS
            if _none_left(facts)
            else f"{_TUNE}, or write other CPUs to /proc/irq/N/smp_affinity_list",
        )  # fmt: skip
    elif seen.irqs:
        yield Finding(subject="interrupts", severity="ok", what=f"none on {named_cpus(polling)}")
    if seen.irqbalance:
        yield Finding(
            subject="interrupts", severity="warning", what="irqbalance is running",
            cost="it moves interrupts back to cores that they were taken from",
            mend=f"IRQBALANCE_BANNED_CPULIST={cpus_text(polling)} in its configuration, or stop it",
        )  # fmt: skip
    if seen.nmi_watchdog:
        yield Finding(
            subject="interrupts", severity="note", what="the NMI watchdog is on",
            cost="it interrupts every core and takes one of its hardware counters",
            mend="sysctl kernel.nmi_watchdog=0",
        )  # fmt: skip


def realtime(facts: Facts) -> Iterator[Finding]:
    """What would `host: {rt: true}` meet?"""
    runtime_us, period_us = facts.interrupts.rt_runtime_us, facts.interrupts.rt_period_us
    kernel = "a realtime kernel" if facts.interrupts.realtime_kernel else "not a realtime kernel"
    if runtime_us is None or period_us is None:
        return
    if 0 <= runtime_us < period_us:
        rest_ms = (period_us - runtime_us) / 1000
        yield Finding(
            subject="realtime", severity="note",
            what=f"{kernel}; its throttle is on: {rest_ms:g} ms of every {period_us / 1000:g} ms",
            cost="a realtime loop (`host: {rt: true}`) would stand still for that long",
            mend=f"nothing: {_TUNE} lifts it while a lab with rt needs that, and sets it back",
        )  # fmt: skip
    else:
        yield Finding(subject="realtime", severity="ok", what=f"{kernel}; realtime threads are not throttled")


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
