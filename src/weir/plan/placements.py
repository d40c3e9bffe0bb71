# SPDX-License-Identifier: Apache-2.0
"""Where the areas of a chain's functions can stand, and in which execution architectures: each once.

Cores that nobody else uses are alike, and so are the workers of one function: what differs only in which of
them is which is one placement. Areas that are alike stand evenly on cores that are alike, all or all but one.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from weir.base.cores import Cores
from weir.base.node import Architecture
from weir.lab.function import ARCHITECTURES, FunctionOptions
from weir.lab.function_check import function_complaints
from weir.lab.lab import Chain, Lab
from weir.lab.nf import network_functions

WORKERS_MAX, STATE_CORES_MAX = 8, 4
SPARE_AREAS = 2
"""So many more areas than cores are tried: they share cores where that evens the load out."""
ANYWHERE_MAX = 6
"""With more kinds of areas than this, only neighbours in the chain share a core."""
_NAME_MAX = 16


@dataclass(frozen=True)
class Split:
    """How one function is split into areas."""

    architecture: Architecture
    workers: int = 0
    state_cores: int = 0
    fastpath: bool = False

    def areas(self, functions: int) -> tuple[int, ...]:
        """How many areas of each kind can be laid to cores; the collectors stay with the dispatcher."""
        kinds: dict[Architecture, tuple[int, ...]] = {
            "run-to-completion": (1,),
            "pipeline": (1,) * functions,
            "dispatch": (1, self.workers),
            "separated": (1, self.state_cores, self.workers),
        }
        return kinds[self.architecture]

    def function(self, one: FunctionOptions, cores: tuple[int, ...] | None = None) -> FunctionOptions:
        """The function, run so on these cores."""
        update = {
            "architecture": self.architecture,
            "workers": self.workers or None,
            "state_cores": self.state_cores or None,
            "fastpath": self.fastpath,
            "fastpath_flows": one.fastpath_flows if self.fastpath else None,
            "cores": cores,
        }
        return one.model_copy(update=update)


@dataclass(frozen=True)
class Pool:
    """CPUs that functions may have."""

    own: tuple[int, ...]
    """Alike, in the order in which they are taken."""
    tester: tuple[int, ...]
    """Those of the tester that functions may share with it."""


@dataclass(frozen=True)
class Placement:
    """One way to run a chain; function by function."""

    splits: tuple[Split, ...]
    cores: tuple[tuple[int, ...], ...]
    """CPU of each area, in the order of `Split.areas`: as `cores` of the lab's functions."""

    def cpus(self) -> frozenset[int]:
        """All that functions use."""
        return frozenset(cpu for one in self.cores for cpu in one)

    def area_count(self) -> int:
        """How many areas can be laid to cores."""
        return sum(map(len, self.cores))

    def simplicity(self) -> tuple[int, ...]:
        """Simpler ones are smaller."""
        kinds = sum(ARCHITECTURES.index(split.architecture) for split in self.splits)
        return kinds, self.area_count(), sum(split.fastpath for split in self.splits)


def splits(function: FunctionOptions, areas_max: int, fastpath: Sequence[bool]) -> list[Split]:
    """All that `weir-dp` would take, fewest areas first. `fastpath`: whether to try with one, or without."""
    found = [Split("run-to-completion"), Split("pipeline")]
    found += [Split("dispatch", workers=workers) for workers in range(1, WORKERS_MAX + 1)]
    found += [
        Split("separated", workers=workers, state_cores=state_cores)
        for state_cores, workers in itertools.product(
            range(1, STATE_CORES_MAX + 1), range(1, WORKERS_MAX + 1)
        )
    ]
    count = len(function.nfs())
    fitting = [
        Split(split.architecture, split.workers, split.state_cores, remembers)
        for split, remembers in itertools.product(found, fastpath)
        if sum(split.areas(count)) <= areas_max and (split.architecture != "pipeline" or count > 1)
    ]
    possible = [split for split in fitting if not list(function_complaints({"f": split.function(function)}))]
    return sorted(possible, key=lambda split: sum(split.areas(count)))


def may_remember(function: FunctionOptions) -> bool:
    """Whether the function can have a fast path: all that it consists of decides."""
    return all(network_functions()[one.nf].decides for one in function.nfs())


def placements(
    functions: Sequence[FunctionOptions], choices: Sequence[Sequence[Split]], pool: Pool, cores_max: int
) -> Iterator[Placement]:
    """Each placement once, fewest areas first. `choices`: splits of each function; `cores_max`: of the pool's
    own."""
    counts = [len(one.nfs()) for one in functions]
    sizes = [[sum(split.areas(count)) for split in one] for one, count in zip(choices, counts, strict=True)]
    least, most = sum(map(min, sizes)), sum(map(max, sizes))
    own = pool.own[:cores_max]
    for total in range(least, most + 1):
        for chosen in _together(choices, sizes, total):
            kinds = [split.areas(count) for split, count in zip(chosen, counts, strict=True)]
            flat = [areas for one in kinds for areas in one]
            for layout in _layouts(flat, len(own), len(pool.tester)):
                cpus = [[(*pool.tester, *own)[core] for core in cores] for cores in layout]
                yield Placement(tuple(chosen), tuple(_by_function(kinds, cpus)))


