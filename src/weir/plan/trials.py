# SPDX-License-Identifier: Apache-2.0
"""Trials from which a cost model can be made: functions of a lab in many orders, architectures and places."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from weir.base.cores import Cores
from weir.base.node import Architecture
from weir.lab.check import complaints
from weir.lab.frames import frame_sizes_bytes
from weir.lab.function import ARCHITECTURES, FunctionOptions, NfOptions
from weir.lab.lab import Chain, Lab
from weir.lab.nf import network_functions
from weir.lab.variant import TechnologyName
from weir.plan.memory import with_room
from weir.technology import TECHNOLOGIES

FUNCTION = "trial"
FEW_FLOWS, MANY_FLOWS, MOST_FLOWS = 64, 40_000, 1_000_000
"""That nearer caches hold the state of; that they do not; and that the largest tables are made for."""
FRAMES = ("64", "1518")
FASTPATH_FEW, FASTPATH_MANY = 1024, 65_536
"""Room for fewer than many flows, as large as a cache can be; and for more."""
SATURATING = 3
"""Functions that keep a core busier than the tester on another one can be."""
CORES_MAX = 2
"""Cores of a trial, the tester's among them."""
_NF_OPTIONS_MIN = 2
CACHED_FLOWS = 2000
"""For which the exact-match cache has room in each of these chains, and nearer caches have not."""
APART_MAX = 3
"""Functions in a chain of trials, each with ports of its own."""


@dataclass(frozen=True)
class PlannedTrial:
    """One set-up to measure."""

    functions: tuple[NfOptions, ...]
    architecture: Architecture
    frame: str
    flows: int
    tester: tuple[int, ...]
    cores: tuple[int, ...]
    fastpath_flows: int = 0
    """Room of each fast path; 0: none."""
    technology: TechnologyName = "direct"
    apart: bool = False
    """Each function has ports of its own."""

    def alone(self) -> bool:
        """Tester and functions share one core."""
        return len({*self.tester, *self.cores}) == 1

    def parts(self) -> int:
        """Functions of the lab that it is made of, each with ports of its own."""
        return len(self.functions) if self.apart else 1

    def text(self) -> str:
        """For people."""
        names = (", then " if self.apart else ", ").join(one.nf for one in self.functions)
        where = f"tester on {_listed(self.tester)}, functions on {_listed(self.cores)}"
        remembers = f", fast path of {self.fastpath_flows}" if self.fastpath_flows else ""
        return f"{names}: {self.architecture}{remembers}, {self.frame} B, {self.flows} flows, {where}"


def library(lab: Lab) -> tuple[NfOptions, ...]:
    """The different functions of a lab that return packets, with their options, as they come."""
    found: dict[str, NfOptions] = {}
    for function in lab.functions.values():
        for one in function.nfs():
            if network_functions()[one.nf].returns:
                found.setdefault(one.model_dump_json(), one)
    return tuple(found.values())


def candidates(lab: Lab, cpus: Sequence[int]) -> list[PlannedTrial]:
    """Every trial that may be worth running; those that weir-dp would refuse are left out."""
    return possible(_all(lab, library(lab), cpus), lab, cpus)


def possible(trials: Iterable[PlannedTrial], lab: Lab, cpus: Sequence[int]) -> list[PlannedTrial]:
    """Those that weir-dp would not refuse."""
    return [one for one in trials if not list(complaints(trial_lab(lab, one), cpus))]


def _all(lab: Lab, functions: tuple[NfOptions, ...], cpus: Sequence[int]) -> Iterator[PlannedTrial]:
    kinds = len({one.nf for one in functions})
    traffic = itertools.product(frame_ends(lab), (FEW_FLOWS, MANY_FLOWS, MOST_FLOWS))
    for chain, (frame, count) in itertools.product(chains(functions), traffic):
        for architecture, (tester, cores) in itertools.product(ARCHITECTURES, places(cpus)):
            trial = PlannedTrial(chain, architecture, frame, count, tester, cores)
            if architecture == ARCHITECTURES[0] and len(cores) > 1:  # it would leave the second one idle
                continue
            if trial.alone() or len(chain) >= min(SATURATING, kinds):
                yield trial
                yield from _with_fastpath(lab, trial)


def frame_ends(lab: Lab) -> tuple[str, str]:
    """The smallest and the largest frames, of the usual ones and the lab's."""
    frames = sorted({*FRAMES, *map(str, lab.traffic.frames)}, key=lambda one: max(frame_sizes_bytes(one)))
    return frames[0], frames[-1]


def _with_fastpath(lab: Lab, trial: PlannedTrial) -> Iterator[PlannedTrial]:
    """If the lab has some: with room for all flows, and with too little: all on the slow path."""
    if not any(function.fastpath for function in lab.functions.values()):
        return
    plain = trial.architecture in (ARCHITECTURES[0], "separated") and trial.alone()
    if plain and all(network_functions()[one.nf].decides for one in trial.functions):
        if trial.flows > FASTPATH_FEW:
            yield replace(trial, fastpath_flows=FASTPATH_FEW)
        yield replace(trial, fastpath_flows=FASTPATH_MANY)


def chains(functions: tuple[NfOptions, ...]) -> Iterator[tuple[NfOptions, ...]]:
    """All of them, begun with each in turn; and each half of them. Of functions that the lab has with several
    options each chain has one: the second of two would find what the first has made of the packets."""
    found: list[tuple[NfOptions, ...]] = []
    for alike in _one_of_each(functions):
        turned = [alike[at:] + alike[:at] for at in range(len(alike))]
        half = (len(alike) + 1) // 2
        some = [one[:half] for one in turned] if len(alike) > _NF_OPTIONS_MIN else []
        found += [one for one in (*turned, *some) if one not in found]
    yield from found


