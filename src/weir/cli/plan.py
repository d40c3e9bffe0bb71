# SPDX-License-Identifier: Apache-2.0
"""`weir plan`: which configuration and placement carries the traffic."""

from __future__ import annotations

from typing import Annotated

import typer

from weir.cli import kernel_vnf
from weir.cli.predict import AsJson, Cores, CpuGhz, FlowCounts, Frames, Link, Model, ParameterSource
from weir.cli.variant import Variant, chosen

VARIANTS = (
    Variant(
        "kernel-vnf",
        asked_by="model",
        value="kernel-vnf",
        said="--model kernel-vnf",
        takes=kernel_vnf.TAKES | {"rate"},
    ),
)


def plan(
    context: typer.Context,
    *,
    model: Model = None,  # noqa: ARG001  (read from the context)
    cpu_ghz: CpuGhz = None,
    cores: Cores = None,
    link: Link = None,
    frame: Frames = None,
    flows: FlowCounts = None,
    rate: Annotated[
        str | None,
        typer.Option("--rate", help="What must be carried, such as 2Mpps; absent: as much as possible."),
    ] = None,
    parameters: ParameterSource = None,
    as_json: AsJson = False,
) -> None:
    """Find the best configuration, its runners-up, and why: the fastest, or the smallest that carries a rate.

    Touches nothing and needs no root. Exit code 1 if nothing carries the rate.
    """
    match chosen(VARIANTS, context.params):
        case "kernel-vnf":
            asked = kernel_vnf.question(
                cpu_ghz=cpu_ghz, cores=cores, link=link, frame=frame, flows=flows, parameters=parameters
            )
            kernel_vnf.plan(asked, rate=rate, as_json=as_json)
