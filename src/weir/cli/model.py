# SPDX-License-Identifier: Apache-2.0
"""The cost model that a command names, and whether it is of this machine and of the lab's technology."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from weir.cli.exits import ENVIRONMENT, USAGE, CommandError

if TYPE_CHECKING:
    from weir.lab import Lab
    from weir.results.model import ModelDocument

ModelFile = Annotated[
    Path | None,
    typer.Option("--model", metavar="FILE", help="The model; absent: $WEIR_MODEL, or in the data directory."),
]
CpuGhz = Annotated[float | None, typer.Option("--cpu-ghz", min=0.1, max=10, help="Clock of the cores.")]
Cores = Annotated[int | None, typer.Option("--cores", min=1, max=4096, help="Of another machine.")]
Link = Annotated[
    str | None, typer.Option("--link", metavar="RATE", help="Of the network port: 10G, 25Gbit/s.")
]
Frames = Annotated[
    str | None,
    typer.Option(
        "--frame", metavar="BYTES,…", help="Frame sizes with FCS, IMIX, jumbo, or mixes as imix:GENOME."
    ),
]
FlowCount = Annotated[
    str | None,
    typer.Option("--flows", metavar="N", help="Number of flows, of equal rate."),
]
FlowCounts = Annotated[
    str | None, typer.Option("--flows", metavar="N,…", help="Numbers of flows, of equal rate.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print the answer as JSON.")]


def load_model(path: Path | None, *, any_machine: bool = False) -> ModelDocument:
    """The model of that file, or the usual one. CommandError if it is of another machine and must not be."""
    from weir import fabric
    from weir.planning.model.document import other_machine
    from weir.store.model_file import default_model_path, read_model

    chosen = path or default_model_path()
    document = read_model(chosen)
    found = other_machine(document, fabric.fingerprint(0, "unknown", {}))
    if found and not any_machine:
        raise CommandError(
            f"{chosen} is the model of another machine: {' '.join(found)} Calibrate here with "
            f"calibrate {document.lab} there, or name the clock of the other machine with --cpu-ghz",
            ENVIRONMENT,
        )
    return document


def changes_since(document: ModelDocument) -> list[str]:
    """What differs between this machine now and when the model was made; first, that it was poor then."""
    from weir import fabric
    from weir.planning.model.document import otherwise_different, poor_fit

    return [*poor_fit(document), *otherwise_different(document, fabric.fingerprint(0, "unknown", {}))]


def require_technology(lab: Lab, document: ModelDocument) -> None:
    """CommandError if the lab joins its functions by something else than what the model is of."""
    if document.technology not in lab.technology:
        raise CommandError(
            f"{lab.name} has technology: {', '.join(lab.technology)}, and the model of {document.lab} is of "
            f"{document.technology}; expected a lab that has it, or --model with a file of `weir model "
            f"calibrate --technology {lab.technology[0]}`",
            USAGE,
        )


def with_traffic(lab: Lab, frames: Sequence[str], flows: str) -> Lab:
    """The lab with these frame sizes and number of flows. CommandError for what is none."""
    from pydantic import ValidationError

    from weir.base.record import first_fault
    from weir.lab.check import complaints
    from weir.lab.traffic import Traffic

    traffic = lab.traffic.model_dump()
    traffic["frames"], traffic["flows"]["count"] = tuple(one.strip() for one in frames), flows.strip()
    try:
        varied = lab.model_copy(update={"traffic": Traffic.model_validate(traffic)})
    except ValidationError as error:
        wrong = error.errors()[0]
        option = "--frame" if "frames" in wrong["loc"] else "--flows"
        message = first_fault(error)[1]
        raise CommandError(f"{option} {wrong['input']}: {message}", USAGE) from None
    for one in complaints(varied, None):
        if one.path[:2] == ("traffic", "frames"):
            expected = f"; expected {one.expected}" if one.expected else ""
            raise CommandError(f"--frame {','.join(frames)}: {one.message}{expected}", USAGE)
    return varied