def _one_of_each(functions: Sequence[NfOptions]) -> Iterator[tuple[NfOptions, ...]]:
    """All first ones, all second ones, where there are, and so on."""
    kinds: dict[str, list[NfOptions]] = {}
    for one in functions:
        kinds.setdefault(one.nf, []).append(one)
    for number in range(max(map(len, kinds.values()), default=0)):
        yield tuple(some[min(number, len(some) - 1)] for some in kinds.values())


def places(cpus: Sequence[int]) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Cores of the tester and of the functions."""
    yield (cpus[0],), (cpus[0],)
    if len(cpus) > 1:
        yield (cpus[0],), (cpus[1],)
        yield (cpus[0],), (cpus[0], cpus[1])


def trial_lab(lab: Lab, trial: PlannedTrial) -> Lab:
    """The lab with the trial's one chain in place of its own."""
    nfs = tuple(with_room(one, trial.flows) for one in trial.functions)
    parts = [(one,) for one in nfs] if trial.apart else [nfs]
    functions = {
        FUNCTION if len(parts) == 1 else f"{FUNCTION}{number}": FunctionOptions(
            chain=part,
            architecture=trial.architecture,
            fastpath=trial.fastpath_flows > 0,
            fastpath_flows=trial.fastpath_flows or None,
        )
        for number, part in enumerate(parts, 1)
    }
    flows = lab.traffic.flows.model_copy(update={"count": trial.flows})
    cores = Cores(tester=trial.tester, functions=trial.cores)
    options = lab.options(trial.technology)
    chosen = options.model_copy(update={"cores": cores.over(options.cores)})
    return lab.model_copy(
        update={
            "chain": (tuple(functions),),
            "technology": (trial.technology,),
            "baseline": trial.technology,
            "functions": functions,
            "traffic": lab.traffic.model_copy(update={"frames": (trial.frame,), "flows": flows}),
            "tester": lab.tester.model_copy(update={"direction": "left-to-right"}),
            "technologies": lab.with_options(trial.technology, chosen),
        }
    )


def trial_chain(lab: Lab) -> Chain:
    """The one chain of a trial's lab."""
    return lab.chains()[0]


def _listed(cores: Sequence[int]) -> str:
    return " and ".join(map(str, cores))


def switched_candidates(lab: Lab, technology: TechnologyName, cpus: Sequence[int]) -> list[PlannedTrial]:
    """Every trial of a switch that may be worth running: chains of one function, and of several.

    Every function more is one more network to cross, which tells the switch's own cost from that of the
    tester and of the functions. Each chain has several kinds of traffic, of small and large frames and of few
    and many flows: what more bytes and more flows cost adds up.
    """
    return possible(_all_switched(lab, technology, library(lab), cpus), lab, cpus)


def bundled(trials: Sequence[PlannedTrial]) -> list[list[PlannedTrial]]:
    """Those together that differ in traffic alone: a chain behind a switch takes longer to build than to
    measure, and is built for all of them at once."""
    found: list[list[PlannedTrial]] = []
    for one in trials:
        alike = (some for some in found if one == replace(some[0], frame=one.frame, flows=one.flows))
        same = next(alike, None)
        if same is None:
            found.append([one])
        else:
            same.append(one)
    return found


def _all_switched(
    lab: Lab, technology: TechnologyName, functions: tuple[NfOptions, ...], cpus: Sequence[int]
) -> Iterator[PlannedTrial]:
    """Run to completion; and in the other architectures that functions of the lab have."""
    switch = set(lab.cores_for(technology, cpus).switch or ()) if TECHNOLOGIES[technology].own_core else set()
    free = [cpu for cpu in cpus if cpu not in switch]
    if not free:
        return
    used = {one.architecture for one in lab.functions.values()}
    architectures = [one for one in ARCHITECTURES if one == ARCHITECTURES[0] or one in used]
    small, large = frame_ends(lab)
    traffic = [(small, FEW_FLOWS), (large, FEW_FLOWS), (small, MANY_FLOWS)]
    if TECHNOLOGIES[technology].flow_cache:
        traffic.append((small, CACHED_FLOWS))
    for (frame, flows), (tester, cores) in itertools.product(traffic, places(free)):
        for chain, architecture in itertools.product(_together(functions), architectures):
            if architecture != ARCHITECTURES[0] or len(cores) == 1:
                yield PlannedTrial(chain, architecture, frame, flows, tester, cores, technology=technology)
        for chain in _apart(functions) if len(cores) == 1 else ():
            yield PlannedTrial(
                chain, ARCHITECTURES[0], frame, flows, tester, cores, technology=technology, apart=True
            )


def _together(functions: tuple[NfOptions, ...]) -> Iterator[tuple[NfOptions, ...]]:
    """In one function: each alone, and as trials without a switch have them."""
    if len(functions) > 1:
        yield from ((one,) for one in functions)
    yield from chains(functions)


def _apart(functions: tuple[NfOptions, ...]) -> Iterator[tuple[NfOptions, ...]]:
    """Each in a function of its own, two and more of them; one alone twice, and three times."""
    around = functions * APART_MAX
    for length in range(2, APART_MAX + 1):
        for at in range(len(functions)):
            yield around[at : at + length]
