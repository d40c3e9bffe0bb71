# SPDX-License-Identifier: Apache-2.0
"""The facts about a machine that `weir doctor` judges. None, or nothing, where they could not be seen."""

from __future__ import annotations

from typing import Literal

from weir.base.record import FixedRecord

DEEP_SLEEP_US = 10
"""A core that sleeps so deep that waking takes this long makes packets late."""
OWN_PARTITIONS = "weir-"  # what the cgroups of Weir's own partitions begin with


class Node(FixedRecord):
    """One NUMA node."""

    number: int
    cpus: tuple[int, ...]
    memory_mb: int | None = None


class Cpus(FixedRecord):
    """Processors, and who may run on them."""

    model: str = "unknown"
    flags: tuple[str, ...] = ()
    """Of those flags in /proc/cpuinfo that checks ask for."""
    online: tuple[int, ...] = ()
    allowed: tuple[int, ...] = ()
    """CPUs that this process may use."""
    quota: float | None = None
    """Of how many CPUs' time control groups leave this process; None: no limit."""
    siblings: tuple[tuple[int, ...], ...] = ()
    """Threads of each core that has more than one online."""
    smt_control: str | None = None
    """on, off, forceoff, notsupported, notimplemented."""
    packages: int = 1
    nodes: tuple[Node, ...] = ()
    hypervisor: str = ""
    """Vendor that a virtual machine shows, or `unknown`; empty on bare metal."""


class Partition(FixedRecord):
    """A cpuset partition of cgroup v2."""

    path: str
    cpus: tuple[int, ...]
    state: str
    """As cpuset.cpus.partition says: `isolated`, `root`, `isolated invalid (…)`."""


class Isolation(FixedRecord):
    """CPUs that the scheduler leaves alone."""

    cmdline: str | None = None
    isolated: tuple[int, ...] = ()
    """By isolcpus or a partition, as the kernel lists them."""
    nohz_full: tuple[int, ...] = ()
    rcu_nocbs: tuple[int, ...] = ()
    cgroup: Literal["v2", "v1", "both", "none"] = "none"
    cpuset_in_v2: bool = False
    """The root of cgroup v2 has the cpuset controller."""
    partitions: tuple[Partition, ...] = ()

    def alone(self) -> set[int]:
        """CPUs that are isolated, by boot parameters or by a partition that is valid."""
        valid = (one.cpus for one in self.partitions if one.state == "isolated")
        return {*self.isolated, *(cpu for cpus in valid for cpu in cpus)}


class IdleState(FixedRecord):
    """One C state."""

    name: str
    latency_us: int
    """To leave it, as the kernel believes."""
    disabled: bool


class Power(FixedRecord):
    """Frequencies and sleep."""

    governors: dict[str, tuple[int, ...]] = {}
    """CPUs by frequency governor."""
    driver: str | None = None
    """Of cpufreq."""
    pstate_status: str | None = None
    """Of intel_pstate or amd_pstate: active, passive, guided, off."""
    turbo: bool | None = None
    idle_driver: str | None = None
    idle_governor: str | None = None
    idle_states: tuple[IdleState, ...] = ()
    """Of the first CPU."""


class Irq(FixedRecord):
    """One interrupt line."""

    number: int
    name: str
    cpus: tuple[int, ...]
    """Where it may be served."""


class Interrupts(FixedRecord):
    """What takes a CPU from whoever runs there."""

    irqs: tuple[Irq, ...] = ()
    default_cpus: tuple[int, ...] = ()
    """Where new interrupts go."""
    irqbalance: bool | None = None
    nmi_watchdog: bool | None = None
    rt_runtime_us: int | None = None
    """Of rt_period_us; -1: realtime threads are not throttled."""
    rt_period_us: int | None = None
    realtime_kernel: bool = False


class HugepagePool(FixedRecord):
    """Hugepages of one size on one NUMA node (-1: of the whole machine, where the kernel names no nodes)."""

    node: int
    page_kb: int
    total: int
    free: int


class Memory(FixedRecord):
    """Pages."""

    pools: tuple[HugepagePool, ...] = ()
    transparent: str | None = None
    """always, madvise or never."""
    numa_balancing: bool | None = None
    ksm: bool | None = None


class Nic(FixedRecord):
    """A network interface with a device behind it."""

    name: str
    driver: str
    node: int | None
    """NUMA node; None where there is only one."""
    up: bool
    speed_mbps: int | None = None
    vfs_offered: int | None = None
    """Virtual functions that the card can have; None: no SR-IOV."""
    vfs_made: int = 0
    offloads: tuple[str, ...] | None = None
    """Kinds that are on; None: not seen."""
    rx_stamps: Literal["all", "some", "none"] | None = None
    """Which received packets the card can stamp by its own clock: all, those of PTP, none; None: not seen."""


