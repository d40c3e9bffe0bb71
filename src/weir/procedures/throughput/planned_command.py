# SPDX-License-Identifier: Apache-2.0
"""What `weir run` says of what it is about to do: its order, and all of it for --dry-run."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from weir.procedures.order import BLOCKS
from weir.procedures.throughput.expected_command import expected, json_expected
from weir.procedures.throughput.planned import Planned

if TYPE_CHECKING:
    from weir.lab import Lab


def order_text(plan: Planned) -> Iterator[str]:
    """In which order, where it is not the lab's own."""
    asked, rounds = plan.asked, plan.lab.measure.rounds
    if asked.seed is not None:
        yield f"order: random within each round; --shuffle-seed {asked.seed} gives it again"
    if asked.budget_s is not None and rounds > BLOCKS:
        yield (
            f"order: {BLOCKS} rounds of everything; then, while the budget lasts, what is known least "
            f"exactly, up to {rounds} rounds of each"
        )


def _order_lines(plan: Planned) -> Iterator[str]:
    yield from order_text(plan)
    asked = plan.asked
    if plan.repeated or (asked.seed, asked.budget_s, asked.resumed) != (None, None, None):
        for number, visits in groupby(plan.visits(), lambda visit: visit.round):
            yield f"  round {number + 1}: {', '.join(' '.join(visit.setup) for visit in visits)}"


def planned(plan: Planned, before: Sequence[float]) -> str:
    """What --dry-run says."""
    from weir.procedures.driver import refused

    lab, compared = plan.lab, plan.compared
    frames = ", ".join(str(frame) for frame in lab.traffic.frames)
    latency = lab.measure.latency
    at = f", at {', '.join(latency.loads)} alone" if latency is not None and not lab.measure.goals else ""
    lines = [f"{lab.title or lab.name}: would measure each of these, with frames of {frames}{at}:"]
    whys = {(way.name, chain.name): refused(way, chain) for way in compared for chain in way.lab.chains()}
    reasons = set(whys.values())
    same = reasons.pop() if len(reasons) == 1 else None
    for (way_name, chain_name), why in whys.items():
        own = f"  left out here: {why}" if why is not None and same is None else ""
        lines.append(f"  {way_name} {chain_name}{own}")
    lines += [f"all are left out here: {same}"] if same is not None else []
    return "\n".join([*lines, *_awaited_lines(lab), *_order_lines(plan), expected(plan, before)])


def _awaited_lines(lab: Lab) -> Iterator[str]:
    """What somebody else has to do before packets are sent."""
    for name, function in lab.functions.items():
        if (n4 := function.n4) is not None and n4.sessions:
            yield f"  {name} waits for {n4.sessions:,} sessions by N4 first, {n4.time_limit_s:g} s at most"


def json_planned(plan: Planned, before: Sequence[float]) -> str:
    """The same for programs."""
    from weir.procedures.driver import refused

    lab, compared = plan.lab, plan.compared
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
            "rounds": lab.measure.rounds,
            "seed": plan.asked.seed,
            "budget_s": plan.asked.budget_s,
            "order": [
                {"name": visit.setup[0], "chain": visit.setup[1], "round": visit.round}
                for visit in plan.visits()
            ],
            "order_by_measurement": plan.order.later,
            **json_expected(plan, before),
        },
        indent=2,
    )
