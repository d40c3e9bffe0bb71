# SPDX-License-Identifier: Apache-2.0
"""TCP of so many tenants at once, after all that the tester sends: it stands still meanwhile, and
iperf3 has its core; or weir-dp routes, and iperf3 is on the cores of everything else."""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from itertools import product

from weir.base.error import FabricError
from weir.fabric.cloud.goodput import Goodput, goodput, lacking
from weir.lab.tenants_measure import FRAME_BYTES_MAX, TcpOptions
from weir.plan.cloud.routers import ROUTERS
from weir.procedures.tenants.standing_cloud import RunningCloud
from weir.results.case import TCP
from weir.results.result import Case
from weir.results.tenants import TCP_RECORD, TcpShare, TenantsTcp


def tcp_case(on: RunningCloud, wanted: TcpOptions, repeats: int, record: TenantsTcp) -> Case:
    """`record`: of who sends; it is filled here, where iperf3 does not start with the reason."""
    began = time.monotonic()
    tester = on.topology.tester
    assert tester is not None
    routes = ROUTERS[on.topology.router].in_data_plane is not None
    cores = tester.system_cores if routes else (tester.core,)
    record.why = lacking()
    if record.why is None:
        hosts = tester.senders[: len(record.tenants)]
        ways = list(product(record.tenants, record.directions))
        runs = []
        for _ in range(repeats):
            try:
                runs.append(
                    goodput(
                        on.deployment,
                        on.topology,
                        hosts,
                        directions=tester.directions,
                        cores=cores,
                        duration_s=wanted.duration_s,
                        streams=wanted.connections,
                    )
                )
            except FabricError as error:  # what was measured before is worth more than this
                record.why = str(error)
                runs.append([Goodput(tenant, why=record.why) for tenant, _ in ways])
        record.shares = [
            share(tenant, direction, [run[number] for run in runs])
            for number, (tenant, direction) in enumerate(ways)
        ]
        record.runs_bps = [[one.received_bps for one in run] for run in runs]
    return Case(
        frame=TCP,
        mean_frame_bytes=FRAME_BYTES_MAX,
        records={TCP_RECORD: record.model_dump(mode="json")},
        seconds=round(time.monotonic() - began, 3),
    )


def share(tenant: str, direction: str, runs: Sequence[Goodput]) -> TcpShare:
    """What all repeats say of one tenant in one direction."""
    known = [one for one in runs if one.received_bps is not None]
    rates = [one.received_bps for one in known if one.received_bps is not None]
    if not rates:
        why = next((one.why for one in runs if one.why), None)
        return TcpShare(tenant=tenant, direction=direction, repeats=0, why=why)
    return TcpShare(
        tenant=tenant,
        direction=direction,
        repeats=len(rates),
        goodput_bps=statistics.median(rates),
        goodput_min_bps=min(rates),
        goodput_max_bps=max(rates),
        retransmits=round(statistics.median(one.retransmits or 0 for one in known)),
    )
