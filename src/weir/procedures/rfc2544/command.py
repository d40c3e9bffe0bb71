# SPDX-License-Identifier: Apache-2.0
"""`weir rfc2544`: the procedures of RFC 2544, 6201 and 9004 on each built chain, with their reports."""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING, Annotated

import typer

from weir.cli.exits import INTERRUPTED, USAGE, CommandError, failed
from weir.cli.labfile import (
    Chains,
    LabPath,
    Part,
    Technologies,
    Variants,
    Wait,
    compared_here,
    own_cores,
    require_any_possible,
    require_packets,
)
from weir.cli.stored import (
    JsonResult,
    ReportFolder,
    StoreLocation,
    check_reports,
    report_folder,
    write_reports,
)

if TYPE_CHECKING:
    from weir.lab import Lab
    from weir.lab.rfc2544 import Rfc2544Options
    from weir.results.result import Result


ALL = "all"


def rfc2544(
    lab_path: LabPath,
    *,
    test: Annotated[
        list[str] | None,
        typer.Option(
            "--test",
            help="throughput, latency, frame-loss, back-to-back, recovery, reset, or all; may be repeated. "
            "Absent: what the lab's measure.rfc2544 says, all of them by default.",
        ),
    ] = None,
    frame: Annotated[
        list[str] | None,
        typer.Option(
            "--frame",
            help="Frame size or IMIX genome, may be repeated; or standard: those of RFC 2544 9.1, and a mix. "
            "Absent: the lab's.",
        ),
    ] = None,
    technology: Technologies = None,
    variant: Variants = None,
    chain: Chains = None,
    quick: Annotated[
        bool,
        typer.Option(
            "--quick",
            help="Short trials, few repeats, and the lab's `quick` part: minutes instead of hours. "
            "The report says where that does not conform.",
        ),
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be measured, and about how long it takes.")
    ] = False,
    wait: Wait = False,
    as_json: JsonResult = False,
    output: ReportFolder = None,
    store: StoreLocation = None,
) -> None:
    """Measure a lab as RFC 2544, 6201 and 9004 say. Throughput, latency, loss, bursts, recovery, reset."""

    from weir.cli.progress import Progress
    from weir.fabric.reset import resets
    from weir.procedures.campaign import Campaign
    from weir.procedures.driver import all_planned
    from weir.procedures.rfc2544.measure import expected_s, measure_rfc2544
    from weir.procedures.rfc2544.recovery import NOTHING
    from weir.report import numbers
    from weir.report.blocks import new_console
    from weir.store.store import Store
    from weir.technology import TECHNOLOGIES

    lab, compared = Part(technology, variant, chain).of(*compared_here(lab_path, quick=quick))
    require_packets(lab, "weir rfc2544")
    options = chosen_options(lab, test, frame, quick=quick)
    lab, compared = (
        _with(lab, options),
        tuple(dataclasses.replace(one, lab=_with(one.lab, options)) for one in compared),
    )
    resettable = [TECHNOLOGIES[way.technology].switch != "none" for way in compared for _ in way.lab.chains()]
    if options.tests == ("reset",) and not any(resettable):
        raise CommandError(
            f"nothing can be reset in {lab_path}: {NOTHING}; add one of them to its `technology`", USAGE
        )
    setups = [f"{way.name} {chain.name}" for way in compared for chain in way.lab.chains()]
    frames = [str(one) for one in lab.traffic.frames]
    takes_s = expected_s(options, len(frames), resettable)
    takes = f"expected to take about {numbers.seconds(takes_s)}"
    if dry_run and as_json:
        planned = {"tests": options.tests, "setups": setups, "frames": frames, "expected_s": takes_s}
        print(json.dumps(planned, indent=2))
        return
    if dry_run:
        print(f"{', '.join(options.tests)} of each of these, with frames of {', '.join(frames)}:")
        print("\n".join([*(f"  {one}" for one in setups), takes]))
        return
    require_any_possible(compared)
    check_reports(output)
    console = new_console(stderr=as_json)
    with (
        own_cores(all_planned(compared), wait=wait),
        Store(store) as database,
        Progress() as progress,
    ):
        progress.say(takes)
        campaign = Campaign(
            lab,
            compared,
            quick=quick,
            store=database,
            progress=progress,
            measuring=measure_rfc2544,
            resets=resets,
            reports=report_folder(output),
        )
        result = campaign.run()
    write_reports(
        result,
        output,
        {"html": "report", "markdown": "report", "json": "result", "rfc2544": "rfc2544"},
        console,
        as_json=as_json,
        store=store,
        shown="rfc2544",
    )
    if result.interrupted:
        raise typer.Exit(INTERRUPTED)
    if not any(_answered(result)):
        failed("no procedure has an answer")


def chosen_options(
    lab: Lab, tests: list[str] | None, frames: list[str] | None, *, quick: bool
) -> Rfc2544Options:
    """The lab's, with what the command line says instead. CommandError for names that there are not."""
    from pydantic import ValidationError

    from weir.lab.problem import did_you_mean
    from weir.lab.rfc2544 import STANDARD, TESTS, Rfc2544Options

    options = lab.measure.rfc2544
    given = options.model_dump(exclude_unset=True)
    if tests:
        for name in tests:
            if name not in (*TESTS, ALL):
                known = ", ".join((*TESTS, ALL))
                raise CommandError(
                    f"unknown --test {name!r}; known: {known}{did_you_mean(name, (*TESTS, ALL))}", USAGE
                )
        given["tests"] = TESTS if ALL in tests else tuple(name for name in TESTS if name in tests)
    if frames:
        given["frames"] = STANDARD if STANDARD in frames else tuple(dict.fromkeys(frames))
    try:
        options = Rfc2544Options.model_validate(given)
    except ValidationError as error:
        first = error.errors()[0]
        raise CommandError(f"--frame: {first['msg'].removeprefix('Value error, ')}", USAGE) from error
    return options.shortened() if quick else options


def _with(lab: Lab, options: Rfc2544Options) -> Lab:
    """Measured once, with the procedures' frame sizes if they have their own."""
    measure = lab.measure.model_copy(update={"rfc2544": options, "rounds": 1})
    from weir.lab.frames import CAPTURE

    frames = options.sizes(lab.traffic.frames)
    if CAPTURE in frames:
        raise CommandError(
            "RFC 2544 asks for frame sizes, and the lab sends a capture: name sizes with --frame", USAGE
        )
    traffic = lab.traffic.model_copy(update={"frames": frames})
    return lab.model_copy(update={"measure": measure, "traffic": traffic})


def _answered(result: Result) -> list[bool]:
    """For each test of each frame size whether it has a number."""
    reports = [(case, case.rfc2544) for _, case in result.cases() if case.rfc2544]
    return [
        answer
        for case, report in reports
        for answer in (
            any(one.load_pps is not None for one in case.throughput),
            bool(report.latency and report.latency.directions),
            bool(report.frame_loss and any(step.loss_ratio is not None for step in report.frame_loss.steps)),
            bool(report.back_to_back and report.back_to_back.average_frames is not None),
            bool(report.recovery and report.recovery.times_s),
            any(reset.by_loss_s for reset in report.resets),
        )
    ]
