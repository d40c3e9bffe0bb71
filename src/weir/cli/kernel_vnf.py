# SPDX-License-Identifier: Apache-2.0
"""`--model kernel-vnf` of `weir predict` and `weir plan`: options to numbers, answers to text."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import typer

from weir.cli.exits import FAILED, USAGE, CommandError
from weir.cli.quantities import link_bps, rate_pps

if TYPE_CHECKING:
    from weir.planning.kernel_vnf.configuration import Configuration
    from weir.planning.kernel_vnf.ranking import Case, Prediction

TAKES = frozenset({"cpu_ghz", "cores", "link", "frame", "flows", "parameters", "as_json"})
FRAME_BYTES = (64, 9216)
Value = TypeVar("Value")


@dataclass(frozen=True)
class Question:
    """What both commands are asked."""

    cases: tuple[Case, ...]
    """Flow counts in the order given, for each the frame sizes in theirs."""
    configurations: Mapping[str, Configuration]
    source: str
    """Where the parameters are from."""


def question(
    *,
    cpu_ghz: float | None,
    cores: int | None,
    link: str | None,
    frame: str | None,
    flows: str | None,
    parameters: str | None,
) -> Question:
    """The options in numbers. CommandError says which of them is missing or wrong."""
    from weir.planning.kernel_vnf.configuration import PUBLISHED
    from weir.planning.kernel_vnf.ranking import Case

    if cpu_ghz is None or cores is None or link is None or frame is None or flows is None:
        needed = {"--cpu-ghz": cpu_ghz, "--cores": cores, "--link": link, "--frame": frame, "--flows": flows}
        missing = ", ".join(name for name, value in needed.items() if value is None)
        raise CommandError(f"--model kernel-vnf needs {missing} too", USAGE)
    bps = link_bps(link)
    sizes_bytes = _each("--frame", frame, _frame_bytes)
    cases = tuple(
        Case(cpu_ghz * 1e9, cores, bps, count, size_bytes)
        for count in _each("--flows", flows, _flow_count)
        for size_bytes in sizes_bytes
    )
    source = parameters or PUBLISHED[0]
    return Question(cases, _configurations(source), source)


def predict(asked: Question, *, config: str | None, as_json: bool) -> None:
    """Prints one entry for each case: of that configuration, or of the best one."""
    from weir.cli import kernel_vnf_table
    from weir.planning.kernel_vnf import ranking

    chosen = None if config is None else _chosen(config, asked)
    found = [
        _best(_rank(asked, case), case) if chosen is None else _computed(ranking.predict, chosen, case)
        for case in asked.cases
    ]
    print(_json(found) if as_json else kernel_vnf_table.predictions(found, asked), end="")


def plan(asked: Question, *, rate: str | None, as_json: bool) -> None:
    """Prints for each case all configurations that fit, best first. Exit code 1 if a case misses the rate."""
    from weir.cli import kernel_vnf_table

    wanted_pps = None if rate is None else rate_pps(rate)
    rankings = [_rank(asked, case, wanted_pps) for case in asked.cases]
    best = [_best(ranked, case) for ranked, case in zip(rankings, asked.cases, strict=True)]
    if as_json:
        print(_json([one for ranked in rankings for one in ranked]), end="")
    else:
        print(kernel_vnf_table.plans(rankings, asked, wanted_pps), end="")
    if wanted_pps is not None and not all(one.meets(wanted_pps) for one in best):
        raise typer.Exit(FAILED)


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
        return calibrated(path.read_text(encoding="utf-8-sig"))
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

    from weir.lab.frames import IMIX_PREFIX, Frame, mean_frame_bytes

    if text.startswith(IMIX_PREFIX):
        try:
            return mean_frame_bytes(TypeAdapter(Frame).validate_python(text))
        except ValidationError as error:
            raise ValueError(error.errors()[0]["msg"].removeprefix("Value error, ")) from None
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
    from weir.report.kernel_vnf import KernelVnfEntry, render

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
