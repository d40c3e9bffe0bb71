# SPDX-License-Identifier: Apache-2.0
"""A campaign over several hosts, from its runs, one a host: what each has measured, and what nobody has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from weir.report import numbers
from weir.results.result import Case, Result, Setup
from weir.results.rounds import CaseKey, rounds_done


@dataclass(frozen=True)
class Part:
    """One host's."""

    run: str
    host: str
    """As the campaign calls it."""
    machine: str
    """Its processor."""
    points: int
    """Planned ones that it has measured."""
    ended: str
    """How, where it was not as it should; empty: it has ended, and nobody interrupted it."""


@dataclass(frozen=True)
class Share:
    """Of one case, what one host has."""

    rounds: int
    """Planned ones that it has measured."""
    found: str
    """The rate of the first goal in Mpps, "irregular", or why it was refused there; empty: no rate."""
    refused: bool = False


@dataclass(frozen=True)
class CaseOfHosts:
    """One case, over all of them."""

    chain: str
    way: str
    """Technology or variant."""
    frame: str
    shares: Sequence[Share]
    """In the order of the parts."""
    missing: int
    """Planned rounds that nobody has measured."""


@dataclass(frozen=True)
class Campaign:
    """As far as it is."""

    id: str
    lab: str
    rounds: int
    """Planned of each case."""
    points: int
    """Planned in all: cases, each in one round."""
    measured: int
    parts: Sequence[Part]
    """In the order of their begin."""
    goal: str
    """Whose rates shares have; empty: there is no rate."""
    cases: Sequence[CaseOfHosts]
    """Those that a host has begun, or that are known to be left out."""
    ended: bool
    """All its runs have."""


def campaign(runs: Sequence[Result]) -> Campaign:
    """Of all its runs, of which there is one at least, the oldest first."""
    first = runs[0].campaign
    assert first is not None
    assert first.shared is not None
    planned = max(run.campaign.rounds for run in runs if run.campaign is not None)
    done, of_each = rounds_done(runs), [rounds_done([run]) for run in runs]
    left_out = [
        (one.name, one.chain, one.frame)
        for run in runs
        if run.campaign is not None
        for one in run.campaign.left_out
    ]
    goal = next((rate.goal for run in runs for _, case in run.cases() for rate in case.throughput), "")
    return Campaign(
        id=first.shared.id,
        lab=runs[0].lab,
        rounds=planned,
        points=first.shared.points,
        measured=sum(map(len, done.values())),
        parts=[_part(run, known) for run, known in zip(runs, of_each, strict=True)],
        goal=goal,
        cases=[
            CaseOfHosts(
                chain=key[1],
                way=key[0],
                frame=key[2],
                shares=[
                    _share(run, key, len(known.get(key, ())), goal)
                    for run, known in zip(runs, of_each, strict=True)
                ],
                missing=planned - len(done.get(key, ())),
            )
            for key in dict.fromkeys([*done, *left_out])
        ],
        ended=all(run.finished_at for run in runs),
    )


def _part(run: Result, done: dict[CaseKey, set[int]]) -> Part:
    shared = run.campaign.shared if run.campaign is not None else None
    ended = "interrupted" if run.interrupted else "" if run.finished_at else "not finished"
    return Part(
        run=run.id,
        host=shared.host if shared is not None else run.fingerprint.host,
        machine=run.fingerprint.cpu,
        points=sum(map(len, done.values())),
        ended=ended,
    )


def _share(run: Result, of: CaseKey, rounds: int, goal: str) -> Share:
    setup, case = _of(run, of)
    if setup is not None and setup.refused is not None:
        return Share(rounds, setup.refused, refused=True)
    rate = next((one for one in case.throughput if one.goal == goal), None) if case is not None else None
    if rate is None:
        return Share(rounds, "")
    return Share(rounds, "irregular" if rate.load_pps is None else f"{numbers.mpps(rate.load_pps)}")


def _of(run: Result, key: CaseKey) -> tuple[Setup | None, Case | None]:
    name, chain, frame = key
    setups = [one for one in run.setups if (one.name, one.chain) == (name, chain)]
    for setup in setups:
        for case in setup.cases:
            if case.frame == frame:
                return setup, case
    return (setups[0] if setups else None), None
