# SPDX-License-Identifier: Apache-2.0
"""`weir run`: the main job. Builds each chain under each technology, measures it, reports it."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Any

import typer

from weir.cli.exits import INTERRUPTED, failed, judged
from weir.cli.labfile import (
    Chains,
    Frames,
    LabPath,
    Part,
    Quick,
    Technologies,
    Variants,
    Wait,
    compared_here,
    own_cores,
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
    from weir.lab.ways import Way
    from weir.results.result import Case


SPREAD = 1.3
"""By how much a run may take longer, or shorter, than one before it."""
CONNECTION_TRIALS = 15
"""Of a search for a goal of connections, about."""
SHORTEST = 0.45
"""Of what all trials of connections would take if none were spared."""
BUSY = 0.5
"""Load average from which others' programs are named beside the time that is expected."""


def run(
    lab_path: LabPath,
    *,
    technology: Technologies = None,
    variant: Variants = None,
    chain: Chains = None,
    frame: Frames = None,
    quick: Quick = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would be measured, and about how long it takes.")
    ] = False,
    as_json: JsonResult = False,
    wait: Wait = False,
    output: ReportFolder = None,
    store: StoreLocation = None,
) -> None:
    """Measure a lab, then report. NDR, PDR and a loss curve for each technology, chain and frame size."""

    from weir import fabric
    from weir.cli.progress import Progress
    from weir.lab.of_tenants import has_tenants
    from weir.procedures.campaign import Campaign
    from weir.procedures.driver import all_planned
    from weir.procedures.stored_result import seconds_before
    from weir.report.blocks import new_console
    from weir.store.store import Store

    if has_tenants(lab_path):
        chosen = {"--technology": technology, "--variant": variant, "--chain": chain, "--frame": frame}
        import_module("weir.procedures.tenants.command").run_tenants(
            lab_path, chosen,
            quick=quick, dry_run=dry_run, as_json=as_json, wait=wait, output=output, store=store,
        )  # fmt: skip
        return
    console = new_console(stderr=as_json)
    part = Part(technology, variant, chain, frame)
    lab, compared = part.of(*compared_here(lab_path, quick=quick))
    if dry_run:
        before = _before(lab, store)
        print(_json_planned(lab, compared, before) if as_json else _planned(lab, compared, before))
        return
    fabric.require_root()
    check_reports(output)
    with (
        own_cores(all_planned(compared), wait=wait),
        Store(store) as database,
        Progress() as progress,
    ):
        progress.say(_expected(lab, compared, seconds_before(database, lab)))
        own = _own_campaign(lab)
        makes = own.CAMPAIGN if own is not None else Campaign
        kept = report_folder(output)
        result = makes(lab, compared, quick=quick, store=database, progress=progress, reports=kept).run()
    stems = {"html": "report", "markdown": "report", "json": "result", "csv": "throughput"}
    write_reports(result, output, stems, console, as_json=as_json, store=store)
    if result.interrupted:
        raise typer.Exit(INTERRUPTED)
    cases = [case for _, case in result.cases()]
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
    judged([one for _, case in result.cases() for one in case.verdicts])


def _own_campaign(lab: Lab) -> Any:
    """The module of the procedure that measures such traffic in its own way; None: rates are searched."""
    capture = lab.traffic.capture
    asked = {"connections": lab.traffic.connections, "replay": capture.replay if capture else None}
    name = next((name for name, wanted in asked.items() if wanted is not None), None)
    return import_module(f"weir.procedures.{name}.campaign") if name is not None else None


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


