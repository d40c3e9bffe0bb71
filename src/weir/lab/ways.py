# SPDX-License-Identifier: Apache-2.0
"""What a lab compares: its technologies, or its variants; each a lab of its own, or a reason why not here."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from weir.base.cores import Cores, named_cpus
from weir.lab.check import complaints
from weir.lab.complaint import Complaint
from weir.lab.host_check import Nodes
from weir.lab.lab import Lab
from weir.technology import TECHNOLOGIES

Key = tuple[str, str]
"""A set-up: the name of its technology or variant, and its chain."""
# A machine that lacks nothing: what is wrong there is wrong with the lab.
_ROOMY = tuple(range(1024))
# What only a variant with all that is laid over it can be judged by.
_OVERLAID = ("cores", "host", "technologies", "technology")


@dataclass(frozen=True)
class Way:
    """One of the things that a lab compares."""

    name: str
    """Of the technology; or of the variant, with the technology after it where it has several."""
    technology: str
    lab: Lab
    """As it is run: the variant laid over it, its cores chosen."""
    variant: str | None = None
    refused: str | None = None
    """Why this machine cannot run it."""


def ways(lab: Lab, cpus: Sequence[int] | None = None, nodes: Nodes | None = None) -> tuple[Way, ...]:
    """In the order of the file. `cpus`, `nodes`: as for `load_lab`, which has read the lab."""
    if not lab.variants:
        return tuple(Way(name, name, lab) for name in lab.technology)
    found = []
    for way in _bare(lab):
        refused = None if cpus is None else _refused(way.lab, cpus, nodes)
        chosen = completed(way.lab, near(way.lab, cpus, nodes) or (0, 1))
        found.append(dataclasses.replace(way, lab=chosen, refused=refused))
    return tuple(found)


def variant_complaints(lab: Lab) -> Iterator[Complaint]:
    """What is wrong with variants on any machine, and not with the lab without them."""
    below = {(one.path, one.message) for one in base_complaints(lab, None, None)} if lab.variants else set()
    for way in _bare(lab):
        for one in complaints(way.lab, _ROOMY):
            if (one.path, one.message) in below:
                continue
            yield dataclasses.replace(one, path=("variants", way.variant or "", *one.path))


def base_complaints(lab: Lab, cpus: Sequence[int] | None, nodes: Nodes | None) -> Iterator[Complaint]:
    """What is wrong with the lab itself; what its machine lacks only where no variant can be left out."""
    if not lab.variants:
        yield from complaints(lab, cpus, nodes)
        return
    yield from (one for one in complaints(lab, _ROOMY) if one.path[0] not in _OVERLAID)
    for name, variant in lab.variants.items():
        if variant.technology is not None and variant.technology not in lab.technology:
            yield Complaint(
                ("variants", name, "technology"),
                f"{variant.technology} is not among the lab's technologies",
                "one of " + ", ".join(lab.technology),
                about=(("technology",),),
            )
        known = [chain.name for chain in lab.chains()]
        for index, chain in enumerate(variant.chains):
            if chain not in known:
                at = ("variants", name, "chains", index)
                yield Complaint(at, f"there is no chain {chain}", "one of " + ", ".join(known))


def _bare(lab: Lab) -> Iterator[Way]:
    """Variants laid over the lab, whatever the machine."""
    for name, variant in lab.variants.items():
        for technology in lab.variant_technologies(name):
            update = {
                "technology": (technology,),
                "chain": lab.forms(variant.chains) if variant.chains else lab.chain,
                "baseline": technology,
                "functions": {**lab.functions, **variant.functions},
                "host": variant.host_over(lab.host),
                "technologies": variant.technologies_over(lab.technologies),
                "variants": {},
                "steps": (),
            }
            yield Way(lab.way_name(name, technology), technology, lab.model_copy(update=update), name)


def _refused(lab: Lab, cpus: Sequence[int], nodes: Nodes | None) -> str | None:
    lacking = sorted(_asked(lab) - set(cpus))
    if lacking:
        return f"needs {named_cpus(_asked(lab))}, and this machine has {named_cpus(cpus)} to give"
    said = next(complaints(lab, cpus, nodes), None)
    if said is None:
        return None
    return said.message + (f"; expected {said.expected}" if said.expected else "")


def _asked(lab: Lab) -> set[int]:
    """CPUs that the lab names for its one technology."""
    options = lab.options(lab.technology[0])
    cores = (options.cores or Cores()).over(lab.cores)
    chosen = [getattr(cores, role) for role in ("tester", "functions", "switch")]
    chosen += [getattr(options, key) for key in TECHNOLOGIES[lab.technology[0]].cpu_options]
    return {cpu for cpus in chosen for cpu in cpus or ()}


def near(
    lab: Lab, cpus: Sequence[int] | None, nodes: Mapping[int, Sequence[int]] | None
) -> Sequence[int] | None:
    """The CPUs of the lab's NUMA node, or all of them if it names none."""
    if lab.host.numa is None or nodes is None or cpus is None:
        return cpus
    return [cpu for cpu in cpus if cpu in nodes.get(lab.host.numa, ())] or cpus


def completed(lab: Lab, cpus: Sequence[int]) -> Lab:
    """The lab with everything said that it left open: the baseline, and the cores of each technology."""
    baseline = lab.baseline or lab.compared()[0]
    if lab.variants:  # each chooses its own
        return lab.model_copy(update={"baseline": baseline})
    chosen = {}
    for technology, described in TECHNOLOGIES.items():
        options = lab.options(technology)
        if technology in lab.technology:
            options = options.model_copy(update={"cores": lab.cores_for(technology, cpus)})
        chosen[described.field] = options
    return lab.model_copy(
        update={"baseline": baseline, "technologies": lab.technologies.model_copy(update=chosen)}
    )
