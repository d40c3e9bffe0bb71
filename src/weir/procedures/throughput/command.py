# SPDX-License-Identifier: Apache-2.0
"""`weir run`: the main job. Builds each chain under each technology, measures it, reports it."""

from __future__ import annotations

import dataclasses
import secrets
import shlex
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from weir.cli.exits import INTERRUPTED, USAGE, CommandError, failed, judged
from weir.cli.labfile import (
    Chains,
    Frames,
    Part,
    Quick,
    Technologies,
    Variants,
    Wait,
    compared_here,
    own_cores,
    require_any_possible,
    ways_here,
)
from weir.cli.quantities import seconds
from weir.cli.stored import (
    JsonResult,
    ReportFolder,
    StoreLocation,
    check_reports,
    report_folder,
    stored,
    write_reports,
)
from weir.procedures.throughput.expected_command import Planned, expected, json_planned, order_text, planned

if TYPE_CHECKING:
    from rich.console import Console

    from weir.lab import Lab
    from weir.lab.ways import Way
    from weir.procedures.campaign import Asked
    from weir.results.result import Case, Result
    from weir.store.store import Store


GO_ON = "weir run --resume"
BUDGET_LEAST_S, BUDGET_MOST_S = 10.0, 7 * 24 * 3600.0
REPEAT_MOST = 100
SEEDS = 1_000_000
"""Of orders that are drawn: short enough to be typed again."""


def run(
    lab_path: Annotated[
        Path | None,
        typer.Argument(metavar="LAB", help="A lab file, or a directory that holds one as lab.yml."),
    ] = None,
    *,
    technology: Technologies = None,
    variant: Variants = None,
    chain: Chains = None,
    frame: Frames = None,
    quick: Quick = False,
    repeat: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=REPEAT_MOST,
            metavar="N",
            help="Build and measure everything in so many rounds; absent: the lab's measure.rounds.",
        ),
    ] = None,
    shuffle: Annotated[
        bool, typer.Option("--shuffle", help="Each round in a random order, instead of there and back.")
    ] = False,
    shuffle_seed: Annotated[
        int | None,
        typer.Option(
            min=0, max=2**63 - 1, metavar="SEED", help="Shuffle as that seed does; absent: one is drawn."
        ),
    ] = None,
    budget: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="Begin nothing that would take the run beyond this, 10s to 168h: each case twice, then "
            "what is known least exactly. Absent: as long as it takes.",
        ),
    ] = None,
    resume: Annotated[
        str | None,
        typer.Option(metavar="RUN", help="Go on with this interrupted run instead; `latest` will do."),
    ] = None,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run", help="Show what would be measured, in which order, and about how long it takes."
        ),
    ] = False,
    on: Annotated[
        str | None,
        typer.Option(
            "--on",
            metavar="ADDRESS",
            help="Measure on the hosts of a Ray cluster, ray://HOST:10001; absent: on this machine.",
        ),
    ] = None,
    as_json: JsonResult = False,
    wait: Wait = False,
    output: ReportFolder = None,
    store: StoreLocation = None,
) -> None:
    """Measure a lab, then report. NDR, PDR and a loss curve for each technology, chain and frame size."""

    from weir.cli.progress import Progress
    from weir.lab.of_tenants import has_tenants
    from weir.procedures.campaign import Asked, Campaign, own_campaign
    from weir.procedures.driver import all_planned
    from weir.report.blocks import new_console
    from weir.store.store import Store

    of_chains = {"--technology": technology, "--variant": variant, "--chain": chain, "--frame": frame}
    of_new = {"--repeat": repeat, "--shuffle": shuffle or None, "--shuffle-seed": shuffle_seed}
    budget_s = None if budget is None else seconds("--budget", budget, BUDGET_LEAST_S, BUDGET_MOST_S)
    if lab_path is not None and has_tenants(lab_path):
        _refuse(
            of_new | {"--budget": budget, "--resume": resume, "--on": on},
            "is of chains, and the lab has tenants",
        )
        import_module("weir.procedures.tenants.command").run_tenants(
            lab_path, of_chains,
            quick=quick, dry_run=dry_run, as_json=as_json, wait=wait, output=output, store=store,
        )  # fmt: skip
        return
    console = new_console(stderr=as_json)
    if resume is not None:
        given = of_chains | of_new | {"--quick": quick or None}
        _refuse(given, "was said when the run began, and --resume goes on with that")
    seed = secrets.randbelow(SEEDS) if shuffle and shuffle_seed is None else shuffle_seed
    if on is not None:
        _refuse({"--wait": wait or None}, "is of this machine, and --on measures on others")
        import_module("weir.procedures.throughput.hosts_command").run_on_hosts(
            on, lab_path, Part(technology, variant, chain, frame), Asked(seed, budget_s, resume),
            repeat=repeat, quick=quick, dry_run=dry_run, as_json=as_json, output=output, store=store,
        )  # fmt: skip
        return
    if resume is not None:
        plan = _resumed(resume, lab_path, budget_s, store)
    else:
        part = Part(technology, variant, chain, frame)
        plan = _new(lab_path, part, repeat, Asked(seed, budget_s), quick=quick)
    lab, compared = plan.lab, plan.compared
    if dry_run:
        before = _before(lab, store)
        print(json_planned(plan, before) if as_json else planned(plan, before))
        return
    require_any_possible(compared)
    check_reports(output)
    with (
        own_cores(all_planned(compared), wait=wait),
        Store(store) as database,
        Progress() as progress,
    ):
        for line in _first_lines(plan, database):
            progress.say(line)
        own = own_campaign(lab)
        makes = own.CAMPAIGN if own is not None else Campaign
        kept = report_folder(output)
        result = makes(
            lab, compared,
            quick=quick or plan.quick, store=database, progress=progress, reports=kept, asked=plan.asked,
        ).run()  # fmt: skip
    stems = {"html": "report", "markdown": "report", "json": "result", "csv": "throughput"}
    write_reports(result, output, stems, console, as_json=as_json, store=store)
    _point_on(result, console, store)
    judge(lab, [result], own)