def _planned(lab: Lab, compared: Sequence[Way], before: Sequence[float]) -> str:
    from weir.procedures.driver import refused

    frames = ", ".join(str(frame) for frame in lab.traffic.frames)
    lines = [f"{lab.title or lab.name}: nothing was measured; of each, with frames of {frames}:"]
    whys = {(way.name, chain.name): refused(way, chain) for way in compared for chain in way.lab.chains()}
    reasons = set(whys.values())
    same = reasons.pop() if len(reasons) == 1 else None
    for (way_name, chain_name), why in whys.items():
        own = f"  left out here: {why}" if why is not None and same is None else ""
        lines.append(f"  {way_name} {chain_name}{own}")
    lines += [f"all are left out here: {same}"] if same is not None else []
    return "\n".join([*lines, _expected(lab, compared, before)])


def _json_planned(lab: Lab, compared: Sequence[Way], before: Sequence[float]) -> str:
    from weir.procedures.driver import refused

    return json.dumps(
        {
            "lab": lab.name,
            "baseline": lab.baseline,
            "frames": [str(frame) for frame in lab.traffic.frames],
            "setups": [
                {
                    "name": way.name,
                    "technology": way.technology,
                    "chain": chain.name,
                    "refused": refused(way, chain),
                }
                for way in compared
                for chain in way.lab.chains()
            ],
            "expected_s": round(_expected_s(lab, compared)),
            "expected_range_s": [round(one) for one in range_s(lab, compared, before)],
        },
        indent=2,
    )


def _connections_s(lab: Lab) -> float | None:
    """Of a case of connections, if none of its trials is spared; None: it is of packets."""
    if (wanted := lab.traffic.connections) is None:
        return None
    return lab.measure.repeats * len(wanted.goals) * CONNECTION_TRIALS * wanted.trial_s


def _expected_s(lab: Lab, compared: Sequence[Way], *, steady: bool = False) -> float:
    """Of the lab on a quiet machine, without what is measured again. `steady`: where searches are short."""
    from weir.measure.experiment import DECIDING_FEWEST, DECIDING_MOST, expected_s

    ways = [way for way in compared if way.refused is None]
    each = len(lab.traffic.frames) * lab.measure.rounds
    cases = [len(way.lab.chains()) * each for way in ways]
    if (each_s := _connections_s(lab)) is not None:
        return each_s * (SHORTEST * SPREAD if steady else 1.0) * sum(cases)
    loads = DECIDING_FEWEST if steady else DECIDING_MOST
    every = zip(ways, cases, strict=True)
    return sum(expected_s(way.lab.measure, loads) * count for way, count in every)


def range_s(lab: Lab, compared: Sequence[Way], before: Sequence[float]) -> tuple[float, float]:
    """The shortest and the longest that is expected; `before`: what runs of the same lab took here."""
    if before:
        return min(before) / SPREAD, max(before) * SPREAD
    return _expected_s(lab, compared, steady=True) / SPREAD, _expected_s(lab, compared)


def _expected(lab: Lab, compared: Sequence[Way], before: Sequence[float]) -> str:
    """How much there is to do, and about how long that takes."""
    from weir.cli.progress import rough, span

    ways = [way for way in compared if way.refused is None]
    cases = sum(len(way.lab.chains()) for way in ways) * len(lab.traffic.frames)
    rounds = lab.measure.rounds
    what = f"{cases} {'case' if cases == 1 else 'cases'}" + (
        f", each in {rounds} rounds" if rounds > 1 else ""
    )
    said = f"{what}: expected to take {span(*range_s(lab, compared, before))}"
    if before:
        runs = "run" if len(before) == 1 else f"{len(before)} runs"
        return f"{said}, by the last {runs} of this lab here{_beside()}"
    again = lab.measure.revisit_s
    more = f", and up to {rough(again)} more for what the machine was in a worse state for" if again else ""
    return f"{said}{more}{_beside()}"


def _beside() -> str:
    """What is known beforehand of others that will make it longer, by the load of the last minute."""
    load, cpus = os.getloadavg()[0], len(os.sched_getaffinity(0))
    if load < BUSY:
        return ""
    return f"; longer beside the programs that run here now (load {load:.1f} on {cpus} CPUs)"
