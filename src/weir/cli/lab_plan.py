# SPDX-License-Identifier: Apache-2.0
"""`weir plan LAB`: how to run a lab's chain, and on which cores, so that it carries a rate."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from weir.cli.exits import ENVIRONMENT, FAILED, USAGE, CommandError
from weir.cli.labfile import chosen_chain, machine_cpus
from weir.cli.quantities import link_bps, rate_pps

if TYPE_CHECKING:
    from weir.jobs.placing import Predicted, Search
    from weir.lab.lab_plan import LabPlan
    from weir.plan.core_pool import MachineCores

TAKES = frozenset(
    {
        "model",
        "chain",
        "rate",
        "frame",
        "flows",
        "cores",
        "cpu_ghz",
        "link",
        "latency_us",
        "out",
        "force",
        "as_json",
    }
)


def plan(
    lab_path: Path,
    *,
    model: str | None,
    chain: str | None,
    rate: str | None,
    frame: str | None,
    flows: str | None,
    cores: int | None,
    cpu_ghz: float | None,
    link: str | None,
    latency_us: float | None,
    out: Path | None,
    force: bool,
    as_json: bool,
) -> None:
    """Prints the best placement, and writes the lab that has it. Exit code 1 if nothing carries the rate."""
    from weir.cli.lab_model import model_here, remarks, require_technology, with_traffic
    from weir.jobs.cost_model import model_of, other_options
    from weir.jobs.placing import NoCoreError, Question, Search
    from weir.jobs.placing_answer import answer
    from weir.lab import load_lab
    from weir.report import plan_table

    if latency_us is not None and rate is None:
        raise CommandError("--latency-us needs --rate: a delay is one at a load", USAGE)
    machine = _machine(cores)
    most = min(cores or len(machine.cpus), len(machine.cpus))
    loaded = load_lab(lab_path, cpus=machine.cpus, nodes=machine.nodes or None)
    frames = tuple(loaded.traffic.frames if frame is None else (one.strip() for one in frame.split(",")))
    lab = with_traffic(loaded, frames, str(loaded.traffic.flows.count) if flows is None else flows)
    document = model_here(None if model is None else Path(model), elsewhere=cpu_ghz is not None)
    require_technology(loaded, document)
    if latency_us is not None and document.technology != "direct":
        raise CommandError(
            f"--latency-us: what waits in the switch of {document.technology} is not in the model; expected "
            "a model of technology: direct",
            USAGE,
        )
    costs = model_of(document)
    search = Search(
        lab=lab,
        chain=chosen_chain(lab, chain),
        model=costs if cpu_ghz is None else replace(costs, hz=cpu_ghz * 1e9),
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
    try:
        found = search.run()
    except NoCoreError as error:
        raise CommandError(f"{lab.name} {search.chain.name}: {error}", USAGE) from None
    except ValueError as error:
        hint = "calibrate a lab that has them"
        raise CommandError(f"{lab.name} {search.chain.name}: {error}; {hint}", USAGE) from None
    notices = [*other_options(document, lab, [search.chain]), *remarks(document)]
    said = answer(search, found, document, notices).model_copy(update={"written": str(target)})
    _write(target, lab_path, said, search, found.placements[0], force=force)
    print(said.model_dump_json(indent=2) + "\n" if as_json else plan_table.render(said), end="")
    if search.question.rate_pps is not None and not said.best.carries:
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
    if out is None:
        return (
            Path("results") / f"{search.lab.name}-{search.chain.name}-{datetime.now(UTC):%Y%m%d-%H%M%S}.yml"
        )
    if out.exists() and not force:
        raise CommandError(f"--out {out}: is there already; --force writes over it", USAGE)
    if not out.parent.is_dir():
        raise CommandError(f"--out {out}: there is no directory {out.parent}", USAGE)
    return out


def _write(
    target: Path, lab_path: Path, said: LabPlan, search: Search, best: Predicted, *, force: bool
) -> None:
    from weir.lab.load import LAB_FILE
    from weir.plan.lab_text import placed_text

    placed = search.placed(best.placement)
    text = (lab_path / LAB_FILE if lab_path.is_dir() else lab_path).read_text(encoding="utf-8")
    whole = placed_text(
        text, placed, search.chain.functions, _header(said), target.parent.absolute().resolve()
    )
    try:
        target.parent.mkdir(exist_ok=True)
        with target.open("w" if force else "x", encoding="utf-8") as file:
            file.write(whole)
    except OSError as error:
        raise CommandError(f"{target}: {error.strerror}; --out names another file", ENVIRONMENT) from None


def _header(said: LabPlan) -> list[str]:
    from weir.report.plan_table import figures_text, heading

    model = said.model
    return [
        f"Made by weir plan: {heading(said)}.",
        *(f"Predicted: {figures_text(one)}." for one in said.best.figures),
        f"Model: {model.lab}, {model.created_at}, {model.cpu}, {model.ghz:.2f} GHz.",
    ]
