# SPDX-License-Identifier: Apache-2.0
"""Made-up trials of a chain of two functions: the tester on core 0, f1 on core 1 and f2 on core 2."""

from __future__ import annotations

from typing import Any

from weir.base.node import Architecture, Node, NodeNf, Port
from weir.base.topology import Link, Topology, WireClass
from weir.explain import CaseExplanation, explain_case
from weir.results.explanation import LimitKind
from weir.results.result import (
    AreaLoad,
    Case,
    CoreLoad,
    Drop,
    Fingerprint,
    PathLoad,
    PollingLoad,
    Setup,
    StageLoad,
    Stall,
    StreamCount,
    Trial,
)

HZ = 1e9
DURATION_S = 1.0
OFFERED = 1_000_000
NODES = ("tester", "f1", "f2")


def topology(
    *, network: bool = False, wire: WireClass = "virtual", architecture: Architecture = "run-to-completion"
) -> Topology:
    """Wires between the nodes, or networks of a switch on core 3."""
    sides = [("tester", "left"), ("f1", "left"), ("f1", "right"), ("f2", "left"), ("f2", "right")]
    sides.append(("tester", "right"))
    ports = tuple(
        Port(
            name=f"{node}.{side}",
            node=node,
            side=side,  # type: ignore[arg-type]
            mac=f"02:57:00:00:00:{number:02x}",
            kind="memory",
            link=number // 2,
        )
        for number, (node, side) in enumerate(sides)
    )
    links = tuple(
        Link(
            index=index,
            name=f"net{index}" if network else f"wire{index}",
            network=network,
            left=ports[2 * index].name,
            right=ports[2 * index + 1].name,
        )
        for index in range(3)
    )
    chain = (NodeNf(nf="nat"), NodeNf(nf="acl"))
    nodes = tuple(
        Node(name=name, role="tester" if name == "tester" else "function", cores=(core,))
        if name == "tester"
        else Node(name=name, role="function", cores=(core,), chain=chain, architecture=architecture)
        for core, name in enumerate(NODES)
    )
    return Topology(
        lab="made",
        technology="ovs-dpdk" if network else "direct",
        chain="PVVP",
        nodes=nodes,
        ports=ports,
        links=links,
        switch_cores=(3,) if network else (),
        wire=wire,
    )


def area(
    name: str, busy: float, stages: dict[str, int] | None = None, *, core: int | None = None, **more: Any
) -> AreaLoad:
    """`busy` share of the second; `stages`: cycles of each, all packets together."""
    node = name.partition(".")[0]
    path = PathLoad(
        name="right",
        inputs=more.pop("inputs", [f"{node}.left"]),
        outputs=more.pop("outputs", [f"{node}.right"]),
        packets_in=more.pop("packets", OFFERED),
        packets_out=OFFERED,
        dropped=0,
        stages=[
            StageLoad(nf=nf, packets_in=OFFERED, cycles=cycles, dropped=0)
            for nf, cycles in (stages or {}).items()
        ],
    )
    tester = node in ("generator", "receiver")
    return AreaLoad(
        name=name,
        core=core if core is not None else 0 if tester else NODES.index(node),
        kind=node if tester else more.pop("kind", "chain"),
        busy_cycles=int(busy * HZ * DURATION_S),
        idle_cycles=int((1 - busy) * HZ * DURATION_S),
        paths=[] if tester else [path],
        **more,
    )


def pmd(busy: float, packets: int = 3 * OFFERED, upcalls: int = 0) -> AreaLoad:
    """The switch's polling thread on core 3, which meets each packet at three networks."""
    found = area("pmd.3", busy, core=3, kind="pmd", packets=packets, inputs=["switch:tester.left"])
    return found.model_copy(
        update={
            "polling": PollingLoad(polls=9, batches=packets // 32, upcalls=upcalls, upcalls_lost=0),
            "idle_cycles": int((1 - busy) * HZ),
        }
    )


def softirq(busy: float, stages: dict[str, int] | None = None, *, core: int = 1) -> AreaLoad:
    """The kernel's receive path."""
    return area(f"softirq.{core}", busy, stages, core=core, kind="softirq", inputs=[], outputs=[])


def core_load(core: int, **more: Any) -> CoreLoad:
    """All of its second accounted for."""
    fields: dict[str, Any] = dict.fromkeys(
        ("user_s", "system_s", "softirq_s", "irq_s", "steal_s", "idle_s", "frames", "dropped", "squeezed"), 0
    )
    return CoreLoad.model_validate(fields | {"core": core, "window_s": DURATION_S, "accounted": 1.0} | more)


def the_tester(busy: float = 0.3) -> list[AreaLoad]:
    """The generator and the receiver; half of `busy` each."""
    return [area("generator.left", busy / 2), area("receiver.right", busy / 2)]


def trial(areas: list[AreaLoad], drops: dict[tuple[str, str], int] | None = None, **more: Any) -> Trial:
    """A balanced trial of a second that lost what the drops say."""
    lost = sum((drops or {}).values())
    offered = more.pop("offered", OFFERED)
    fields: dict[str, Any] = {
        "purpose": "curve",
        "intended_load_pps": OFFERED,
        "intended_duration_s": DURATION_S,
        "duration_s": DURATION_S,
        "intended": OFFERED,
        "offered": offered,
        "delivered": offered - lost,
        "loss_ratio": lost / offered,
        "drops": [Drop(place=at, reason=why, packets=count) for (at, why), count in (drops or {}).items()],
        "valid": True,
        "areas": areas,
    }
    return Trial(**(fields | more))


def stall(core: int, host_s: float) -> Stall:
    """The host had the core once, for so long."""
    return Stall(
        core=core, count=1, total_us=host_s * 1e6, longest_us=host_s * 1e6, host_count=1, host_us=host_s * 1e6
    )


def stream(delivered: int) -> StreamCount:
    """One direction."""
    return StreamCount(
        stream=0,
        direction="left-to-right",
        intended=delivered,
        offered=delivered,
        delivered=delivered,
        duplicates=0,
        reordered=0,
    )


def machine(**more: Any) -> Fingerprint:
    """A clock of 1 GHz: a core has 1000 cycles for each of a million packets."""
    fields: dict[str, Any] = {
        "cpu": "Imaginary 1000",
        "cores": 4,
        "kernel": "6.1",
        "cmdline": "",
        "governor": "unknown",
        "smt": "notsupported",
        "isolated": "",
        "numa_nodes": 1,
        "hugepages_2m": 0,
        "memory": "hugepages",
        "hypervisor": "",
        "tsc_hz": int(HZ),
        "offloads": "",
        "versions": {},
    }
    return Fingerprint(**(fields | more))


def explained(
    *trials: Trial, built: Topology | None = None, frame_bytes: float = 64, **more: Any
) -> CaseExplanation:
    """The explanation of a case with these trials in its curve."""
    setup = Setup(technology="direct", chain="PVVP", datapath="none", topology=built or topology())
    case = Case.model_validate({"frame": "64", "mean_frame_bytes": frame_bytes, "curve": list(trials)} | more)
    return explain_case(setup, case, machine())


def verdict(found: CaseExplanation) -> tuple[LimitKind, str]:
    """Kind and name of what limits."""
    return found.limit.kind, found.limit.name
