# SPDX-License-Identifier: Apache-2.0
"""`weir show`: what the store has of one run."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from weir.base.printable import printable
from weir.base.words import counted
from weir.cli import completing
from weir.cli.selecting import Filters, chosen
from weir.cli.stored import LATEST, StoreLocation

if TYPE_CHECKING:
    from weir.report.hosts import Campaign
    from weir.results.result import Case, Result, Setup, Throughput
    from weir.store.listing import RunSummary


def show(
    run: Annotated[
        str,
        typer.Argument(
            metavar="RUN",
            help="A run's id or its beginning, or `latest`.",
            autocompletion=completing.runs,
        ),
    ] = LATEST,
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print it as JSON.")] = False,
    store: StoreLocation = None,
) -> None:
    """Show what a stored run is: its lab, machine, tags and cases. `weir report` shows what it found."""
    from weir.report.hosts import campaign
    from weir.store.store import Store

    with Store(store, reading=True) as database:
        (summary,) = chosen(database, [run], Filters(None, None, None, None, None, None))
        runs = database.runs_of_campaign(summary.campaign, trials=False) if summary.campaign else []
        found = _found(summary, database.load(summary.id), campaign(runs) if runs else None)
    print(json.dumps(found, indent=2) if as_json else printable(_text(found)))


def _found(summary: RunSummary, result: Result, campaign: Campaign | None) -> dict[str, Any]:
    record = result.campaign
    return {
        "id": summary.id,
        "lab": summary.lab,
        "title": result.title,
        "started_at": result.started_at,
        "finished_at": result.finished_at,
        "ended": summary.ended or "finished",
        "kind": "soak" if summary.intervals else "quick" if result.quick else "full",
        "weir": summary.weir,
        "spec_sha256": result.spec_sha256,
        "tags": list(summary.tags),
        "machine": result.fingerprint.model_dump(mode="json"),
        "cases": [_case(setup, case, _problem(case, summary)) for setup, case in result.cases()],
        "campaign": _campaign(campaign) if campaign is not None else None,
        "left_out": [one.model_dump() for one in record.left_out] if record is not None else [],
        "refused": [
            {"technology": setup.name, "chain": setup.chain, "why": setup.refused}
            for setup in result.setups
            if setup.refused
        ],
    }


def _campaign(of: Campaign) -> dict[str, Any]:
    return {
        "id": of.id,
        "points": of.points,
        "measured": of.measured,
        "runs": [
            {"run": one.run, "host": one.host, "points": one.points, "ended": one.ended or "finished"}
            for one in of.parts
        ],
    }


def _problem(case: Case, summary: RunSummary) -> str | None:
    """A case that grows is kept as one that its run has not finished, which is still there to finish it."""
    from weir.results.rounds import ended

    grows = not ended(case) and summary.unfinished == "measured"
    return "still measured" if grows else case.problem


def _case(setup: Setup, case: Case, problem: str | None) -> dict[str, Any]:
    trials = [*case.trials, *case.curve]
    return {
        "chain": setup.chain,
        "technology": setup.name,
        "frame": case.frame,
        "rates_pps": {one.goal: one.load_pps for one in case.throughput},
        "rates": {one.goal: _rate(one) for one in case.throughput},
        "trials": dict(Counter(trial.purpose for trial in trials)),
        "invalid_trials": sum(not trial.valid for trial in trials),
        "intervals": len(case.soak.intervals) if case.soak is not None else 0,
        "problem": problem,
    }


def _text(found: dict[str, Any]) -> str:
    machine = found["machine"]
    lines = [
        f"{found['id']}: {found['kind']} run of {found['lab']} ({found['title']})",
        f"measured  {found['started_at']} to {found['finished_at'] or 'unknown'}, {found['ended']},"
        f" Weir {found['weir']}",
        f"machine   {machine['host'] or 'unnamed'}: {machine['cores']} cores of {machine['cpu']}, Linux"
        f" {machine['kernel']}",
        f"tags      {', '.join(found['tags']) or 'none'}",
        *_campaign_lines(found["campaign"]),
        *(
            f"left out  {one['chain']} {one['name']} {one['frame']}: {one['left_out']} of"
            f" {counted(one['measured'] + one['left_out'], 'round')}"
            for one in found["left_out"]
        ),
    ]
    for case in found["cases"]:
        trials = ", ".join(f"{count} {purpose}" for purpose, count in case["trials"].items())
        if case["intervals"]:
            trials = counted(case["intervals"], "interval")
        rates = ", ".join(f"{goal} {rate}" for goal, rate in case["rates"].items())
        what = f"{case['chain']} {case['technology']} {case['frame']}: "
        invalid = f" ({case['invalid_trials']} invalid)" if case["invalid_trials"] else ""
        lines.append(what + "; ".join(part for part in (rates, trials + invalid, case["problem"]) if part))
    lines += [f"{one['chain']} {one['technology']}: refused: {one['why']}" for one in found["refused"]]
    return "\n".join(lines)


def _rate(of: Throughput) -> str:
    """As the report's table has it: "≥9.407 Mpps T"."""
    from weir.report import rates

    said = "irregular" if of.load_pps is None else rates.bounded(of)
    return f"{said} {rates.flags(of)}".rstrip()


def _campaign_lines(campaign: dict[str, Any] | None) -> list[str]:
    if campaign is None:
        return []
    runs, points = campaign["runs"], counted(campaign["points"], "point")
    widths = [max(len(one[key]) for one in runs) for key in ("host", "run")]
    return [
        f"campaign  {campaign['id']}: {campaign['measured']} of {points} measured",
        *(
            f"          {one['host']:{widths[0]}}  {one['run']:{widths[1]}}"
            f"  {counted(one['points'], 'point')}, {one['ended']}"
            for one in runs
        ),
    ]
