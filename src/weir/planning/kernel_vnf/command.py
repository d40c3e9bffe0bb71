# SPDX-License-Identifier: Apache-2.0
"""`weir model kernel-vnf`: the published model of kernel forwarding; options to numbers, answers to text."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from weir.base.read_file import read_text
from weir.cli.exits import FAILED, USAGE, CommandError, reporting
from weir.cli.help import Command, Group
from weir.cli.model import AsJson, CpuGhz, FlowCounts, Frames, Link
from weir.cli.quantities import link_bps, rate_pps

if TYPE_CHECKING:
    from weir.planning.kernel_vnf.configuration import Configuration
    from weir.planning.kernel_vnf.ranking import Case, Prediction, Question

FRAME_BYTES = (64, 9216)
Value = TypeVar("Value")


kernel_vnf = typer.Typer(
    cls=Group, help="The published model of VMs behind Open vSwitch in the kernel.", no_args_is_help=True
)


@kernel_vnf.callback()
def options() -> None:
    """The published model of VMs behind Open vSwitch in the kernel, for any machine.

    Measures nothing and needs no root.
    """


Cores = Annotated[
    int | None,
    typer.Option("--cores", min=1, max=4096, help="For infrastructure and functions together."),
]
ParameterSource = Annotated[
    str,
    typer.Option(
        "--parameters",
        metavar="SOURCE",
        help="table-2 or table-1, as published, or a CSV file of your own points.",
    ),
]


@kernel_vnf.command(cls=Command)
@reporting
def predict(
    *,
    cpu_ghz: CpuGhz = None,
    cores: Cores = None,
    link: Link = None,
    frame: Frames = None,
    flows: FlowCounts = None,
    config: Annotated[
        str | None,
        typer.Option("--config", help="Configuration, such as 2+1/ic125; absent: the best one."),
    ] = None,
    parameters: ParameterSource = "table-2",
    as_json: AsJson = False,
) -> None:
    """Predict what one configuration carries. For each number of flows and frame size.

    Needs --cpu-ghz, --cores, --link, --frame and --flows.
    """
    from weir.planning.kernel_vnf import ranking, table

    asked = _question(
        cpu_ghz=cpu_ghz, cores=cores, link=link, frame=frame, flows=flows, parameters=parameters
    )
    chosen = None if config is None else _chosen(config, asked)
    found = [
        _best(_rank(asked, case), case) if chosen is None else _computed(ranking.predict, chosen, case)
        for case in asked.cases
    ]
    print(_json(found) if as_json else table.predictions(found, asked), end="")


@kernel_vnf.command(cls=Command)
@reporting
def rank(
    *,
    cpu_ghz: CpuGhz = None,
    cores: Cores = None,
    link: Link = None,
    frame: Frames = None,
    flows: FlowCounts = None,
    rate: Annotated[
        str | None,
        typer.Option("--rate", help="What must be carried, such as 2Mpps; absent: as much as possible."),
    ] = None,
    parameters: ParameterSource = "table-2",
    as_json: AsJson = False,
) -> None:
    """Rank all configurations that fit, best first. The fastest, or the smallest for a rate; and why.

    Needs --cpu-ghz, --cores, --link, --frame and --flows.

    Exit code 1 if nothing carries the rate.
    """
    from weir.planning.kernel_vnf import table

    asked = _question(
        cpu_ghz=cpu_ghz, cores=cores, link=link, frame=frame, flows=flows, parameters=parameters
    )
    least_pps = None if rate is None else rate_pps(rate)
    rankings = [_rank(asked, case, least_pps) for case in asked.cases]
    best = [_best(ranked, case) for ranked, case in zip(rankings, asked.cases, strict=True)]
    if as_json:
        print(_json([one for ranked in rankings for one in ranked]), end="")
    else:
        print(table.plans(rankings, asked, least_pps), end="")
    if least_pps is not None and not all(one.meets(least_pps) for one in best):
        raise typer.Exit(FAILED)


def _question(
    *,
    cpu_ghz: float | None,
    cores: int | None,
    link: str | None,
    frame: str | None,
    flows: str | None,
    parameters: str,
) -> Question:
    """The options in numbers. CommandError says which of them is missing or wrong."""
    from weir.planning.kernel_vnf.ranking import Case, Question

    if cpu_ghz is None or cores is None or link is None or frame is None or flows is None:
        needed = {"--cpu-ghz": cpu_ghz, "--cores": cores, "--link": link, "--frame": frame, "--flows": flows}
        missing = ", ".join(name for name, value in needed.items() if value is None)
        raise CommandError(f"the published model needs {missing} too", USAGE)
    bps = link_bps(link)
    sizes_bytes = _each("--frame", frame, _frame_bytes)
    cases = tuple(
        Case(cpu_ghz * 1e9, cores, bps, count, size_bytes)
        for count in _each("--flows", flows, _flow_count)
        for size_bytes in sizes_bytes
    )
    return Question(cases, _configurations(parameters), parameters)


def _rank(asked: Question, case: Case, rate_pps: float | None = None) -> list[Prediction]:
    from weir.planning.kernel_vnf.ranking import rank

    return _computed(lambda: rank(asked.configurations.values(), case, rate_pps=rate_pps))


def _best(ranked: Sequence[Prediction], case: Case) -> Prediction:
    if not ranked:
        raise CommandError(
            f"no configuration fits on --cores {case.cores}; expected 2 or more",
            USAGE,
        )
    return ranked[0]


def _computed(compute: Callable[..., Value], *arguments: object) -> Value:
    try:
        return compute(*arguments)
    except ValueError as error:
        raise CommandError(str(error), USAGE) from None


def _chosen(name: str, asked: Question) -> Configuration:
    from weir.lab.problem import did_you_mean

    if name in asked.configurations:
        return asked.configurations[name]
    known = list(asked.configurations)
    hint = did_you_mean(name, known)
    raise CommandError(f"unknown --config {name!r}; {asked.source} has {', '.join(known)}{hint}", USAGE)


def _configurations(source: str) -> Mapping[str, Configuration]:
    from weir.planning.kernel_vnf.configuration import PUBLISHED, calibrated, published

    if source in PUBLISHED:
        return published(source)
    path = Path(source)
    if not path.is_file():
        known = " or ".join(PUBLISHED)
        raise CommandError(f"--parameters {source}: expected {known}, or a CSV file of points", USAGE)
    try:
        return calibrated(read_text(path).removeprefix("\ufeff"))
    except (OSError, ValueError, csv.Error) as error:
        raise CommandError(f"{source}: {error}", USAGE) from None


def _each(option: str, text: str, read: Callable[[str], Value]) -> tuple[Value, ...]:
    """What a list with commas says."""
    try:
        return tuple(read(item.strip()) for item in text.split(","))
    except ValueError as error:
        raise CommandError(f"{option} {text}: {error}", USAGE) from None


def _frame_bytes(text: str) -> float:
    from pydantic import TypeAdapter, ValidationError

    from weir.base.record import first_fault
    from weir.lab.frames import IMIX_PREFIX, Frame, mean_frame_bytes

    if text.startswith(IMIX_PREFIX):
        try:
            return mean_frame_bytes(TypeAdapter(Frame).validate_python(text))
        except ValidationError as error:
            raise ValueError(first_fault(error)[1]) from None
    low, high = FRAME_BYTES
    if not (text.isascii() and text.isdigit() and len(text) < 9 and low <= int(text) <= high):
        raise ValueError(f"expected {low} to {high} bytes, or a mix such as imix:aaaaaaaddddg")
    return int(text)


def _flow_count(text: str) -> int:
    from weir.lab.traffic import MAX_FLOWS

    if not (text.isascii() and text.isdigit() and len(text) < 9 and 1 <= int(text) <= MAX_FLOWS):
        raise ValueError(f"expected numbers of flows from 1 to {MAX_FLOWS}")
    return int(text)


def _json(found: Sequence[Prediction]) -> str:
    from weir.results.kernel_vnf import KernelVnfEntry, render

    return render(
        [
            KernelVnfEntry(
                config=one.configuration.name,
                f=one.scale,
                frame_bytes=one.case.frame_bytes,
                mpps=one.throughput.pps / 1e6,
                gbps=one.throughput.l1_bps / 1e9,
                limited_by=one.throughput.limited_by,
            )
            for one in found
        ]
    )
