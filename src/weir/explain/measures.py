# SPDX-License-Identifier: Apache-2.0
"""Measures against a limit, in the terms of [Lean], sections III.A to C.

Factors are those of its speed-up model, equation (3): f_t the total computational scale, f_a the part that is
not parallel, f_s the fixed overhead, f_i the overhead that each further core adds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from weir.base.node import Architecture
from weir.results.explanation import Factor, LimitKind

Effect = Literal[
    "part", "deciding stages", "ports", "second core", "half", "pollers", "netfilter", "tester", "none"
]
"""What goes away, for the gain: the limiting part; the stages that a fast path can follow; receiving and
sending; the best half, to a core of its own; half of the functions; half of the switch's thread; what stacks
show of netfilter; the tester's areas on that core."""


Where = Literal["anywhere", "several NUMA nodes", "flows can be offloaded"]
"""What the machine or the chain must be like."""


@dataclass(frozen=True)
class Measure:
    """One thing to do."""

    name: str
    against: frozenset[LimitKind]
    factor: Factor | None
    metric: str
    effect: Effect
    when_not: str
    of_clouds: bool = False
    """Whether it is for tenants' clouds, and for nothing else."""
    where: Where = "anywhere"
    architecture: Architecture | None = None
    """To which it would change functions: none may have it already."""


def _against(*kinds: LimitKind) -> frozenset[LimitKind]:
    return frozenset(kinds)


