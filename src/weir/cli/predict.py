# SPDX-License-Identifier: Apache-2.0
"""`weir predict`: the throughput of something that was never measured."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from weir.cli import kernel_vnf, lab_model
from weir.cli.variant import Variant, chosen

Model = Annotated[
    str | None,
    typer.Option("--model", help="A published model: kernel-vnf, of VMs behind Open vSwitch in the kernel."),
]
PredictionModel = Annotated[
    str | None,
    typer.Option(
        "--model",
        help="kernel-vnf, of VMs behind Open vSwitch in the kernel; with LAB a file of `weir calibrate`, "
        "absent: $WEIR_MODEL, or the one in the data directory.",
    ),
]
CpuGhz = Annotated[float | None, typer.Option("--cpu-ghz", min=0.1, max=10, help="Clock of the cores.")]
Cores = Annotated[
    int | None,
    typer.Option("--cores", min=1, max=4096, help="Cores for infrastructure and functions together."),
]
Link = Annotated[
    str | None, typer.Option("--link", metavar="RATE", help="Of the network port: 10G, 25Gbit/s.")
]
Frames = Annotated[
    str | None,
    typer.Option("--frame", metavar="BYTES,…", help="Frame sizes with FCS, or mixes as imix:GENOME."),
]
FlowCounts = Annotated[
    str | None, typer.Option("--flows", metavar="N,…", help="Numbers of flows, of equal rate.")
]
ParameterSource = Annotated[
    str | None,
    typer.Option(
        "--parameters",
        metavar="SOURCE",
        help="table-2 or table-1 of the paper, or a CSV file of your own points; absent: table-2.",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print the answer as JSON.")]

VARIANTS = (
    Variant("lab", asked_by="lab", said="a LAB", takes=lab_model.TAKES),
    Variant(
        "kernel-vnf",
        asked_by="model",
        value="kernel-vnf",
        said="--model kernel-vnf",
        takes=kernel_vnf.TAKES | {"config"},
    ),
)


def predict(
    context: typer.Context,
    lab: Annotated[
        Path | None,
        typer.Argument(metavar="LAB", help="A lab of this machine, by the model of `weir calibrate`."),
    ] = None,
    *,
    model: PredictionModel = None,
    chain: Annotated[
        str | None, typer.Option("--chain", help="With LAB: one of its chains; absent: all of them.")
    ] = None,
    cpu_ghz: CpuGhz = None,
    cores: Cores = None,
    link: Link = None,
    frame: Frames = None,
    flows: FlowCounts = None,
    scale_factor: Annotated[
        int | None,
        typer.Option(
            "--scale-factor",
            min=1,
            max=4096,
            metavar="F",
            help="With LAB: so many set-ups side by side, each with its share of the flows; absent: 1.",
        ),
    ] = None,
    rate: Annotated[
        str | None,
        typer.Option(
            "--rate", help="With LAB: a load, such as 2Mpps, at which one-way delays are predicted too."
        ),
    ] = None,
    config: Annotated[
        str | None,
        typer.Option("--config", help="Configuration, such as 2+1/ic125; absent: the best one."),
    ] = None,
    parameters: ParameterSource = None,
    as_json: AsJson = False,
) -> None:
    """Predict a throughput without measuring it: for other cores, clocks, links, frame sizes and flows.

    Touches nothing and needs no root.
    """
    match chosen(VARIANTS, context.params):
        case "lab":
            assert lab is not None
            lab_model.predict(
                lab,
                model=model,
                chain=chain,
                frame=frame,
                flows=flows,
                cores=cores,
                cpu_ghz=cpu_ghz,
                link=link,
                scale_factor=scale_factor,
                rate=rate,
                as_json=as_json,
            )
        case "kernel-vnf":
            asked = kernel_vnf.question(
                cpu_ghz=cpu_ghz, cores=cores, link=link, frame=frame, flows=flows, parameters=parameters
            )
            kernel_vnf.predict(asked, config=config, as_json=as_json)
