# SPDX-License-Identifier: Apache-2.0
"""Kernel stacks of all cores, sampled by perf's software clock, as cycles of the kernel's areas.

A sample stands for 1 / RATE_HZ seconds of its core. Hardware counters are not needed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Literal

OTHER = "other"

# A stack is read from its innermost function outwards; the first one that the table knows decides. So what
# allocates, copies and locks counts for whoever asked for it. A name that ends in "*" stands for all that
# begin so; the longest name that fits decides. What fits nowhere is OTHER, and is reported with its share.
AREAS: dict[str, tuple[str, ...]] = {
    "bridge": ("br_*", "fdb_*", "nbp_*"),
    "netfilter": (
        *("nf_*", "nft_*", "nfnl*", "br_nf_*", "ipt_*", "ip6t_*", "ebt_*", "xt_*", "__nf_*"),
        *("setup_pre_routing", "br_validate_ipv4", "br_validate_ipv6", "skb_ext_add", "__skb_ext_*"),
    ),
    "conntrack": ("nf_conntrack*", "__nf_conntrack*", "nf_ct_*", "nf_nat*", "ipv4_conntrack*"),
    "veth": ("veth_*",),
    "transmit": (
        *("__dev_queue_xmit", "dev_hard_start_xmit", "__dev_direct_xmit", "sch_direct_xmit", "__qdisc_run"),
        *("validate_xmit_*", "netdev_pick_tx", "netdev_core_pick_tx", "netif_skb_features", "pfifo_*"),
    ),
    "NAPI receive": (
        *("net_rx_action", "process_backlog", "__napi_poll", "napi_*", "__netif_receive_skb*"),
        *("netif_receive_skb*", "netif_rx*", "__netif_rx", "enqueue_to_backlog", "skb_defer_free_flush"),
        *("eth_type_trans", "dev_gro_receive", "__dev_forward_skb*", "virtnet_*", "do_xdp_generic"),
    ),
    "transmit completion": ("net_tx_action",),
    "IP": ("ip_rcv*", "ip_local_*", "ip_list_rcv*", "ipv6_rcv*", "ip6_*", "arp_rcv", "ip_forward*"),
    "AF_PACKET": ("packet_*", "__packet_*", "tpacket_*", "prb_*", "run_filter", "dev_queue_xmit_nit"),
    "AF_XDP": ("xsk_*", "__xsk_*", "xp_*", "xdp_*", "__xdp_*"),
    "Open vSwitch datapath": ("ovs_*", "do_execute_actions", "masked_flow_lookup", "flow_lookup*"),
    "vhost": ("vhost_*", "handle_tx*", "handle_rx*", "translate_desc", "vring_*"),
    "tap": ("tun_*", "tap_*"),
    "traffic control": ("tcf_*", "tc_run", "sch_handle_*", "u32_classify", "cls_*", "tbf_*", "htb_*"),
    "system calls": (
        *("entry_SYSCALL_64*", "do_syscall_64", "__x64_sys_*", "__x86_sys_*", "__sys_*", "___sys_*"),
        *("____sys_*", "copy_msghdr_*", "import_iovec", "__import_iovec", "sock_sendmsg*", "sock_recvmsg*"),
        *("sock_poll", "do_sys_poll", "__do_sys_*", "syscall_exit_*", "x64_sys_call", "el0_svc*"),
    ),
    "softirq entry": ("handle_softirqs", "__do_softirq", "do_softirq*", "__local_bh_*", "run_ksoftirqd"),
    "other softirqs": ("rcu_core*", "rcu_do_batch", "run_timer_*", "run_rebalance_*", "sched_balance_*"),
    "timer and interrupts": (
        *("asm_sysvec_*", "sysvec_*", "asm_common_interrupt", "common_interrupt", "hrtimer_interrupt"),
        *("tick_*", "update_process_times", "irqentry_*", "irq_exit*", "__irq_exit*", "asm_exc_*"),
    ),
    "scheduler": ("schedule", "__schedule", "schedule_*", "try_to_wake_up", "__cond_resched", "pick_next_*"),
}

SOFTIRQ = frozenset({"handle_softirqs", "__do_softirq"})
"""Whatever they call is the softirq's, in whose thread ever it runs. The first since Linux 6.10."""

_CLONE = re.compile(r"\.(isra|constprop|part|cold|llvm)\b.*")


def area_of(stack: Sequence[str]) -> str:
    """Of one stack of kernel functions, innermost first."""
    for symbol in stack:
        area = _known(_CLONE.sub("", symbol))
        if area is not None:
            return area
    return OTHER


@cache
def _known(symbol: str) -> str | None:
    fits = [
        (len(name), area)
        for area, names in AREAS.items()
        for name in names
        if symbol == name or (name.endswith("*") and symbol.startswith(name[:-1]))
    ]
    return max(fits)[1] if fits else None


RATE_HZ = 997
"""A prime: no clock of the machine beats with it."""

Context = Literal["softirq", "syscalls"]

_HEAD = re.compile(r"^(?P<name>\S.*?)\s+(?P<tid>-?\d+) +\[(?P<core>\d+)\]")
_FRAME = re.compile(r"^\s+(?P<address>[0-9a-f]+) (?P<symbol>.+)$")
_KERNEL = 1 << 63


@dataclass(frozen=True)
class Sample:
    """One stack. `kernel`: its kernel functions, innermost first."""

    tid: int
    core: int
    kernel: tuple[str, ...]


@dataclass
class Sampled:
    """Samples of one core by context and area."""

    samples: int = 0
    areas: dict[Context, Counter[str]] = field(
        default_factory=lambda: {"softirq": Counter(), "syscalls": Counter()}
    )


def parse(script: str) -> Iterator[Sample]:
    """The samples of `perf script -F comm,tid,cpu,ip,sym`."""
    head: re.Match[str] | None = None
    kernel: list[str] = []
    for line in [*script.splitlines(), ""]:
        frame = _FRAME.match(line)
        if frame is not None:
            if int(frame["address"], 16) >= _KERNEL:
                kernel.append(frame["symbol"].split("+0x")[0])
            continue
        found = _HEAD.match(line)
        if head is not None and (found is not None or not line.strip()):
            yield Sample(int(head["tid"]), int(head["core"]), tuple(kernel))
            head = None
        if found is not None:
            head, kernel = found, []


def sampled(script: str, ours: Collection[int]) -> dict[int, Sampled]:
    """By core. `ours`: the threads whose system calls count; softirqs count in whatever thread they ran."""
    cores: dict[int, Sampled] = {}
    for one in parse(script):
        core = cores.setdefault(one.core, Sampled())
        core.samples += 1
        inside = next((at for at, symbol in enumerate(one.kernel) if symbol in SOFTIRQ), None)
        if inside is not None:
            core.areas["softirq"][area_of(one.kernel[: inside + 1])] += 1
        elif one.kernel and one.tid in ours:
            core.areas["syscalls"][area_of(one.kernel)] += 1
    return cores
