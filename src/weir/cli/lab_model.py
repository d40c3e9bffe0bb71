# SPDX-License-Identifier: Apache-2.0
"""`weir predict LAB`: the rates of a lab that was never run, by the cost model of this machine."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from weir.cli.exits import ENVIRONMENT, USAGE, CommandError
from weir.cli.labfile import chosen_chain, machine_cpus

if TYPE_CHECKING:
    from weir.model.capacity import Prediction
    from weir.spec import Chain, Lab
    from weir.store.model import ModelDocument

TAKES = frozenset({"model", "chain", "frame", "flows", "cores", "cpu_ghz", "as_json"})


@dataclass(frozen=True)
class Answer:
    """One chain, frame size and number of flows."""

    chain: str
    frame: str
    flows: int
    prediction: Prediction


def model_here(path: Path | None, *, elsewhere: bool = False) -> ModelDocument:
    """The model of that file, or the usual one.

    CommandError if it is of another machine; `elsewhere`: it may be.
    """
    from weir import fabric
    from weir.cost_model import other_machine
    from weir.store.model import default_model_path, read_model

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
    as_json: bool,
) -> None:
    """Prints a line for each chain, number of flows and frame size."""
    from weir.spec import load_lab

    cpus = machine_cpus() if cores is None else tuple(range(cores))
    lab = load_lab(lab_path, cpus=cpus)
    document = model_here(None if model is None else Path(model), elsewhere=cpu_ghz is not None)
    chains = [chosen_chain(lab, chain)] if chain is not None else list(lab.chains())
    answers = [
        _answer(document, varied, one, cpu_ghz) for one in chains for varied in _varied(lab, frame, flows)
    ]
    if as_json:
        print(json.dumps([_json(one) for one in answers], indent=2))
    else:
        print("\n".join(_lines(answers, _remarks(document))))


def _varied(lab: Lab, frame: str | None, flows: str | None) -> list[Lab]:
    """The lab with each number of flows and each one frame size. CommandError for what is none."""
    from pydantic import ValidationError

    from weir.spec.traffic import Traffic

    frames = [str(one) for one in lab.traffic.frames] if frame is None else frame.split(",")
    counts = [str(lab.traffic.flows.count)] if flows is None else flows.split(",")
    found = []
    for count in counts:
        for one in frames:
            said = lab.traffic.model_dump()
            said["frames"], said["flows"]["count"] = (one.strip(),), count.strip()
            try:
                found.append(lab.model_copy(update={"traffic": Traffic.model_validate(said)}))
            except ValidationError as error:
                wrong = error.errors()[0]
                option = "--frame" if "frames" in wrong["loc"] else "--flows"
                message = wrong["msg"].removeprefix("Value error, ")
                raise CommandError(f"{option} {wrong['input']}: {message}", USAGE) from None
    return found


def _answer(document: ModelDocument, lab: Lab, chain: Chain, cpu_ghz: float | None) -> Answer:
    from dataclasses import replace

    from weir.cost_model import model_of
    from weir.model import capacity
    from weir.visits import setup

    model = model_of(document)
    if cpu_ghz is not None:
        model = replace(model, hz=cpu_ghz * 1e9)
    frame = str(lab.traffic.frames[0])
    try:
        said = capacity.predict(model, setup(lab, chain, frame, chain.name).execution)
    except ValueError as error:
        raise CommandError(
            f"{lab.name} {chain.name}: {error}; calibrate a lab that has them", USAGE
        ) from None
    return Answer(chain.name, frame, lab.traffic.flows.count, said)


def _remarks(document: ModelDocument) -> list[str]:
    from weir import fabric
    from weir.cost_model import otherwise_different

    return otherwise_different(document, fabric.fingerprint(0, "unknown", {}))


def _lines(answers: list[Answer], remarks: list[str]) -> list[str]:
    from weir.report.lean_table import table

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
    notices = dict.fromkeys(f"{one.chain}: {text}" for one in answers for text in one.prediction.notices)
    return [
        *table(rows),
        *([""] if notices or remarks else []),
        *(f"– {text}" for text in (*notices, *remarks)),
    ]


def _json(one: Answer) -> dict[str, object]:
    said = one.prediction
    return {
        "chain": one.chain,
        "frame": one.frame,
        "flows": one.flows,
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
        "notices": list(said.notices),
    }
