# SPDX-License-Identifier: Apache-2.0
"""`weir model predict` and `weir plan`: what a lab carries as it is, and where its functions should run."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from weir.cli.exits import FAILED, USAGE, CommandError
from weir.cli.labfile import LabPath, chosen_chain, machine_cpus, require_packets
from weir.cli.model import (
    AsJson,
    Cores,
    CpuGhz,
    FlowCount,
    FlowCounts,
    Frames,
    Link,
    ModelFile,
    changes_since,
    load_model,
    require_technology,
    with_traffic,
)
from weir.cli.quantities import link_bps, rate_pps
from weir.cli.stored import RESULTS

if TYPE_CHECKING:
    from weir.lab import Chain, Lab
    from weir.plan.core_pool import MachineCores
    from weir.planning.model.capacity import CostModel
    from weir.planning.placement.search import Predicted, Search
    from weir.results.lab_plan import LabPlan
    from weir.results.prediction import LabPrediction


def predict(
    lab_path: LabPath,
    *,
    model: ModelFile = None,
    chain: Annotated[
        str | None, typer.Option("--chain", "-c", help="One of the lab's chains; absent: all of them.")
    ] = None,
    cpu_ghz: CpuGhz = None,
    cores: Cores = None,
    link: Link = None,
    frame: Frames = None,
    flows: FlowCounts = None,
    scale_factor: Annotated[
        int,
        typer.Option(
            "--scale-factor",
            min=1,
            max=4096,
            metavar="F",
            help="So many set-ups side by side, each with its share of the flows.",
        ),
    ] = 1,
    rate: Annotated[
        str | None,
        typer.Option("--rate", help="A load, such as 2Mpps, at which one-way delays are predicted too."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Predict what a lab carries that was never run.

    By the cost model of `weir model calibrate`; for other cores, clocks, links, frame sizes and flows, too.
    Touches nothing and needs no root.
    """
    from pydantic import TypeAdapter

    from weir.lab import LabFileError, load_lab
    from weir.planning.model.document import model_of, other_options
    from weir.planning.placement import prediction_table
    from weir.planning.placement.prediction import on_clock
    from weir.results.prediction import LabPrediction

    cpus = machine_cpus() if cores is None else tuple(range(cores))
    try:
        lab = load_lab(lab_path, cpus=cpus)
    except LabFileError:
        with suppress(LabFileError):
            if cores is None and load_lab(lab_path):
                print("weir: the lab is for more cores than this machine has: see --cores", file=sys.stderr)
        raise
    require_packets(lab, "a prediction")
    asked = _Asked(
        scale_factor=scale_factor,
        cores=len(cpus),
        link_bps=None if link is None else link_bps(link),
        rate_pps=None if rate is None else rate_pps(rate),
    )
    document = load_model(model, any_machine=cpu_ghz is not None)
    require_technology(lab, document)
    chains = list(lab.chains()) if chain is None else [chosen_chain(lab, chain)]
    frames = [str(one) for one in lab.traffic.frames] if frame is None else frame.split(",")
    counts = [str(lab.traffic.flows.count)] if flows is None else flows.split(",")
    labs = [with_traffic(lab, [one], count) for count in counts for one in frames]
    costs = on_clock(model_of(document), cpu_ghz)
    found = [_predicted(costs, document.technology, varied, one, asked) for one in chains for varied in labs]
    notices = [*other_options(document, lab, chains), *changes_since(document)]
    if as_json:
        answers = [one.model_copy(update={"notices": [*one.notices, *notices]}) for one in found]
        text = TypeAdapter(list[LabPrediction]).dump_json(answers, indent=2, exclude_none=True)
        print(text.decode())
    else:
        print(prediction_table.render(found, notices))


@dataclass(frozen=True)
class _Asked:
    """What is asked about beyond the lab and the model."""

    scale_factor: int
    cores: int
    """Of the machine, for all sets together."""
    link_bps: float | None
    rate_pps: float | None


def _predicted(costs: CostModel, technology: str, lab: Lab, chain: Chain, asked: _Asked) -> LabPrediction:
    from weir.planning.model.scaling import one_set
    from weir.planning.placement.prediction import execution_of, predicted

    whole, sets = execution_of(lab, chain, str(lab.traffic.frames[0]), technology), asked.scale_factor
    cores = len(whole.cores())
    if sets > 1 and sets * cores > asked.cores:
        raise CommandError(
            f"--scale-factor {sets}: so many sets of the {cores} cores of {chain.name} need {sets * cores}, "
            f"and there are {asked.cores}; --cores says how many another machine has",
            USAGE,
        )
    try:
        one = one_set(whole, sets)
    except ValueError as error:
        raise CommandError(f"--scale-factor {sets}: {error}", USAGE) from None
    with unknown_functions(lab, chain):
        return predicted(costs, lab, chain, one, sets=sets, link_bps=asked.link_bps, rate_pps=asked.rate_pps)


@contextmanager
def unknown_functions(lab: Lab, chain: Chain) -> Iterator[None]:
    """What the model does not know, with the chain that has it."""
    from weir.planning.model.capacity import UnknownCostError

    try:
        yield
    except UnknownCostError as error:
        raise CommandError(f"{lab.name} {chain.name}: {error}", USAGE) from None


