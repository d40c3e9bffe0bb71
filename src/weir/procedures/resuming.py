# SPDX-License-Identifier: Apache-2.0
"""Whether an interrupted run of a lab may be gone on with here, and what is left of it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from weir import fabric
from weir.base.error import USAGE, WeirError
from weir.base.record import spec_sha256
from weir.lab import Lab
from weir.lab.file_digests import digests
from weir.lab.files import missing_files
from weir.lab.source import dotted
from weir.results.campaign import CampaignRecord
from weir.results.result import Result

_SAME = {"host": "host", "cpu": "CPU", "cores": "number of cores", "kernel": "kernel"}
"""Of the fingerprint: what rounds of one run must share, by its words."""


class ResumeError(WeirError):
    """The run cannot be gone on with; says why and what to do."""

    exit_code = USAGE


def campaign_of(result: Result) -> CampaignRecord:
    """Of a stored run that something is left of. ResumeError."""
    found = result.campaign
    if found is None:
        raise ResumeError(
            f"run {result.id} is none of `weir run` that can be gone on with (a soak goes on with `weir soak "
            "--resume`); begin a new one"
        )
    if result.finished_at is not None and not result.interrupted and not found.left_out:
        raise ResumeError(
            f"run {result.id} has measured all its {found.points} points: nothing is left; begin a new run, "
            "without --resume"
        )
    return found


def require_same(result: Result, lab: Lab, named: str) -> None:
    """ResumeError unless the lab `named` is the one of the run: as a whole, with its defaults."""
    if lab.name != result.lab:
        raise ResumeError(
            f"{named} is lab {lab.name}, and run {result.id} is of lab {result.lab}; name that, or leave LAB "
            "out to go on with the stored one"
        )
    if spec_sha256(lab) != result.spec_sha256:
        raise ResumeError(
            f"{named} is not the lab of run {result.id}: it has changed since; leave LAB out to go on with "
            "the stored one, or begin a new run"
        )


def require_files(result: Result, lab: Lab) -> None:
    """ResumeError where something that the stored `lab` names is not there any more: a set-up that lacks it
    would be given up, and that cannot be gone on with. Likewise where it has something else in it."""
    lacking = next(missing_files(lab, Path("/")), None)
    if lacking is not None:
        raise ResumeError(
            f"run {result.id} cannot go on: {dotted(lacking.path)}: {lacking.message}; put it back where it "
            "was when the run began, or begin a new run"
        )
    now = digests(lab)
    changed = [path for path, was in result.files_sha256.items() if now.get(path, was) != was]
    if changed:
        raise ResumeError(
            f"{changed[0]}, which its lab names, has changed since run {result.id} began: rounds of both do "
            "not belong together; put back what it was, or begin a new run"
        )


def require_same_machine(result: Result) -> None:
    """ResumeError on another machine, kernel or Weir: rounds of both are not samples of one thing."""
    here, there = fabric.fingerprint(0, "unknown", {}), result.fingerprint
    for field, words in _SAME.items():
        was, now = getattr(there, field), getattr(here, field)
        if was != now:
            raise ResumeError(
                f"run {result.id} was begun with another {words}: {was}; here it is {now}. Rounds of both do "
                "not belong together: begin a new run, and `weir compare` them"
            )
    was, now = there.versions.get("weir", result.weir), here.versions.get("weir", result.weir)
    if was != now:
        raise ResumeError(f"run {result.id} was begun by Weir {was}, and this is {now}; begin a new run")


def budget_left_s(result: Result, budget_s: float | None) -> float | None:
    """`budget_s`: what is given now; None: what is left of the run's own, if it has one. ResumeError where
    nothing is."""
    own_s = campaign_of(result).budget_s
    if budget_s is not None or own_s is None:
        return budget_s
    if own_s <= result.seconds or (campaign_of(result).left_out and not result.interrupted):
        raise ResumeError(
            f"run {result.id} has used its budget of {own_s / 60:g} min; say with --budget how much longer "
            "it may take"
        )
    return own_s - result.seconds


def shared_budget_s(runs: Sequence[Result], budget_s: float | None) -> tuple[float | None, float | None]:
    """The same of a campaign over several hosts, with its budget in all. Its hosts measured at the same time:
    it has taken as long as the one that took longest. ResumeError."""
    used_s = max((one.seconds for one in runs), default=0.0)
    if budget_s is not None:
        return budget_s, used_s + budget_s
    own = [one.campaign.budget_s for one in runs if one.campaign is not None]
    own_s = max((one for one in own if one is not None), default=None)
    if own_s is None:
        return None, None
    if own_s <= used_s:
        raise ResumeError(
            f"the campaign of run {runs[0].id} has used its budget of {own_s / 60:g} min; say with --budget "
            "how much longer it may take"
        )
    return own_s - used_s, own_s