MEASURES = (
    Measure(
        "Follow flows in a fast path (fastpath: true)",  # III.B.3, consistent policy execution path
        _against("stage"),
        "f_t",
        "cycles of the stages a packet (weir lean), IPP",
        "deciding stages",
        "most flows are a few packets long, or a function on the path does not decide by flow",
    ),
    Measure(
        "A cheaper algorithm, or fewer rules, in the limiting function",  # III.C.1
        _against("stage"),
        "f_t",
        "CPP of that stage (weir lean --baseline)",
        "part",
        "its cycles are few beside those of the other parts",
    ),
    Measure(
        "One area a function, on one core more (architecture: pipeline)",  # IV.A
        _against("stage", "ports"),
        "f_a",
        "busy share of both cores; cycles of the queues between them",
        "second core",
        "functions are short: a hand-over between cores can cost more than it saves",
        architecture="pipeline",
    ),
    Measure(
        "Workers with private flow tables, on one core more (architecture: dispatch)",  # III.B.1
        _against("stage"),
        "f_a",
        "busy share of the workers, and how alike they are",
        "half",
        "one flow makes most of the load: all of it goes to one worker",
        architecture="dispatch",
    ),
    Measure(
        "State cores that decide, workers without state (architecture: separated)",  # III.B.2
        _against("stage"),
        "f_i",
        "busy share of state cores and rewrite workers",
        "none",
        "flows spread well: then dispatch does the same with fewer hand-overs",
        architecture="separated",
    ),
    Measure(
        "Less state in use: fewer flows, shorter timeouts, smaller tables",  # III.C.2
        _against("stage"),
        "f_a",
        "CPP against flows (weir model calibrate), eIPC",
        "none",
        "the state fits the caches already (weir lean --machine shows their sizes)",
    ),
    Measure(
        "Memory, cores and card on one NUMA node",  # III.A.2
        _against("stage", "ports", "queue"),
        "f_a",
        "CPP of all stages; weir doctor names what is far",
        "none",
        "the machine has one node",
        where="several NUMA nodes",
    ),
    Measure(
        "Ports that cost less: virtio-user or a virtual function, not a kernel interface",  # III.A.1
        _against("ports"),
        "f_s",
        "cycles of the area beside its stages",
        "ports",
        "the traffic must pass the kernel",
    ),
    Measure(
        "Elephants' packets forwarded below the function, by an eBPF program (offload: {kind: xdp})",
        _against("stage", "ports"),
        "f_t",
        "share offloaded, and cycles a packet of those that are not",
        "none",
        "flows are short; or the core that receives is full: it does the work instead",
        where="flows can be offloaded",
    ),
    Measure(
        "The tester on a core of its own (cores: tester)",
        _against("stage", "ports", "tester"),
        None,
        "busy share of the functions' core",
        "tester",
        "the tester has its own core already",
    ),
    Measure(
        "A lighter load to make: fewer streams, no timestamps beyond need; or a stronger tester",
        _against("tester"),
        None,
        "ceiling of the tester, in loopback",
        "none",
        "the rate that you need is below what was carried",
    ),
    Measure(
        "Longer rings and queues (queue_size)",
        _against("queue", "host-stall", "own-stall"),
        None,
        "packets lost at that queue; latency P99, which grows",
        "none",
        "latency matters more than loss: a longer queue only hides a core that is full",
    ),
    Measure(
        "Do the function's housekeeping in smaller steps",
        _against("own-stall"),
        "f_a",
        "long_polls of its area; latency P99.9",
        "none",
        "the gap is the host's: then it is named a host stall",
    ),
    Measure(
        "More polling threads of the switch, fewer or wider rules; hardware offload",  # III.A.1
        _against("switch"),
        "f_t",
        "packets lost on the way into the switch",
        "pollers",
        "the loss is at the ports of the functions: then they are too slow",
    ),
    Measure(
        "Bypass the switch with virtual functions (technology: sr-iov)",  # III.A.1
        _against("switch"),
        "f_t",
        "ratio to ovs-dpdk in the same lab",
        "part",
        "guests must migrate while they run, or the card has no virtual functions",
    ),
    Measure(
        "Ports past the kernel, to a switch that polls (technology: ovs-dpdk)",  # III.A.1
        _against("kernel"),
        "f_t",
        "ratio to linux-bridge in the same lab; no softirq in the ledger",
        "part",
        "the traffic must pass the kernel, or no core can be spared for polling",
    ),
    Measure(
        "Receive work on a core of its own (receive packet steering: rps_cpus)",
        _against("kernel"),
        "f_a",
        "frames by core (cores of the trial)",
        "second core",
        "all cores are full: it moves work, and adds a hand-over",
    ),
    Measure(
        "No netfilter in the bridge's way (netfilter: false, or net.bridge.bridge-nf-call-iptables=0)",
        _against("kernel"),
        "f_t",
        "share of netfilter in sampled stacks (measure: sample_stacks)",
        "netfilter",
        "rules on bridged packets are wanted",
    ),
    Measure(
        "A larger backlog and budget (net.core.netdev_max_backlog, netdev_budget)",
        _against("kernel"),
        None,
        "dropped and squeezed of the core",
        "none",
        "both are 0: the core is full, and a longer queue only hides it",
    ),
    Measure(
        "Isolated cores, interrupts elsewhere, realtime threads (weir tune)",  # III.A.3
        _against("host-stall", "oversubscription"),
        "f_s",
        "stalls of the trial; weir doctor",
        "none",
        "the host below is not yours: a guest cannot keep its hypervisor away",
    ),
    Measure(
        "No limit on Weir's CPU time (a container without --cpus, a unit without CPUQuota=)",
        _against("host-stall", "oversubscription"),
        "f_s",
        "time that a CPU quota had the core (explain's rows); weir doctor",
        "none",
        "no quota had the core: others did",
    ),
    Measure(
        "Fewer pollers than cores: one polling loop on each",
        _against("oversubscription"),
        "f_s",
        "share of the time that the core was taken away",
        "none",
        "other programs take the core: end those",
    ),
    Measure(
        "Look at the function's rules: what it drops is what they say",
        _against("decision"),
        None,
        "its drop reasons, and nf.report",
        "none",
        "the drops are wanted",
    ),
    Measure(
        "A faster link, or several; larger frames where the service allows",
        _against("link"),
        None,
        "L1 rate of one direction",
        "none",
        "a core becomes full before: see what is second",
    ),
    Measure(
        "More CPUs for switches and kernel (cores: {system: [1, 2, …]})",
        _against("kernel", "switch"),
        "f_a",
        "busy share of each of them; received against generated",
        "second core",
        "one switch, or the kernel's work for one interface, is what fills a core: each stays on one",
        of_clouds=True,
    ),
    Measure(
        "No filtering bridge at instances (cloud: {security: ovs-conntrack}, or none)",
        _against("kernel"),
        "f_t",
        "ratio to bridge-filter in the same lab (measure: {security: [bridge-filter, ovs-conntrack]})",
        "none",
        "the cloud under test has it",
        of_clouds=True,
    ),
)
