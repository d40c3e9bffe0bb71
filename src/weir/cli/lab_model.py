# SPDX-License-Identifier: Apache-2.0
"""`weir predict LAB`: the rates of a lab that was never run, by the cost model of this machine."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from weir.cli.exits import ENVIRONMENT, USAGE, CommandError
from weir.cli.labfile import chosen_chain, machine_cpus
from weir.cli.quantities import link_bps, rate_pps

if TYPE_CHECKING:
    from weir.lab import Chain, Lab
    from weir.planning.capacity import Prediction
    from weir.planning.queueing import DelayPrediction
    from weir.results.model import ModelDocument

TAKES = frozenset(
    {"model", "chain", "frame", "flows", "cores", "cpu_ghz", "link", "scale_factor", "rate", "as_json"}
)


@dataclass(frozen=True)
class Elsewhere:
    """What is asked about beyond the lab and this machine."""

    cores: int
    cpu_ghz: float | None
    link_bps: float | None
    scale_factor: int
    """f: so many of the lab's set-ups side by side, each with its share of the flows."""
    rate_pps: float | None = None
    """The load at which delays are asked for, of all set-ups together."""


@dataclass(frozen=True)
class Answer:
    """One chain, frame size and number of flows."""

    chain: str
    frame: str
    flows: int
    scale_factor: int
    prediction: Prediction
    delay: DelayPrediction | None = None
    """At the load that was asked about, if it is carried."""
    notices: tuple[str, ...] = ()
    """About the delay."""


def model_here(path: Path | None, *, elsewhere: bool = False) -> ModelDocument:
    """The model of that file, or the usual one.

    CommandError if it is of another machine; `elsewhere`: it may be.
    """
    from weir import fabric
    from weir.jobs.cost_model import other_machine
    from weir.store.model_file import default_model_path, read_model

    chosen = path or default_model_path()
    document = read_model(chosen)
    found = other_machine(document, fabric.fingerprint(0, "unknown", {}))
    if found and not elsewhere:
        raise CommandError(
            f"{chosen} is the model of another machine: {' '.join(found)} Calibrate here with "
            f"`weir calibrate {document.lab}`, or name the clock of the other machine with --cpu-ghz",
            ENVIRONMENT,
        )
    return document


def predict(
    lab_path: Path,
    *,
    model: str | None,
    chain: str | None,
    frame: str | None,
    flows: str | None,
    cores: int | None,
    cpu_ghz: float | None,
    link: str | None,
    scale_factor: int | None,
    rate: str | None = None,
    as_json: bool,
) -> None:
    """Prints a line for each chain, number of flows and frame size."""
    from weir.jobs.cost_model import other_options
    from weir.lab import load_lab

    cpus = machine_cpus() if cores is None else tuple(range(cores))
    lab = load_lab(lab_path, cpus=cpus)
    asked = Elsewhere(
        cores=len(cpus),
        cpu_ghz=cpu_ghz,
        link_bps=None if link is None else link_bps(link),
        scale_factor=scale_factor or 1,
        rate_pps=None if rate is None else rate_pps(rate),
    )
    document = model_here(None if model is None else Path(model), elsewhere=cpu_ghz is not None)
    require_technology(lab, document)
    chains = [chosen_chain(lab, chain)] if chain is not None else list(lab.chains())
    frames = [str(one) for one in lab.traffic.frames] if frame is None else frame.split(",")
    counts = [str(lab.traffic.flows.count)] if flows is None else flows.split(",")
    labs = [with_traffic(lab, [one], count) for count in counts for one in frames]
    answers = [_answer(document, varied, one, asked) for one in chains for varied in labs]
    known = [*other_options(document, lab, chains), *remarks(document)]
    if as_json:
        print(json.dumps([_json(one, known) for one in answers], indent=2))
    else:
        print("\n".join(_lines(answers, known)))


def require_technology(lab: Lab, document: ModelDocument) -> None:
    """CommandError if the lab joins its functions by something else than what the model is of."""
    if document.technology not in lab.technology:
        raise CommandError(
            f"{lab.name} has technology: {', '.join(lab.technology)}, and the model of {document.lab} is of "
            f"{document.technology}; expected a lab that has it, or --model with a file of `weir calibrate "
            f"--technology {lab.technology[0]}`",
            USAGE,
        )


def with_traffic(lab: Lab, frames: Sequence[str], flows: str) -> Lab:
    """The lab with these frame sizes and number of flows. CommandError for what is none."""
    from pydantic import ValidationError

    from weir.lab.check import complaints
    from weir.lab.traffic import Traffic

    said = lab.traffic.model_dump()
    said["frames"], said["flows"]["count"] = tuple(one.strip() for one in frames), flows.strip()
    try:
        varied = lab.model_copy(update={"traffic": Traffic.model_validate(said)})
    except ValidationError as error:
        wrong = error.errors()[0]
        option = "--frame" if "frames" in wrong["loc"] else "--flows"
        message = wrong["msg"].removeprefix("Value error, ")
        raise CommandError(f"{option} {wrong['input']}: {message}", USAGE) from None
    for one in complaints(varied, None):
        if one.path[:2] == ("traffic", "frames"):
            wanted = f"; expected {one.expected}" if one.expected else ""
            raise CommandError(f"--frame {','.join(frames)}: {one.message}{wanted}", USAGE)
    return varied


