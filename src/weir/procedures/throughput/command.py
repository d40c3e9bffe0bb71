# SPDX-License-Identifier: Apache-2.0
"""`weir run`: the main job. Builds each chain under each technology, measures it, reports it."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from weir.cli.exits import USAGE, CommandError, judged_runs
from weir.cli.labfile import (
    LAB_HELP,
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
from weir.cli.measured import Measured
from weir.cli.quantities import SEED_MOST, seconds
from weir.cli.stored import (
    GO_ON,
    JsonResult,
    ReportFolder,
    StoreLocation,
    check_reports,
    going_on_after,
    point_on,
    report_folder,
    stored,
    write_reports,
)
from weir.procedures.order import Asked
from weir.procedures.throughput.expected_command import expected
from weir.procedures.throughput.planned import Planned
from weir.procedures.throughput.planned_command import json_planned, order_text, planned

if TYPE_CHECKING:
    from weir.lab import Lab
    from weir.store.store import Store


STEMS = {"html": "report", "markdown": "report", "json": "result", "csv": "throughput"}
"""Of the reports of a run, by format."""
DURATION_LEAST_S = 0.01
BUDGET_LEAST_S, BUDGET_MOST_S = 10.0, 7 * 24 * 3600.0
REPEAT_MOST = 100
SEEDS = 1_000_000
"""Of orders that are drawn: short enough to be typed again."""


def run(
    lab_path: Annotated[
        Path | None,
        typer.Argument(metavar="LAB", help=LAB_HELP),
    ] = None,
    *,
    technology: Technologies = None,
    variant: Variants = None,
    chain: Chains = None,
    frame: Frames = None,
    quick: Quick = False,
    rate: Annotated[
        list[str] | None,
        typer.Option(
            metavar="RATE",
            help='Search for nothing: send this, both directions together ("1.5Mpps", "100Mbit/s" of L2), '
            "and say what was lost and how late the rest was; may be repeated.",
        ),
    ] = None,
    duration: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="How long each --rate is sent, 10ms to 168h; absent: 10s."),
    ] = None,
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
            min=0, max=SEED_MOST, metavar="SEED", help="Shuffle as that seed does; absent: one is drawn."
        ),
    ] = None,
    budget: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="Begin nothing that would take the run beyond this, 10s to 168h: each case twice, then "
            "what is known least exactly; with --on round by round. Absent: as long as it takes.",
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
            help="Measure on the hosts of that Ray cluster: HOST:PORT, auto, or ray://HOST:PORT of a client "
            "server; absent: on this machine.",
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
    from weir.procedures.campaign import campaign_class
    from weir.procedures.driver import all_planned
    from weir.report.blocks import new_console
    from weir.store.store import Store

    of_chains = {"--technology": technology, "--variant": variant, "--chain": chain, "--frame": frame}
    of_new = {"--rate": rate, "--duration": duration, "--repeat": repeat}
    of_new |= {"--shuffle": shuffle or None, "--shuffle-seed": shuffle_seed}
    budget_s = None if budget is None else seconds("--budget", budget, BUDGET_LEAST_S, BUDGET_MOST_S)
    how = Measured(
        repeat,
        tuple(rate or ()),
        None if duration is None else seconds("--duration", duration, DURATION_LEAST_S, BUDGET_MOST_S),
    )
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
            how=how, quick=quick, dry_run=dry_run, as_json=as_json, output=output, store=store,
        )  # fmt: skip
        return
    if resume is not None:
        plan = _resumed(resume, lab_path, budget_s, store)
    else:
        part = Part(technology, variant, chain, frame)
        plan = _new(lab_path, part, how, Asked(seed, budget_s), quick=quick)
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
        kept = report_folder(output)
        campaign = campaign_class(lab)(
            lab, compared,
            quick=quick or plan.quick, store=database, progress=progress, reports=kept, asked=plan.asked,
        )  # fmt: skip
        with going_on_after(database.name, GO_ON, lambda: campaign.run_id):
            result = campaign.run()
    write_reports(result, output, stems(lab), console, as_json=as_json, store=store)
    point_on(result, console, store)
    judged_runs(lab, [result])


def stems(lab: Lab) -> dict[str, str]:
    """Of the reports of a run, by format."""
    return STEMS if lab.measure.goals else STEMS | {"csv": "latency"}


def _first_lines(plan: Planned, database: Store) -> Iterator[str]:
    """What a run says before it begins."""
    from weir.base.record import spec_sha256
    from weir.procedures.stored_result import seconds_before

    if plan.asked.resumed is None:
        found = database.unfinished_of(spec_sha256(plan.lab))
        if found is not None and found.state != "measured":
            how = {"killed": "was killed", "unknown": "was killed, or is still measured"}[found.state]
            on = " --on …" if found.on_hosts else ""
            yield f"run {found.id} of this lab {how}: `{GO_ON} {found.id}{on}`"
        yield from order_text(plan)
    yield expected(plan, seconds_before(database, plan.lab))


def _new(lab_path: Path | None, part: Part, how: Measured, asked: Asked, *, quick: bool) -> Planned:
    if lab_path is None:
        raise CommandError("expected a LAB, or --resume RUN", USAGE)
    lab, compared = how.of(*part.of(*compared_here(lab_path, quick=quick)))
    return Planned(lab, compared, asked, repeated=how.rounds is not None)


def _refuse(given: Mapping[str, object], why: str) -> None:
    named = [name for name, value in given.items() if value is not None]
    if named:
        raise CommandError(f"{', '.join(named)}: {why}; leave it out", USAGE)


def _resumed(run: str, lab_path: Path | None, budget_s: float | None, store: str | None) -> Planned:
    """What is left of a stored run. CommandError, ResumeError."""
    from weir.lab.load import stored_lab
    from weir.procedures.resuming import (
        budget_left_s,
        campaign_of,
        require_files,
        require_same,
        require_same_machine,
    )
    from weir.results.rounds import rounds_measured

    result = stored(run, store)
    record = campaign_of(result)
    if record.shared is not None:
        raise CommandError(
            f"run {result.id} is one host's part of a campaign over several: go on with `{GO_ON} {result.id} "
            "--on HOST:PORT`",
            USAGE,
        )
    seed = record.seed
    require_same_machine(result)
    lab = stored_lab(result.spec)
    if lab.hosts is not None:
        raise CommandError(f"the chains of run {result.id} span hosts: say with --on which cluster's", USAGE)
    if lab_path is not None:
        whole, compared = compared_here(lab_path, quick=result.quick)
        if whole.name == lab.name:
            frames, chains = map(str, lab.traffic.frames), (one.name for one in lab.chains())
            part = Part(lab.technology, list(lab.variants) or None, list(chains), list(frames))
            try:
                whole, compared = Measured.as_in(lab, whole).of(*part.of(whole, compared))
            except CommandError as error:
                message = f"{lab_path} has changed since run {result.id} began: {error}"
                raise CommandError(message, USAGE) from error
        require_same(result, whole, str(lab_path))
    else:
        compared = ways_here(lab)
    require_files(result, lab)
    asked = Asked(seed, budget_left_s(result, budget_s), result.id)
    return Planned(lab, compared, asked, rounds_measured([result]), quick=result.quick)


def _before(lab: Lab, location: str | None) -> Sequence[float]:
    """What earlier runs took; none where there is no store yet, or it may not be read."""
    from weir.procedures.stored_result import seconds_before
    from weir.store.connection import StoreError
    from weir.store.store import Store

    try:
        with Store(location, reading=True) as database:
            return seconds_before(database, lab)
    except StoreError:
        return ()
