# SPDX-License-Identifier: Apache-2.0
"""Goals are named by loads, by the sweep and by service levels: each must be one of the lab's."""

from __future__ import annotations

from collections.abc import Iterator

from weir.lab.complaint import Complaint, show
from weir.lab.delay import Load, load_of
from weir.lab.lab import Lab
from weir.lab.problem import nearest
from weir.lab.source import KeyPath


def goals_named(lab: Lab) -> Iterator[Complaint]:
    """Complaints about names that are none."""
    names = [goal.name for goal in lab.measure.goals]
    about: tuple[KeyPath, ...] = (("measure", "goals"),)
    wanted = f"a share of one of {', '.join(names)}, or a rate" if names else "a rate: there are no goals"
    for path, load in _loads(lab):
        if load.goal is not None and load.goal not in names:
            message = f"{show(load.text)} is of no goal of the lab"
            yield Complaint(path, message, wanted, nearest(load.goal, names), about=about)
    listed = ("one of " if len(names) > 1 else "") + ", ".join(names)
    for path, goal in _names(lab):
        if goal not in names:
            message = f"{show(goal)} is no goal of the lab"
            what = next(str(part) for part in reversed(path[:-1]) if isinstance(part, str))
            expected = listed or f"no {what}: there are no goals"
            yield Complaint(path, message, expected, nearest(goal, names), about=about)


def _loads(lab: Lab) -> Iterator[tuple[KeyPath, Load]]:
    latency = lab.measure.latency
    for index, step in enumerate(lab.measure.soak.schedule):
        if step.asked is not None:
            yield ("measure", "soak", "schedule", index, "load"), step.asked
    for index, text in enumerate(latency.loads if latency is not None else ()):
        yield ("measure", "latency", "loads", index), load_of(text)


def _names(lab: Lab) -> Iterator[tuple[KeyPath, str]]:
    latency = lab.measure.latency
    if latency is not None and latency.sweep is not None:
        yield ("measure", "latency", "sweep", "goal"), latency.sweep.goal
    for index, floor in enumerate(lab.sla.throughput if lab.sla is not None else ()):
        yield ("sla", "throughput", index, "goal"), floor.goal
