# SPDX-License-Identifier: Apache-2.0
"""Frequencies, C states and interrupts (Documentation/admin-guide/pm, core-api/irq)."""

from __future__ import annotations

import re

from weir.fabric.host.tree import Tree
from weir.host.facts import IdleState, Interrupts, Irq, Power

_CPU = "sys/devices/system/cpu"


def power(tree: Tree) -> Power:
    """Frequencies and sleep."""
    governors: dict[str, tuple[int, ...]] = {}
    for path in tree.glob(f"{_CPU}/cpu[0-9]*/cpufreq/scaling_governor"):
        cpu = int(path.parts[-3].removeprefix("cpu"))
        name = tree.text(str(path)) or "unknown"
        governors[name] = (*governors.get(name, ()), cpu)
    return Power(
        governors=governors,
        driver=tree.text(f"{_CPU}/cpu0/cpufreq/scaling_driver"),
        pstate_status=tree.text(f"{_CPU}/intel_pstate/status") or tree.text(f"{_CPU}/amd_pstate/status"),
        turbo=_turbo(tree),
        idle_driver=tree.text(f"{_CPU}/cpuidle/current_driver"),
        idle_governor=tree.text(f"{_CPU}/cpuidle/current_governor"),
        idle_states=tuple(
            IdleState(
                name=tree.text(f"{path}/name") or path.name,
                latency_us=tree.number(f"{path}/latency") or 0,
                disabled=bool(tree.number(f"{path}/disable")),
            )
            for path in tree.glob(f"{_CPU}/cpu0/cpuidle/state[0-9]*")
        ),
    )


def _turbo(tree: Tree) -> bool | None:
    off = tree.flag(f"{_CPU}/intel_pstate/no_turbo")
    return tree.flag(f"{_CPU}/cpufreq/boost") if off is None else not off


def interrupts(tree: Tree) -> Interrupts:
    """Interrupts, the programs that move them, and the kernel's own interruptions."""
    names = _names(tree)
    irqs = [
        Irq(number=int(path.name), name=names.get(path.name, ""), cpus=tree.cpus(f"{path}/smp_affinity_list"))
        for path in tree.glob("proc/irq/[0-9]*")
    ]
    return Interrupts(
        irqs=tuple(irqs),
        default_cpus=cpus_of_mask(tree.text("proc/irq/default_smp_affinity") or ""),
        irqbalance=_running(tree, "irqbalance"),
        nmi_watchdog=tree.flag("proc/sys/kernel/nmi_watchdog"),
        rt_runtime_us=tree.number("proc/sys/kernel/sched_rt_runtime_us"),
        rt_period_us=tree.number("proc/sys/kernel/sched_rt_period_us"),
        realtime_kernel=tree.flag("sys/kernel/realtime") is True,
    )


def _names(tree: Tree) -> dict[str, str]:
    """Name by number of the interrupts that somebody has asked for."""
    lines = re.findall(r"^ *(\d+):(.*)$", tree.text("proc/interrupts") or "", re.MULTILINE)
    return {number: rest.split()[-1] for number, rest in lines if rest.split()}


def _running(tree: Tree, name: str) -> bool:
    return any(tree.text(str(path)) == name for path in tree.glob("proc/[0-9]*/comm"))


def cpus_of_mask(text: str) -> tuple[int, ...]:
    """(0, 32) from "00000001,00000001": the highest 32 CPUs first. Empty if it is not a mask."""
    try:
        mask = int(text.replace(",", ""), 16)
    except ValueError:
        return ()
    return tuple(cpu for cpu in range(mask.bit_length()) if mask >> cpu & 1)


def mask_of_cpus(cpus: tuple[int, ...]) -> str:
    """The reverse, in words of 32 bits as the kernel writes them."""
    digits = f"{sum(1 << cpu for cpu in set(cpus)):x}"
    digits = digits.rjust(-(-len(digits) // 8) * 8, "0")
    return ",".join(digits[at : at + 8] for at in range(0, len(digits), 8))
