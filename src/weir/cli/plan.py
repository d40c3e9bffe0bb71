# SPDX-License-Identifier: Apache-2.0
"""`weir plan`: which configuration and placement carries the traffic."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from weir.cli import fleet, kernel_vnf, lab_plan
from weir.cli.predict import (
    AsJson,
    Cores,
    CpuGhz,
    FlowCounts,
    Frames,
    Link,
    ParameterSource,
    PredictionModel,
)
from weir.cli.variant import Variant, chosen

VARIANTS = (
    Variant("lab", asked_by="lab", said="a LAB", takes=lab_plan.TAKES),
    Variant(
        "kernel-vnf",
        asked_by="model",
        value="kernel-vnf",
        said="--model kernel-vnf",
        takes=kernel_vnf.TAKES | {"rate"},
    ),
    Variant("fleet", asked_by="fleet_path", said="--fleet", takes=fleet.TAKES),
)


def plan(
    context: typer.Context,
    lab: Annotated[
        Path | None,
        typer.Argument(metavar="LAB", help="A lab to place, by the model of `weir calibrate`."),
    ] = None,
    *,
    model: PredictionModel = None,
    chain: Annotated[
        str | None, typer.Option("--chain", help="With LAB: one of its chains; absent: the first.")
    ] = None,
    cpu_ghz: CpuGhz = None,
    cores: Cores = None,
    link: Link = None,
    frame: Frames = None,
    flows: FlowCounts = None,
    rate: Annotated[
        str | None,
        typer.Option("--rate", help="What must be carried, such as 2Mpps; absent: as much as possible."),
    ] = None,
    latency_us: Annotated[
        float | None,
        typer.Option(
            "--latency-us",
            min=0.001,
            max=1e9,
            metavar="P99",
            help="With LAB: longest P99 of one-way delay at that rate, as queues between areas predict it.",
        ),
    ] = None,
    parameters: ParameterSource = None,
    fleet_path: Annotated[
        Path | None,
        typer.Option(
            "--fleet",
            metavar="FILE",
            help="Place the chains of a fleet file on its hosts instead; a directory: its fleet.yml.",
        ),
    ] = None,
    time_limit: Annotated[
        float | None,
        typer.Option(
            "--time-limit", min=0.1, max=86400, metavar="SECONDS", help="Of a fleet's search; absent: 60."
        ),
    ] = None,
    gap: Annotated[
        float | None,
        typer.Option(
            "--gap",
            min=0,
            max=1,
            metavar="SHARE",
            help="A fleet's search ends when this is proved; absent: 0.01.",
        ),
    ] = None,
    seed: Annotated[int | None, typer.Option("--seed", min=0, help="Of a fleet's search; absent: 0.")] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="FILE",
            help="Write the placement of a fleet there, as --json prints it; with LAB the lab file that has "
            "the placement, absent: results/<lab>-<chain>-<time>.yml.",
        ),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="With LAB: write over the file of --out if it is there.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Find the best configuration, its runners-up, and why: the fastest, or the smallest that carries a rate.

    Measures nothing and needs no root. Exit code 1 if nothing carries the rate.

    With LAB: how its functions are run and on which cores, for the fewest cores that carry the rate at the
    lower bound of the prediction, then the largest margin; and a lab file that runs so.

    With --fleet: which host carries which chains, for the fewest chains without a place, then the least
    cost of hosts, then balance. It says what is proved of that; exit code 1 if some chains have no place.
    Ctrl-C ends the search with the best placement so far.
    """
    match chosen(VARIANTS, context.params):
        case "lab":
            assert lab is not None
            lab_plan.plan(
                lab,
                model=model,
                chain=chain,
                rate=rate,
                frame=frame,
                flows=flows,
                cores=cores,
                cpu_ghz=cpu_ghz,
                link=link,
                latency_us=latency_us,
                out=out,
                force=force,
                as_json=as_json,
            )
        case "kernel-vnf":
            asked = kernel_vnf.question(
                cpu_ghz=cpu_ghz, cores=cores, link=link, frame=frame, flows=flows, parameters=parameters
            )
            kernel_vnf.plan(asked, rate=rate, as_json=as_json)
        case "fleet":
            assert fleet_path is not None
            fleet.plan(fleet_path, time_limit=time_limit, gap=gap, seed=seed, out=out, as_json=as_json)
