# SPDX-License-Identifier: Apache-2.0
"""Clouds' records and rates, made up for the tests of their reports."""

from __future__ import annotations

from typing import Any

from weir.results.result import Case, Setup, Throughput
from weir.results.tenants import TcpShare, Tenants, TenantShare, TenantsPoint, TenantsTcp
from weir.results.trial import Drop

QVO = "compute1:qvo of {}.1"


def share(tenant: str, offered: float, delivered: float) -> TenantShare:
    """What one got; its repeats are 1 apart."""
    return TenantShare(
        tenant=tenant, offered_pps=offered, delivered_pps=delivered, delivered_min_pps=delivered - 1,
        delivered_max_pps=delivered + 1, loss_ratio=1 - delivered / offered, latency_p99_us=delivered / 10,
    )  # fmt: skip


def rate(rate_pps: float, **changes: Any) -> Throughput:
    """Of three repeats, 1 % apart."""
    fields: dict[str, Any] = {
        "goal": "PDR", "goal_loss_ratio": 0.005, "status": "found", "load_pps": rate_pps, "repeats": 3,
        "load_min_pps": rate_pps * 0.99, "load_max_pps": rate_pps * 1.01,
    }  # fmt: skip
    return Throughput(**(fields | changes))


def found(sending: int, rate_pps: float, **changes: Any) -> tuple[Setup, Case]:
    """So many of four that send: carried at one load, not at the next. `changes`: of the rate."""
    names = [f"t{number}" for number in range(1, sending + 1)]
    lost = [Drop(place=QVO.format(name), reason="socket_full", packets=600) for name in names]
    record = Tenants(
        tenants=names,
        standing=4,
        points=[
            TenantsPoint(load_pps=1000, trials=3, shares=[share(name, 1000, 1000) for name in names]),
            TenantsPoint(
                load_pps=10_000,
                trials=3,
                shares=[share(name, 10_000, 4000 + number) for number, name in enumerate(names)],
                drops=[*lost, Drop(place="t1.1:eth0", reason="interface_tx_dropped", packets=60)],
            ),
            TenantsPoint(load_pps=30_000, trials=0, why="The host took the cores."),
        ],
    )
    case = Case(
        frame="64",
        mean_frame_bytes=64,
        records={"tenants": record.model_dump(mode="json")},
        throughput=[rate(rate_pps, **changes)],
    )
    return Setup(technology="none", chain=f"{sending} of 4", datapath="Open vSwitch", cases=[case]), case


def mixed(sending: int, tcp_bps: float) -> Setup:
    """Plain beside two shaped ones, or alone; of theirs most is lost at the shaper that they share."""
    names = ["plain", "c-1", "c-2"][:sending]
    through = {name: [] if name == "plain" else ["shared.shaper"] for name in names}
    delivered = {"plain": 990.0, "c-1": 200.0, "c-2": 250.0}
    record = Tenants(
        tenants=names,
        standing=3,
        through=through,
        points=[
            TenantsPoint(
                load_pps=1000,
                trials=3,
                shares=[share(name, 1000, 1000 if sending == 1 else delivered[name]) for name in names],
                drops=[
                    Drop(place="shared.shaper:eth0", reason="queue_full", packets=1550),
                    Drop(place="c-1.1:eth0", reason="interface_tx_dropped", packets=300),
                ],
            )
        ],
    )
    over_tcp = TenantsTcp(
        tenants=names,
        standing=3,
        through=through,
        duration_s=5,
        connections=1,
        runs_bps=[[one * times for one in (tcp_bps, 2e6, 3e6)[:sending]] for times in (1, 0.5, 2)],
        shares=[
            TcpShare(
                tenant=name, repeats=3, goodput_bps=rate, goodput_min_bps=rate / 2, goodput_max_bps=rate * 2,
                retransmits=3,
            )
            for name, rate in zip(names, (tcp_bps, 2e6, 3e6), strict=False)
        ],
    )  # fmt: skip
    records: dict[str, Tenants | TenantsTcp] = {"tenants": record, "tenants_tcp": over_tcp}
    cases = [
        Case(frame=frame, mean_frame_bytes=64, records={name: one.model_dump(mode="json")})
        for frame, (name, one) in zip(("64", "tcp"), records.items(), strict=True)
    ]
    return Setup(technology="none", chain=f"{sending} of 3", datapath="Open vSwitch", cases=cases)


def chained(functions: int, rate_pps: float, **changes: Any) -> Setup:
    """Four tenants through so many functions that they share."""
    setup, case = found(4, rate_pps, **changes)
    record = Tenants.model_validate(case.records["tenants"])
    record.through = {name: ["shared.dpi", "shared.fw"][:functions] for name in record.tenants}
    case.records["tenants"] = record.model_dump(mode="json")
    setup.variant = f"{functions} functions"
    return setup