def _answer(document: ModelDocument, lab: Lab, chain: Chain, asked: Elsewhere) -> Answer:
    from dataclasses import replace

    from weir.cli.lab_delay import at_load
    from weir.jobs.cost_model import model_of
    from weir.jobs.visits import setup
    from weir.planning.blind import predict_blind, typical
    from weir.planning.scaling import one_set, over_link, side_by_side

    model = model_of(document)
    if asked.cpu_ghz is not None:
        model = replace(model, hz=asked.cpu_ghz * 1e9)
    frame = str(lab.traffic.frames[0])
    execution = setup(lab, chain, frame, chain.name, document.technology).execution
    _require_cores(chain, len(execution.cores()), asked)
    directions = 2 if lab.tester.direction == "bidirectional" else 1
    try:
        part = typical(model, one_set(execution, asked.scale_factor))
    except ValueError as error:
        raise CommandError(f"--scale-factor {asked.scale_factor}: {error}", USAGE) from None
    try:
        said = predict_blind(model, part)
    except ValueError as error:
        raise CommandError(
            f"{lab.name} {chain.name}: {error}; calibrate a lab that has them", USAGE
        ) from None
    all_sets = side_by_side(said, asked.scale_factor)
    capped = over_link(all_sets, asked.link_bps, execution.frame_bytes, directions)
    found, notices = at_load(
        model,
        part,
        asked.rate_pps,
        carried_pps=capped.pps,
        sets=asked.scale_factor,
        pacing=lab.traffic.pacing,
    )
    return Answer(chain.name, frame, lab.traffic.flows.count, asked.scale_factor, capped, found, notices)


def _require_cores(chain: Chain, cores: int, asked: Elsewhere) -> None:
    needed = asked.scale_factor * cores
    if asked.scale_factor > 1 and needed > asked.cores:
        raise CommandError(
            f"--scale-factor {asked.scale_factor}: so many sets of the {cores} cores of {chain.name} need "
            f"{needed}, and there are {asked.cores}; --cores says how many another machine has",
            USAGE,
        )


def remarks(document: ModelDocument) -> list[str]:
    """What differs between this machine now and when the model was made."""
    from weir import fabric
    from weir.jobs.cost_model import otherwise_different

    return otherwise_different(document, fabric.fingerprint(0, "unknown", {}))


def _lines(answers: list[Answer], known: list[str]) -> list[str]:
    from weir.cli.lab_delay import delay_lines
    from weir.report.columns import table

    rows = [("chain", "frame", "flows", "Mpps", "95 % interval", "functions alone", "limited by", "cores")]
    for one in answers:
        said = one.prediction
        rows.append(
            (
                one.chain,
                one.frame,
                f"{one.flows:,}",
                f"{said.pps / 1e6:.3f}",
                f"{said.low_pps / 1e6:.2f}–{said.high_pps / 1e6:.2f}",
                f"{said.functions_pps / 1e6:.3f}",
                said.limited_by,
                ", ".join(f"{load.core}: {load.utilisation:.0%}" for load in said.cores),
            )
        )
    notices = _by_chain(answers)
    return [
        *table(rows),
        *delay_lines((one.chain, one.frame, one.flows, one.delay) for one in answers if one.delay),
        *([""] if notices or known else []),
        *(f"– {text}" for text in (*notices, *known)),
    ]


def _by_chain(answers: list[Answer]) -> list[str]:
    """What is to be said of answers, each once: with the chains of which it is, or none if it is of all."""
    chains: dict[str, dict[str, None]] = {}
    for one in answers:
        for text in (*one.prediction.notices, *one.notices):
            chains.setdefault(text, {})[one.chain] = None
    every = len({one.chain for one in answers})
    return [
        text if len(names) == every > 1 else f"{', '.join(names)}: {text}" for text, names in chains.items()
    ]


def _json(one: Answer, known: list[str]) -> dict[str, object]:
    from weir.cli.lab_delay import delay_json

    said = one.prediction
    return {
        "chain": one.chain,
        "frame": one.frame,
        "flows": one.flows,
        "f": one.scale_factor,
        "pps": said.pps,
        "low_pps": said.low_pps,
        "high_pps": said.high_pps,
        "functions_pps": said.functions_pps,
        "limited_by": said.limited_by,
        "cores": [
            {
                "core": load.core,
                "cycles_per_packet": load.cycles,
                "utilisation": load.utilisation,
                "areas": dict(load.areas),
            }
            for load in said.cores
        ],
        **({} if one.delay is None else {"delay": delay_json(one.delay)}),
        "notices": [*said.notices, *one.notices, *known],
    }