def _together(
    choices: Sequence[Sequence[Split]], sizes: Sequence[Sequence[int]], total: int
) -> Iterator[list[Split]]:
    """One for each function, so many areas in all."""
    if not choices:
        if total == 0:
            yield []
        return
    if not sum(map(min, sizes)) <= total <= sum(map(max, sizes)):
        return
    for split, size in zip(choices[0], sizes[0], strict=True):
        for rest in _together(choices[1:], sizes[1:], total - size):
            yield [split, *rest]


def _by_function(kinds: Sequence[Sequence[int]], cpus: Sequence[Sequence[int]]) -> Iterator[tuple[int, ...]]:
    given = iter(cpus)
    for one in kinds:
        yield tuple(cpu for kind in itertools.islice(given, len(one)) for cpu in kind)


_Content = tuple[int, ...]  # areas of one core, kind by kind


def _layouts(kinds: Sequence[int], own: int, tester: int) -> Iterator[list[list[int]]]:
    """Cores of the areas of each kind: numbers below `tester` are the tester's, the others their own.

    Several alike areas everywhere give each core the share that fewer of them would: left out.
    """
    seen = set()
    near = len(kinds) > ANYWHERE_MAX
    for contents in _filled(kinds, [()] * tester, [], own, near):
        alike = sorted(contents[tester:], reverse=True)
        key = (*contents[:tester], *alike)
        if key not in seen and not any(_multiplied(key, kind) for kind in range(len(kinds))):
            seen.add(key)
            yield [
                [core for core, content in enumerate(key) for _ in range(content[kind])]
                for kind in range(len(kinds))
            ]


def _multiplied(contents: Sequence[_Content], kind: int) -> bool:
    return math.gcd(*(content[kind] for content in contents)) > 1


def _filled(
    kinds: Sequence[int], shared: Sequence[_Content], used: Sequence[_Content], own: int, near: bool
) -> Iterator[list[_Content]]:
    """The tester's cores and those in use, after the areas of all kinds have been laid to them."""
    if not kinds:
        yield [*shared, *used]
        return
    places = [[core] for core in range(len(shared))]
    ordered = sorted(range(len(used)), key=used.__getitem__)
    for _, alike in itertools.groupby(ordered, used.__getitem__):
        places.append([len(shared) + core for core in alike])
    before = [*shared, *used]
    if near:
        places = [one for one in places if not any(before[one[0]]) or before[one[0]][-1]]
    fresh = [
        [len(before) + core for core in range(count)]
        for count in range(1, min(kinds[0], own - len(used)) + 1)
    ]
    depth = len(before[0]) if before else 0
    for laid in _laid(kinds[0], places, fresh):
        top = [*before, *[(0,) * depth] * (max((*laid, len(before) - 1)) + 1 - len(before))]
        contents = [(*content, laid.get(core, 0)) for core, content in enumerate(top)]
        yield from _filled(kinds[1:], contents[: len(shared)], contents[len(shared) :], own, near)


def _laid(amount: int, places: Sequence[list[int]], fresh: Sequence[list[int]]) -> Iterator[dict[int, int]]:
    """Areas by core: evenly on cores that are alike, all of them or all but one."""
    for cores in (*places, *fresh):
        yield _evenly(amount, cores)
        if amount > 1 and not (cores in fresh and len(cores) == amount):  # no fresh core stays empty
            for other in places:
                if other is not cores:
                    yield {other[0]: 1} | _evenly(amount - 1, cores)


def _evenly(amount: int, cores: Sequence[int]) -> dict[int, int]:
    each, left = divmod(amount, len(cores))
    return {core: each + (index < left) for index, core in enumerate(cores)}


def placed_lab(
    lab: Lab,
    chain: Chain,
    placement: Placement,
    tester: tuple[int, ...],
    technology: str = "direct",
    *,
    switch: tuple[int, ...] = (),
) -> Lab:
    """The lab with this chain alone, placed so, under this technology. `switch`: its own cores, if any."""
    names = own_names(chain)
    functions = {
        name: split.function(lab.functions[before], cores)
        for name, before, split, cores in zip(
            names, chain.functions, placement.splits, placement.cores, strict=True
        )
    }
    options = lab.options(technology).model_copy(update={"cores": None})
    return lab.model_copy(
        update={
            "chain": (names,),
            "technology": (technology,),
            "baseline": technology,
            "variants": {},
            "steps": (),
            "functions": functions,
            "cores": Cores(tester=tester, functions=tuple(sorted(placement.cpus())), switch=switch or None),
            "technologies": lab.with_options(technology, options),
        }
    )


def own_names(chain: Chain) -> tuple[str, ...]:
    """A name for each function; one that stands in the chain more than once is numbered."""
    return tuple(
        name if chain.functions.count(name) == 1 else f"{name[: _NAME_MAX - 3]}-{number}"
        for number, name in enumerate(chain.functions, 1)
    )
