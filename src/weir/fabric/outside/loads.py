# SPDX-License-Identifier: Apache-2.0
"""Two looks, as areas and cores of the trial between them. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from weir.base.topology import Topology
from weir.fabric.outside.reading import MAIN, Polling, Reading, Thread
from weir.fabric.outside.stacks import RATE_HZ, Sampled
from weir.results.result import AreaLoad, CoreLoad, PathLoad, PollingLoad, StageLoad

THREAD_SHARE_MIN = 0.001
"""Threads that ran for less of the time are left out."""
_PMD_THREAD = "pmd-c"
_SWITCH = "ovs-vswitchd"


def core_loads(was: Reading, now: Reading, cores: frozenset[int]) -> list[CoreLoad]:
    """Of these cores; `accounted` is for whoever knows all areas."""
    return [
        CoreLoad(
            core=core,
            window_s=now.at_s - was.at_s,
            user_s=now.cpu[core].user_s - was.cpu[core].user_s,
            system_s=now.cpu[core].system_s - was.cpu[core].system_s,
            softirq_s=now.cpu[core].softirq_s - was.cpu[core].softirq_s,
            irq_s=now.cpu[core].irq_s - was.cpu[core].irq_s,
            steal_s=now.cpu[core].steal_s - was.cpu[core].steal_s,
            idle_s=now.cpu[core].idle_s - was.cpu[core].idle_s,
            frames=now.backlogs[core].processed - was.backlogs[core].processed,
            dropped=now.backlogs[core].dropped - was.backlogs[core].dropped,
            squeezed=now.backlogs[core].squeezed - was.backlogs[core].squeezed,
            accounted=0.0,
        )
        for core in sorted(
            cores & now.cpu.keys() & was.cpu.keys() & now.backlogs.keys() & was.backlogs.keys()
        )
    ]


def pmd_areas(was: Reading, now: Reading, topology: Topology, hz: float) -> Iterator[AreaLoad]:
    """One for each polling thread. One whose counters somebody cleared meanwhile is left out.

    It counts by the time-stamp counter, which goes on while somebody else has its core: that time is nobody's
    work, and is taken out.
    """
    waited_s = _waited_s(now)
    for core, polling in now.polling.items():
        before = was.polling.get(core)
        if core is MAIN or before is None or polling.busy_cycles < before.busy_cycles:
            continue
        busy, idle = polling.busy_cycles - before.busy_cycles, polling.idle_cycles - before.idle_cycles
        waited = (waited_s.get(core, 0.0) - _waited_s(was).get(core, 0.0)) * hz
        ran = max(0.0, 1 - waited / (busy + idle)) if busy + idle else 1.0
        yield AreaLoad(
            name=f"pmd.{core}",
            core=core,
            kind="pmd",
            busy_cycles=round(ran * busy),
            idle_cycles=round(ran * idle),
            paths=[_path(before, polling, polling.ports, topology)],
            polling=PollingLoad(
                polls=polling.polls - before.polls,
                batches=polling.batches - before.batches,
                upcalls=polling.upcalls - before.upcalls,
                upcalls_lost=polling.upcalls_lost - before.upcalls_lost,
                waited_cycles=round((1 - ran) * (busy + idle)),
            ),
        )


def _waited_s(reading: Reading) -> dict[int, float]:
    """Of polling threads, by core."""
    present = reading.threads.get(_SWITCH, [])
    return {thread.core: thread.waited_s for thread in present if thread.name.startswith(_PMD_THREAD)}


def thread_areas(was: Reading, now: Reading, topology: Topology, hz: float) -> Iterator[AreaLoad]:
    """Threads of switch and guests, those of one role on one core together.

    The main thread of Open vSwitch forwards, where no thread polls.
    """
    for process, role, core, cpu_s in spent_s(was, now):
        kind = "thread" if process == _SWITCH else "guest"
        area = thread_area(f"{process}.{role}", core, kind, cpu_s * hz)
        if (process, role) == (_SWITCH, MAIN_ROLE) and MAIN in was.polling and MAIN in now.polling:
            polled = {port for one in now.polling.values() for port in one.ports}
            ports = tuple(port.name for port in topology.ports if port.name not in polled)
            path = _path(was.polling[MAIN], now.polling[MAIN], ports, topology)
            area.paths = [path] if path.packets_in else []
        yield area


def spent_s(was: Reading, now: Reading) -> Iterator[tuple[str, str, int, float]]:
    """Process, role, core and CPU time of threads between two looks, those of one role on one core together,
    without those that poll. Those that hardly ran are left out."""
    least_s = THREAD_SHARE_MIN * (now.at_s - was.at_s)
    for process, present in now.threads.items():
        earlier = {thread.tid: thread.cpu_s for thread in was.threads.get(process, [])}
        spent: dict[tuple[str, int], float] = defaultdict(float)
        for thread in present:
            if not thread.name.startswith(_PMD_THREAD):
                spent[_role(thread, present), thread.core] += thread.cpu_s - earlier.get(thread.tid, 0.0)
        for (role, core), cpu_s in spent.items():
            if cpu_s >= least_s:
                yield process, role, core, cpu_s


def thread_area(name: str, core: int, kind: str, cycles: float) -> AreaLoad:
    """Of a thread's time, without what it forwards."""
    return AreaLoad(name=name, core=core, kind=kind, busy_cycles=round(cycles), idle_cycles=0)


