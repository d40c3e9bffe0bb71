# SPDX-License-Identifier: Apache-2.0
"""Set-ups drawn at random, each tried once: what does not run here is drawn again, and counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from weir.fabric import stop_signals
from weir.lab import Lab
from weir.lab.variant import TechnologyName
from weir.measure.windows import entered, stage_drops
from weir.plan import PlanError
from weir.plan.execution import list_entries
from weir.plan.random_labs import FRUITLESS_MAX, Drawn, FruitlessError, Known
from weir.plan.trials import library
from weir.planning.calibration.set_up import Visited, setup
from weir.planning.calibration.visits import Say, visit
from weir.planning.model.capacity import UnknownCostError
from weir.protocol import DataPlaneError, DataPlaneLostError
from weir.results.model import ModelDocument

LOST_MAX = 0.001
"""Share of the packets that functions may drop: dropped ones cost less than forwarded ones."""


@dataclass
class Tried:
    """Set-ups that run, each visited once."""

    setups: list[Visited] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    """Of their lab files."""
    redrawn: Counter[str] = field(default_factory=Counter)
    """Why draws were none, and how often."""


def known_of_lab(lab: Lab, technology: TechnologyName) -> Known:
    """What a calibration of this lab is going to know."""
    functions = library(lab)
    most: dict[str, int] = {}
    for one in functions:
        most[one.nf] = max(most.get(one.nf, 0), list_entries(one))
    options = {one.nf: dict(one.options) for one in reversed(functions)}
    own = lab.options(technology).model_dump(exclude_defaults=True, exclude={"cores"})
    fastpath = technology == "direct" and any(one.fastpath for one in lab.functions.values())
    return Known(technology, own, options, {nf: count for nf, count in most.items() if count}, fastpath)


def known_of_model(document: ModelDocument) -> Known:
    """What a model knows."""
    names = {one.name for one in document.parameters}
    options: dict[str, object] = {}
    if document.technology == "ovs":
        options = {"datapath": "userspace" if "switch thread hop" in names else "kernel"}
    elif document.technology == "direct":
        options = {"wire": document.wire}
    most = {
        one.name.removeprefix("rules "): int(one.high)
        for one in document.ranges
        if one.name.startswith("rules ")
    }
    return Known(document.technology, options, document.options, most, "fast path" in names)


def described(lab: Lab) -> str:
    """For people: what is drawn of it."""
    functions = [lab.functions[name] for name in lab.chains()[0].functions]
    first, cores = functions[0], lab.cores
    assert cores is not None
    parts = ", then ".join("+".join(one.nf for one in function.nfs()) for function in functions)
    remembers = f", fast path of {first.fastpath_flows}" if first.fastpath else ""
    shared = f" ({first.state_cores} state cores, {first.workers} workers)" if first.state_cores else ""
    shared = shared or (f" ({first.workers} workers)" if first.workers else "")
    where = f"tester on {_listed(cores.tester)}, functions on {_listed(cores.functions)}"
    ways = " both ways" if len(lab.tester.directions) > 1 else ""
    return (
        f"{parts}: {first.architecture}{shared}{remembers}, {lab.traffic.frames[0]} B, "
        f"{lab.traffic.flows.count} flows{ways}, {where}"
    )


def tried(
    draws: Iterator[Drawn],
    technology: str,
    count: int,
    say: Say,
    before: Callable[[Visited], None] | None = None,
) -> Tried:
    """So many that run. `before`: is told each one before it is built. An UnknownCostError of it, or a
    DataPlaneError while the set-up stands, is why that one does not. FruitlessError: none does."""
    found, fruitless = Tried(), 0
    with stop_signals.held():
        while len(found.setups) < count:
            stop_signals.check()
            draw = next(draws)
            found.redrawn.update(draw.refused)
            name = f"random {len(found.setups) + 1}: {described(draw.lab)}"
            why = None
            try:
                one = setup(draw.lab, draw.lab.chains()[0], str(draw.lab.traffic.frames[0]), name, technology)
                one.drawn = True
                if before is not None:
                    before(one)
                visit([one], lambda some: say(f"first visit: {some.name}"))
                why = _useless(one)
            except DataPlaneLostError:
                raise
            except (DataPlaneError, PlanError, UnknownCostError, ValueError) as error:
                why = str(error)
            if why is None:
                found.setups.append(one)
                found.texts.append(draw.text)
                fruitless = 0
                continue
            say(f"drawn again, since {why}")
            found.redrawn[why] += 1
            fruitless += 1
            if fruitless == FRUITLESS_MAX:
                raise FruitlessError(why)
    return found


def _useless(one: Visited) -> str | None:
    """Why its rate would be none."""
    sent = sum(entered(window.after) - entered(window.before) for window in one.windows)
    dropped = sum(stage_drops(window.before, window.after) for window in one.windows)
    if dropped > LOST_MAX * max(1, sent):
        return "functions drop packets of it"
    if not any(window.pps() for window in one.windows):
        return "no packet came back"
    return None if one.settled else "its rate did not come to a stand"


def redrawn(counted: Mapping[str, int]) -> list[tuple[str, int]]:
    """Most frequent first."""
    return sorted(counted.items(), key=lambda one: (-one[1], one[0]))


def _listed(cores: Sequence[int] | None) -> str:
    return " and ".join(map(str, cores or ()))