class Devices(FixedRecord):
    """Network cards, and what hands them to a program."""

    nics: tuple[Nic, ...] = ()
    iommu_groups: int = 0
    vfio_loaded: bool = False


KvmState = Literal["absent", "forbidden", "refuses", "hangs", "software", "works"]


class Probes(FixedRecord):
    """What was found out by trying it. None: not tried."""

    kvm: KvmState | None = None
    """software: a guest runs, but this CPU shows no virtualisation, so stock guests may not boot."""
    cycle_counter: bool | None = None
    """Whether the kernel counts cycles in hardware for this process."""
    namespaces: bool | None = None
    packet_sockets: bool | None = None
    links: dict[str, bool] = {}
    """By kind of interface: whether the kernel makes it."""
    ovs_datapath: bool | None = None


class Software(FixedRecord):
    """Versions, and settings of the kernel."""

    kernel: str = "unknown"
    clocksource: str | None = None
    mitigations: dict[str, str] = {}
    """By flaw, those that cost something: what the kernel does about it."""
    versions: dict[str, str] = {}
    """By program; empty where it is not installed."""


class Unseen(FixedRecord):
    """Something that this process was not allowed to look at."""

    what: str
    why: str


class Standing(FixedRecord):
    """A deployment of Weir's, or what is left of one."""

    id: str
    state: Literal["kept", "in use", "abandoned", "unreadable"]


class Taker(FixedRecord):
    """A program that had a CPU while the doctor looked."""

    name: str
    pid: int
    cpu: int
    """Where it was last."""
    share: float
    """Of one CPU's time, all of its threads."""
    own: bool = False
    """Of a deployment of Weir's: it has its cores to itself."""


class Facts(FixedRecord):
    """All of it."""

    cpus: Cpus = Cpus()
    isolation: Isolation = Isolation()
    power: Power = Power()
    interrupts: Interrupts = Interrupts()
    memory: Memory = Memory()
    devices: Devices = Devices()
    probes: Probes = Probes()
    software: Software = Software()
    deployments: tuple[Standing, ...] | None = None
    """None: not looked at."""
    guests_left: tuple[str, ...] | None = None
    """Directories on disk of guests whose deployment is gone; None: not looked at."""
    folders_left: tuple[str, ...] = ()
    """Of killed runs of `weir verify`, perhaps with a key in them."""
    takers: tuple[Taker, ...] | None = None
    """Those that had most first; None: not looked at."""
    unseen: tuple[Unseen, ...] = ()

    def usable_cpus(self) -> tuple[int, ...]:
        """CPUs that this process may use, and those that `weir tune` keeps for Weir."""
        kept = (one.cpus for one in self.isolation.partitions if one.path.startswith(OWN_PARTITIONS))
        return tuple(sorted({*self.cpus.allowed, *(cpu for cpus in kept for cpu in cpus)}))

    def polling_cpus(self) -> tuple[int, ...]:
        """Where Weir would poll: on isolated CPUs if there are any, else on all usable but the first; it
        is spared where two others are left."""
        usable = self.usable_cpus()
        return tuple(sorted(self.isolation.alone())) or (usable[1:] if len(usable) > 2 else usable)


def shortfalls(facts: Facts) -> dict[str, str]:
    """What of a tuned host a machine cannot show, whatever a lab asks for: subject and what is, one for each
    thing that a study of tuned hosts changes, and these facts lack."""
    whose = "the hypervisor's" if facts.cpus.hypervisor else "the firmware's"
    deep = any(state.latency_us >= DEEP_SLEEP_US for state in facts.power.idle_states)
    several = len([node for node in facts.cpus.nodes if node.cpus]) > 1
    said = {
        "isolation": "no CPU is isolated at boot (isolcpus, nohz_full): ticks and kernel threads stay",
        "governor": f"no frequency control: it is {whose}",
        "c-states": f"no deep sleep to switch off: what there is, is {whose}",
        "realtime": "not a realtime kernel",
        "numa": "one NUMA node: no memory is far away",
        "virtual": "a virtual machine: its hypervisor takes CPUs away from every variant alike",
    }
    there = {
        "isolation": bool(facts.isolation.isolated),
        "governor": bool(facts.power.governors),
        "c-states": deep,
        "realtime": facts.interrupts.realtime_kernel,
        "numa": several,
        "virtual": not facts.cpus.hypervisor,
    }
    return {subject: what for subject, what in said.items() if not there[subject]}