def plan(
    lab_path: LabPath,
    *,
    model: ModelFile = None,
    chain: Annotated[
        str | None, typer.Option("--chain", "-c", help="One of the lab's chains; absent: the first.")
    ] = None,
    cpu_ghz: CpuGhz = None,
    cores: Annotated[
        int | None,
        typer.Option("--cores", min=1, max=4096, help="At most so many, the tester's among them."),
    ] = None,
    link: Link = None,
    frame: Frames = None,
    flows: FlowCount = None,
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
            help="Longest P99 of one-way delay at that rate, as queues between areas predict it.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Write the lab file that has the placement there; absent: results/<lab>-<chain>-<time>.yml.",
        ),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Write over the file of --output if it is there.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Find how to run a lab's functions, and on which cores. Says why, with runners-up; writes the lab.

    By the model of `weir model calibrate`: the fewest cores that carry the rate at the lower bound of the
    prediction, then the largest margin. Measures nothing and needs no root. Exit code 1 if nothing carries
    the rate.
    """
    from weir.lab import load_lab
    from weir.planning.model.document import model_of, other_options
    from weir.planning.placement import table
    from weir.planning.placement.answer import answer
    from weir.planning.placement.prediction import on_clock
    from weir.planning.placement.search import Question, Search

    if latency_us is not None and rate is None:
        raise CommandError("--latency-us needs --rate: a delay is one at a load", USAGE)
    machine = _machine(cores)
    most = min(cores or len(machine.cpus), len(machine.cpus))
    loaded = load_lab(lab_path, cpus=machine.cpus, nodes=machine.nodes or None)
    frames = tuple(loaded.traffic.frames if frame is None else (one.strip() for one in frame.split(",")))
    lab = with_traffic(loaded, frames, str(loaded.traffic.flows.count) if flows is None else flows)
    document = load_model(model, any_machine=cpu_ghz is not None)
    require_technology(loaded, document)
    if latency_us is not None and document.technology != "direct":
        raise CommandError(
            f"--latency-us: what waits in the switch of {document.technology} is not in the model; expected "
            "a model of technology: direct",
            USAGE,
        )
    search = Search(
        lab=lab,
        chain=chosen_chain(lab, chain),
        model=on_clock(model_of(document), cpu_ghz),
        machine=machine,
        technology=document.technology,
        question=Question(
            rate_pps=None if rate is None else rate_pps(rate),
            frames=tuple(lab.traffic.frames),
            link_bps=None if link is None else link_bps(link),
            cores=most,
            latency_us=latency_us,
        ),
    )
    target = _target(out, search, force=force)
    with unknown_functions(lab, search.chain):
        found = search.run()
    notices = [*other_options(document, lab, [search.chain]), *changes_since(document)]
    planned = answer(search, found, document, notices).model_copy(update={"written": str(target)})
    _write(target, lab_path, planned, search, found.placements[0], force=force)
    print(planned.model_dump_json(indent=2) + "\n" if as_json else table.render(planned), end="")
    if search.question.rate_pps is not None and not planned.best.carries:
        raise typer.Exit(FAILED)


def _machine(cores: int | None) -> MachineCores:
    """This machine; or one of so many cores, if it has fewer."""
    from weir.fabric.host.cpus import cpus
    from weir.fabric.host.tree import Tree
    from weir.plan.core_pool import MachineCores

    here = machine_cpus()
    if cores is not None and cores > len(here):
        return MachineCores(tuple(range(cores)))
    facts = cpus(Tree())
    return MachineCores(here, facts.siblings, {node.number: node.cpus for node in facts.nodes})


def _target(out: Path | None, search: Search, *, force: bool) -> Path:
    """Where the lab goes. CommandError, before anything is computed, if it cannot go there."""
    from weir.store.files import check_file, check_folder

    if out is None:
        check_folder(RESULTS, "--output")
        return RESULTS / f"{search.lab.name}-{search.chain.name}-{datetime.now(UTC):%Y%m%d-%H%M%S}.yml"
    if out.exists() and not force:
        raise CommandError(f"--output {out}: is there already; --force writes over it", USAGE)
    check_file(out, "--output")
    return out


def _write(
    target: Path, lab_path: Path, planned: LabPlan, search: Search, best: Predicted, *, force: bool
) -> None:
    from weir.lab.load import LAB_FILE
    from weir.plan.lab_text import placed_text
    from weir.store.files import write_file

    placed = search.placed(best.placement)
    text = (lab_path / LAB_FILE if lab_path.is_dir() else lab_path).read_text(encoding="utf-8")
    whole = placed_text(
        text, placed, search.chain.functions, _header(planned), target.parent.absolute().resolve()
    )
    write_file(target, whole, "choose another place with --output", force=force, folders=True)


def _header(planned: LabPlan) -> list[str]:
    from weir.planning.placement.table import figures_text, heading

    model = planned.model
    return [
        f"Made by weir plan: {heading(planned)}.",
        *(f"Predicted: {figures_text(one)}." for one in planned.best.figures),
        f"Model: {model.lab}, {model.created_at}, {model.cpu}, {model.ghz:.2f} GHz.",
    ]
