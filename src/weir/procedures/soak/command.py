# SPDX-License-Identifier: Apache-2.0
"""`weir soak`: load on one chain for hours, looked at every interval."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from weir.cli.exits import INTERRUPTED, USAGE, CommandError, failed, judged
from weir.cli.labfile import (
    LAB_HELP,
    ChainName,
    FrameName,
    Quick,
    TechnologyName,
    Variant,
    Wait,
    chosen_chain,
    chosen_frame,
    chosen_technology,
    here,
    here_named,
    own_cores,
    require_packets,
)
from weir.cli.quantities import seconds
from weir.cli.stored import (
    JsonResult,
    ReportFolder,
    StoreLocation,
    check_reports,
    going_on_after,
    report_folder,
    stored,
    write_reports,
)

if TYPE_CHECKING:
    from rich.console import Console

    from weir.lab import Lab
    from weir.procedures.soak.run import SoakSettings
    from weir.results.result import Result


DURATION, INTERVAL, LOAD = "16h", "10s", "50% PDR"
LONGEST_S = 7 * 24 * 3600.0
SHORTEST_INTERVAL_S = 0.1


def soak(
    lab_path: Annotated[
        Path | None,
        typer.Argument(metavar="LAB", help=LAB_HELP),
    ] = None,
    *,
    duration: Annotated[
        str | None,
        typer.Option(metavar="TIME", help=f"How long the load lasts, 30s to 168h; absent: {DURATION}."),
    ] = None,
    interval: Annotated[
        str | None, typer.Option(metavar="TIME", help=f"How often it is looked at; absent: {INTERVAL}.")
    ] = None,
    rate: Annotated[
        str | None,
        typer.Option(metavar="RATE", help='Load, both directions together: "1.5Mpps", "100Mbit/s" (L2).'),
    ] = None,
    load: Annotated[
        str | None,
        typer.Option(
            metavar="LOAD",
            help=f'Share of a goal, which is searched for first; absent: measure.soak.schedule, or "{LOAD}".',
        ),
    ] = None,
    technology: TechnologyName = None,
    variant: Variant = None,
    chain: ChainName = None,
    frame: FrameName = None,
    resume: Annotated[
        str | None,
        typer.Option(metavar="RUN", help="Go on with this interrupted soak instead; `latest` will do."),
    ] = None,
    quick: Quick = False,
    wait: Wait = False,
    as_json: JsonResult = False,
    output: ReportFolder = None,
    store: StoreLocation = None,
) -> None:
    """Keep one chain under load for hours. Losses, stalls, delays and memory over time."""

    from weir import fabric
    from weir.lab.load import stored_lab
    from weir.procedures.driver import planned
    from weir.procedures.resuming import require_files
    from weir.procedures.soak.progress import SoakProgress
    from weir.procedures.soak.run import SoakCampaign
    from weir.procedures.soak.segment import soak_of
    from weir.report.blocks import new_console
    from weir.store.open_case import OpenCaseStore

    earlier = None
    if resume is not None:
        given = {"duration": duration, "interval": interval, "rate": rate, "load": load}
        given |= {"technology": technology, "variant": variant, "chain": chain, "frame": frame}
        _alone(given)
        earlier = stored(resume, store)
        lab = stored_lab(earlier.spec)
        require_files(earlier, lab)
        _same(lab, lab_path, earlier, quick=quick)
    elif lab_path is None:
        raise CommandError("expected a LAB, or --resume RUN", USAGE)
    else:
        lab, variant = here_named(lab_path, quick=quick, variant=variant)
        require_packets(lab, "weir soak")
    if earlier is not None:
        soaked = [one for one in earlier.setups if soak_of(earlier) in one.cases]
        topologies = [planned(lab, one.technology, chosen_chain(lab, one.chain)) for one in soaked]
    else:
        settings = _settings(
            lab,
            technology=technology,
            variant=variant,
            chain=chain,
            frame=frame,
            load=_load(lab, rate, load),
            times=(duration or DURATION, interval or INTERVAL),
        )
        topologies = [planned(lab, settings.technology, settings.chain)]
    fabric.require_to_measure()
    check_reports(output)
    console = new_console(stderr=as_json)
    with (
        own_cores(topologies, wait=wait),
        OpenCaseStore(store) as database,
        SoakProgress() as progress,
    ):
        mode = earlier.quick if earlier is not None else quick
        kept = report_folder(output)
        campaign = SoakCampaign(lab, quick=mode, store=database, progress=progress, reports=kept)
        with going_on_after(database.name, "weir soak --resume", lambda: campaign.run_id):
            result = campaign.run(settings) if earlier is None else campaign.resume(earlier)
    write_reports(
        result,
        output,
        {"html": "report", "markdown": "report", "json": "result", "csv": "intervals"},
        console,
        as_json=as_json,
        store=store,
    )
    _end(result, store, console)


def _end(result: Result, store: str | None, console: Console) -> None:
    """With the exit code of what came of it."""
    from weir.procedures.soak.segment import soak_of

    case = soak_of(result)
    if result.interrupted:
        there = f" --store {shlex.quote(str(store))}" if store is not None else ""
        on = f"go on: weir soak --resume {result.id}{there}"
        console.print(on if case is not None else "its load had not begun: begin a new one", soft_wrap=True)
        raise typer.Exit(INTERRUPTED)
    if case is None or case.soak is None:
        failed("nothing was soaked")
    if case.soak.faults:
        failed(f"the soak failed: {case.soak.faults[0]}")
    judged(case.verdicts)


def _alone(given: dict[str, str | None]) -> None:
    named = [f"--{name}" for name, value in given.items() if value is not None]
    if named:
        raise CommandError(
            f"--resume goes on with what was asked for then; leave {', '.join(named)} out", USAGE
        )


def _same(lab: Lab, lab_path: Path | None, earlier: Result, *, quick: bool) -> None:
    variant = next((one.variant for one in earlier.setups), None)
    if lab_path is not None and here(lab_path, quick=earlier.quick or quick, variant=variant) != lab:
        raise CommandError(
            f"{lab_path} is not the lab that was soaked: it has changed since; leave LAB out to go on with"
            " the stored one, or begin a new soak",
            USAGE,
        )


def _no_rate(text: str | None) -> CommandError:
    return CommandError(
        f"--rate {text}: expected a rate such as 1.5Mpps or 100Mbit/s; a share of a goal is a --load", USAGE
    )


def _load(lab: Lab, rate: str | None, load: str | None) -> str | None:
    """None: the lab's schedule."""
    from weir.lab.delay import load_of

    if rate is None and load is None and lab.measure.soak.schedule:
        return None

    if rate is not None and load is not None:
        raise CommandError("--rate and --load are two ways to say one thing; give one of them", USAGE)
    name, text = ("--rate", rate) if rate is not None else ("--load", load or LOAD)
    try:
        found = load_of(text or LOAD)
    except ValueError as error:
        if name == "--rate":
            raise _no_rate(text) from error
        raise CommandError(f"{name} {error}", USAGE) from error
    if name == "--rate" and found.goal is not None:
        raise _no_rate(text)
    known = [goal.name for goal in lab.measure.goals]
    if found.goal is not None and found.goal not in known:
        raise CommandError(
            f"{name} {text}: the lab has no goal {found.goal}; it has {', '.join(known)}", USAGE
        )
    return found.text


def _settings(
    lab: Lab,
    *,
    technology: str | None,
    variant: str | None,
    chain: str | None,
    frame: str | None,
    load: str | None,
    times: tuple[str, str],
) -> SoakSettings:
    from weir.procedures.soak.run import SoakSettings
    from weir.procedures.soak.schedule import complaint

    interval_s = seconds("--interval", times[1], SHORTEST_INTERVAL_S, 3600.0)
    duration_s = seconds("--duration", times[0], 3 * interval_s, LONGEST_S, why=" (three intervals)")
    wrong = complaint(lab.measure.soak.schedule, duration_s, interval_s) if load is None else None
    if wrong is not None:
        raise CommandError(
            f"measure.soak.schedule: {wrong}; change its steps, --duration or --interval", USAGE
        )
    return SoakSettings(
        technology=chosen_technology(lab, technology),
        variant=variant,
        chain=chosen_chain(lab, chain),
        frame=chosen_frame(lab, frame),
        load=load,
        duration_s=duration_s,
        interval_s=interval_s,
    )