MAIN_ROLE = "main"


def _role(thread: Thread, present: Sequence[Thread]) -> str:
    return MAIN_ROLE if thread.tid == min(one.tid for one in present) else thread.role


def _path(was: Polling, now: Polling, ports: tuple[str, ...], topology: Topology) -> PathLoad:
    """What comes in at a port leaves by the other one of its network."""
    ours = [port for port in ports if any(port == one.name for one in topology.ports)]
    sent = now.sent - was.sent
    packets = now.packets - was.packets
    return PathLoad(
        name="switch",
        inputs=[f"switch:{port}" for port in ours],
        outputs=[f"switch:{_opposite(port, topology)}" for port in ours],
        packets_in=packets,
        packets_out=sent if now.sent else packets,
        dropped=0,
    )


def _opposite(name: str, topology: Topology) -> str:
    link = topology.links[topology.port(name).link]
    return link.right if name == link.left else link.left


def softirq_areas(
    cores: list[CoreLoad], hz: float, stacks: Mapping[int, Sampled] | None
) -> Iterator[AreaLoad]:
    """The kernel's receive path on each core that received; by stacks, where they were sampled."""
    for core in cores:
        inside = stacks.get(core.core) if stacks is not None else None
        ran = sum(inside.areas["softirq"].values()) / RATE_HZ if inside is not None else core.softirq_s
        if not core.frames or not ran:
            continue
        stages = _stages(inside, "softirq", core.frames, hz) if inside is not None else []
        yield _kernel_area("softirq", core, ran * hz, stages)


def syscall_areas(cores: list[CoreLoad], hz: float, stacks: Mapping[int, Sampled]) -> Iterator[AreaLoad]:
    """The rest of the kernel's work for the chain's threads. Only by stacks: no counter tells it."""
    for core in cores:
        inside = stacks.get(core.core)
        ran = sum(inside.areas["syscalls"].values()) / RATE_HZ if inside is not None else 0.0
        if inside is not None and ran:
            yield _kernel_area("syscalls", core, ran * hz, _stages(inside, "syscalls", core.frames, hz))


def _kernel_area(kind: str, core: CoreLoad, cycles: float, stages: list[StageLoad]) -> AreaLoad:
    softirq = kind == "softirq"
    path = PathLoad(
        name="kernel",
        inputs=[],
        outputs=[],
        packets_in=core.frames,
        packets_out=core.frames,
        dropped=core.dropped if softirq else 0,
        stages=stages,
    )
    return AreaLoad(
        name=f"{kind}.{core.core}",
        core=core.core,
        kind=kind,
        busy_cycles=round(cycles),
        idle_cycles=0,
        paths=[path],
    )


def _stages(inside: Sampled, context: str, frames: int, hz: float) -> list[StageLoad]:
    counted = inside.areas["softirq" if context == "softirq" else "syscalls"]
    return [
        StageLoad(nf=area, packets_in=frames, cycles=round(count / RATE_HZ * hz), dropped=0)
        for area, count in counted.most_common()
    ]
