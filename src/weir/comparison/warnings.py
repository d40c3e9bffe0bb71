# SPDX-License-Identifier: Apache-2.0
"""What else is different between runs that are compared: a change may come from there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from weir.comparison.lab_keys import different, named
from weir.results.fingerprint import SAME_DISTANCE_TIMES, MachineBest, differences
from weir.results.result import Result

SAME_SPEED_TIMES = 1.05
"""Cores at their best that differ by less have the same speed."""
WEIR = "The version of weir differs"


def warnings(before: Sequence[Result], after: Sequence[Result]) -> list[str]:
    """Each once, of the first run before with every other one; first that they are of different labs."""
    first = before[0]
    others = [*before[1:], *after]
    labs = [_of_labs(first.lab, other.lab) for other in others if other.lab != first.lab]
    said = [sentence for other in others for sentence in _between(first, other)]
    return list(dict.fromkeys([*labs, *said]))


def _of_labs(one: str, other: str) -> str:
    return (
        f"The labs differ: {one} and {other}. What has the same name in both need not be the same chain, "
        "options or traffic, and a change may be of the lab alone."
    )


def _between(one: Result, other: Result) -> Iterator[str]:
    if one.lab == other.lab and (keys := different(one.spec, other.spec)):
        yield f"Keys of the lab differ: {named(keys)}."
    if files := _other_files(one, other):
        yield f"Files that the lab names have something else in them: {', '.join(files)}."
    if one.quick != other.quick:
        yield "One is a quick run, the other a full one."
    for run in (one, other):
        if run.finished_at is None or run.interrupted:
            yield f"{run.id} was not finished."
        elif run.campaign is not None and run.campaign.left_out:
            missing, points = run.campaign.left_out_points, run.campaign.points_of_all
            how = "with its budget" if run.campaign.budget_s is not None else "early"
            whose = " of its campaign over all hosts" if run.campaign.shared is not None else ""
            yield f"{run.id} ended {how}: {missing} of {points} points{whose} were left out."
    # What is compared is usually a change of Weir or of the chain: that is why somebody asks.
    yield from (s for s in differences(one.fingerprint, other.fingerprint) if not s.startswith(WEIR))
    yield from _other_hosts(one, other)
    if one.machine is not None and other.machine is not None:
        yield from _state(one.machine, other.machine)


def _other_files(one: Result, other: Result) -> list[str]:
    """Their names: each run may have had them somewhere else."""
    was, now = (_by_name(run) for run in (one, other))
    return sorted(name for name in was.keys() & now.keys() if was[name] != now[name])


def _by_name(run: Result) -> dict[str, set[str]]:
    """What those of one name have in them."""
    found: dict[str, set[str]] = {}
    for path, digest in run.files_sha256.items():
        found.setdefault(Path(path).name, set()).add(digest)
    return found


def _other_hosts(one: Result, other: Result) -> Iterator[str]:
    """Of chains that span hosts: their machines without the tester, where both runs have them."""
    was, now = (
        {there.host: there.fingerprint for setup in run.setups for there in setup.other_hosts}
        for run in (one, other)
    )
    for host in was.keys() & now.keys():
        found = (s for s in differences(was[host], now[host]) if not s.startswith(WEIR))
        yield from (f"On {host}: {sentence}" for sentence in found)


def _state(one: MachineBest, other: MachineBest) -> Iterator[str]:
    """At their best: what states of rates are told from."""
    for core in sorted(one.piece_cycles.keys() & other.piece_cycles.keys()):
        times = other.piece_cycles[core] / one.piece_cycles[core]
        if max(times, 1 / times) > SAME_SPEED_TIMES:
            yield f"Core {core} at its best {_slower(times)} in the later run."
    for pair in sorted(one.distances_cycles.keys() & other.distances_cycles.keys()):
        times = other.distances_cycles[pair] / one.distances_cycles[pair]
        if max(times, 1 / times) > SAME_DISTANCE_TIMES:
            both = pair.replace("-", " and ")
            yield f"Cores {both} at their best {_slower(times)} to pass data in the later run."


def _slower(times: float) -> str:
    return f"took {times:.2f} times as long" if times > 1 else f"was {1 / times:.2f} times as fast"
