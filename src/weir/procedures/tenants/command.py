# SPDX-License-Identifier: Apache-2.0
"""What `weir run` does with a lab of tenants."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from weir.cli.cloud import measured, require_no_chain, said
from weir.cli.exits import INTERRUPTED, failed
from weir.cli.labfile import own_cpus
from weir.cli.stored import check_reports, write_reports
from weir.procedures.tenants.clouds import called

if TYPE_CHECKING:
    from weir.base.cloud import CloudTopology
    from weir.lab.tenants import TenantsFile
    from weir.results.result import Result


def run_tenants(
    lab_path: Path,
    chosen: Mapping[str, object],
    *,
    quick: bool,
    dry_run: bool,
    as_json: bool,
    wait: bool,
    output: Path | None,
    store: str | None,
) -> None:
    """`chosen`: options that only chains have."""
    from weir import fabric, plan
    from weir.cli.progress import Progress
    from weir.fabric.cloud.check import require_cloud
    from weir.lab.tenants_load import load_tenants
    from weir.plan.cloud import cloud_steps, measured_topology
    from weir.procedures.tenants.campaign import TenantsCampaign
    from weir.report.blocks import new_console
    from weir.store.store import Store

    require_no_chain(chosen)
    tenants = load_tenants(lab_path)
    cpus = sorted(os.sched_getaffinity(0))
    clouds = [
        measured_topology(one, plan.deployment_id(one.name, secrets.token_hex(4)), cpus)
        for one in tenants.compared()
    ]
    if dry_run:
        print(_json_planned(tenants, clouds) if as_json else _planned(tenants, clouds, quick=quick))
        return
    fabric.require_to_measure()
    for topology in clouds:
        require_cloud(cloud_steps(topology), topology)
    check_reports(output)
    with (
        own_cpus(fabric.taking_part(clouds[0]), wait=wait),
        Store(store) as database,
        Progress() as progress,
    ):
        progress.say(_planned(tenants, clouds, quick=quick))
        campaign = TenantsCampaign(tenants, clouds, quick=quick, store=database, progress=progress)
        result = campaign.run()
    stems = {"html": "report", "markdown": "report", "json": "result", "csv": "throughput"}
    write_reports(result, output, stems, new_console(stderr=as_json), as_json=as_json, store=store)
    if result.interrupted:
        raise typer.Exit(INTERRUPTED)
    nothing = _nothing_found(result)
    if nothing is not None:
        failed(nothing)


def _nothing_found(result: Result) -> str | None:
    """What a command says of a run without any number; None: it has some."""
    from weir.results.tenants import TCP_RECORD

    cases = [case for _, case in result.cases()]
    if any(trial.valid for case in cases for trial in case.curve):
        return None
    if any(one.status == "found" for case in cases for one in case.throughput):
        return None
    over_tcp = [case.records[TCP_RECORD] for case in cases if TCP_RECORD in case.records]
    if any(share["goodput_bps"] is not None for one in over_tcp for share in one["shares"]):
        return None
    why = next((case.problem for case in cases if case.problem is not None), "no trial can be used")
    return f"nothing was measured: {why}"


def _planned(tenants: TenantsFile, clouds: Sequence[CloudTopology], *, quick: bool) -> str:
    first = clouds[0]
    assert first.tester is not None
    cores = ", ".join(map(str, first.tester.system_cores))
    several = [f"  cloud         {called(tenants, one)}: {said(one)}" for one in clouds]
    return "\n".join(
        (
            *([f"{tenants.name}: {said(first)}"] if len(clouds) == 1 else [f"{tenants.name}:", *several]),
            *measured(tenants, quick=quick),
            f"  cores         tester {first.tester.core}, everything else {cores}",
        )
    )


def _json_planned(tenants: TenantsFile, clouds: Sequence[CloudTopology]) -> str:
    tester = clouds[0].tester
    assert tester is not None
    return json.dumps(
        {
            "lab": tenants.name,
            "frames": list(map(str, tenants.traffic.frames)),
            "direction": tenants.tester.direction,
            "sending": list(tenants.sending()),
            "clouds": [
                {
                    "name": called(tenants, one),
                    "security": one.security,
                    "router": one.router,
                    "shared_functions": list(one.shared_functions()),
                }
                for one in clouds
            ],
            "tester": tester.model_dump(mode="json"),
        },
        indent=2,
    )