def _point_on(result: Result, console: Console, store: str | None) -> None:
    """To how a run goes on that has left something out."""
    if result.campaign is not None and result.campaign.left_out:
        place = f" --store {shlex.quote(store)}" if store is not None else ""
        more = " --budget TIME" if result.campaign.budget_s is not None and not result.interrupted else ""
        console.print(f"go on: {GO_ON} {result.id}{place}{more}", soft_wrap=True, markup=False)


def judge(lab: Lab, results: Sequence[Result], own: Any) -> None:
    """Ends the command with the exit code of its result, or of those of several hosts. `own`: the module of
    its own procedure, if any."""
    if any(result.interrupted for result in results):
        raise typer.Exit(INTERRUPTED)
    cases = [case for result in results for _, case in result.cases()]
    if own is not None:
        name = own.__name__.split(".")[-2]
        lacking = own.nothing_found([case.records.get(name, {}) for case in cases])
        if lacking is not None:
            failed(f"{lacking}{_because(cases)}")
        return
    found = any(one.status == "found" for case in cases for one in case.throughput)
    timed = any(trial.valid for case in cases for point in case.delays for trial in point.trials)
    if not found and (lab.measure.goals or not timed):
        lacking = "no case has a rate" if lab.measure.goals else "no delay was measured"
        failed(f"{lacking}{_because(cases)}")
    judged([one for case in cases for one in case.verdicts])


def _first_lines(plan: Planned, database: Store) -> Iterator[str]:
    """What a run says before it begins."""
    from weir.base.record import spec_sha256
    from weir.procedures.stored_result import seconds_before

    if plan.asked.resumed is None:
        killed = database.unfinished_of(spec_sha256(plan.lab))
        if killed is not None:
            yield f"run {killed} of this lab was killed, or is still measured: `{GO_ON} {killed}`"
        yield from order_text(plan)
    yield expected(plan, seconds_before(database, plan.lab))


def _new(lab_path: Path | None, part: Part, repeat: int | None, asked: Asked, *, quick: bool) -> Planned:
    if lab_path is None:
        raise CommandError("expected a LAB, or --resume RUN", USAGE)
    lab, compared = repeated_lab(*part.of(*compared_here(lab_path, quick=quick)), repeat)
    return Planned(lab, compared, asked, repeated=repeat is not None)


def _refuse(given: Mapping[str, object], why: str) -> None:
    named = [name for name, value in given.items() if value is not None]
    if named:
        raise CommandError(f"{', '.join(named)}: {why}; leave it away", USAGE)


def repeated_lab(lab: Lab, compared: Sequence[Way], rounds: int | None) -> tuple[Lab, tuple[Way, ...]]:
    """In so many rounds; CommandError for traffic that is measured in one."""
    from weir.lab.traffic_check import traffic_complaints

    if rounds is None:
        return lab, tuple(compared)

    def repeated(one: Lab) -> Lab:
        return one.model_copy(update={"measure": one.measure.model_copy(update={"rounds": rounds})})

    for complaint in traffic_complaints(repeated(lab)):
        if complaint.path == ("measure", "rounds"):
            message = f"--repeat {rounds}: measure.rounds {complaint.message}; expected {complaint.expected}"
            raise CommandError(message, USAGE)
    return repeated(lab), tuple(dataclasses.replace(way, lab=repeated(way.lab)) for way in compared)


def _resumed(run: str, lab_path: Path | None, budget_s: float | None, store: str | None) -> Planned:
    """What is left of a stored run. CommandError, ResumeError."""
    from weir.procedures.campaign import Asked
    from weir.procedures.resuming import (
        budget_left_s,
        campaign_of,
        measured,
        require_same,
        require_same_machine,
    )
    from weir.procedures.stored_result import stored_lab

    result = stored(run, store)
    seed = campaign_of(result).seed
    require_same_machine(result)
    lab = stored_lab(result)
    if lab_path is not None:
        whole, compared = compared_here(lab_path, quick=result.quick)
        if whole.name == lab.name:
            frames, chains = map(str, lab.traffic.frames), (one.name for one in lab.chains())
            part = Part(lab.technology, list(lab.variants) or None, list(chains), list(frames))
            try:
                whole, compared = repeated_lab(*part.of(whole, compared), lab.measure.rounds)
            except CommandError as error:
                message = f"{lab_path} has changed since run {result.id} began: {error}"
                raise CommandError(message, USAGE) from error
        require_same(result, whole, str(lab_path))
    else:
        compared = ways_here(lab)
    asked = Asked(seed, budget_left_s(result, budget_s), result.id)
    return Planned(lab, compared, asked, measured(result), quick=result.quick)


def _because(cases: Sequence[Case]) -> str:
    """Why the first of those was given up that were."""
    return next((f": {case.problem}" for case in cases if case.problem is not None), "")


def _before(lab: Lab, location: str | None) -> Sequence[float]:
    """What earlier runs took; none where there is no store yet, or it may not be read."""
    from weir.procedures.stored_result import seconds_before
    from weir.store.database import StoreError
    from weir.store.store import Store

    try:
        with Store(location, reading=True) as database:
            return seconds_before(database, lab)
    except StoreError:
        return ()
