# SPDX-License-Identifier: Apache-2.0
"""The cost model between its document and its mathematics; and whether it is of this machine."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from weir.lab import Chain, Lab
from weir.lab.nf import Nf, Scalar, network_functions
from weir.planning.model.capacity import CostModel, Range
from weir.planning.model.fit import Parameters
from weir.planning.model.intervals import Spread
from weir.planning.model.terms import MemoryCurve
from weir.results.fingerprint import differences
from weir.results.model import ModelDocument, ModelParameter
from weir.results.result import Fingerprint

_MACHINE = ("cpu", "hypervisor", "smt")
"""What makes another machine; that the rest of the fingerprint differs is worth a notice."""
_IGNORED = frozenset({"tsc_hz", "memory", "hugepages_2m", "offloads", "cores"})

_COSTLY_OPTIONS = frozenset({"bool", "int", "enum"})


def model_of(document: ModelDocument) -> CostModel:
    """For predictions."""
    names = tuple(one.name for one in document.parameters)
    return CostModel(
        parameters=Parameters(
            names,
            np.array([one.cycles for one in document.parameters]),
            np.array(document.covariance).reshape(len(names), len(names)),
        ),
        memory=MemoryCurve(tuple((float(one.size_bytes), one.cycles) for one in document.memory)),
        hz=document.counter_hz,
        utilisation=document.utilisation,
        fed_utilisation=document.fed_utilisation or document.utilisation,
        conditional=Spread(document.quality.conditional.scatter, document.quality.conditional.times),
        blind=Spread(document.quality.blind.scatter, document.quality.blind.times),
        ranges={one.name: Range(one.low, one.high) for one in document.ranges},
        distances_cycles=tuple(document.state_distances_cycles),
        slowed=document.core_speed.slowed if document.core_speed else 1.0,
    )


def parameters_of(parameters: Parameters) -> list[ModelParameter]:
    """For the document."""
    deviations = np.sqrt(np.diag(parameters.covariance))
    return [
        ModelParameter(name=name, cycles=round(float(cycles), 4), deviation_cycles=round(float(sd), 4))
        for name, cycles, sd in zip(parameters.names, parameters.cycles, deviations, strict=True)
    ]


POOR_FIT = 0.25
"""Root mean square error of rates, left out of the fit where others tell of them: from here on a prediction
says little."""


def poor_fit(document: ModelDocument) -> list[str]:
    """That the model is hardly one, where it is so."""
    off = document.quality.left_out_deviation
    if off <= POOR_FIT:
        return []
    return [
        f"This model is poor: its rates are off by ± {off:.0%}. Most often others "
        f"had the cores while it was measured: `weir doctor` names them; then calibrate "
        f"{document.lab} again."
    ]


def other_machine(document: ModelDocument, here: Fingerprint) -> list[str]:
    """Why the model is of another machine; nothing if it is not."""
    there = document.fingerprint
    same = here.model_copy(
        update={name: getattr(there, name) for name in _fields(here) if name not in _MACHINE}
    )
    return differences(there, same)


def otherwise_different(document: ModelDocument, here: Fingerprint) -> list[str]:
    """What else differs between this machine now and when the model was made."""
    there = document.fingerprint
    ignored = _IGNORED | set(_MACHINE)
    same = here.model_copy(update={name: getattr(there, name) for name in _fields(here) if name in ignored})
    versions = {name: version for name, version in there.versions.items() if name not in here.versions}
    return differences(there, same.model_copy(update={"versions": same.versions | versions}))


def other_options(document: ModelDocument, lab: Lab, chains: Iterable[Chain]) -> list[str]:
    """Functions of the chains that have other options than when they were measured.

    Lists are left out, whose lengths are terms of the model, and addresses, which cost nothing.
    """
    functions = [lab.functions[name] for chain in chains for name in chain.functions]
    found: dict[str, None] = {}
    for one in (one for function in functions for one in function.nfs()):
        if one.nf in document.options:
            differing = _differing(network_functions()[one.nf], one.options, document.options[one.nf])
            if differing:
                what = f"{one.nf} has other options than it was measured with ({'; '.join(differing)})"
                found[f"{what}: what they change of its cost is not in the prediction."] = None
    return list(found)


def _differing(nf: Nf, here: Mapping[str, Scalar], there: Mapping[str, Scalar]) -> list[str]:
    found = []
    for option in nf.options:
        if option.type in _COSTLY_OPTIONS:
            now, then = (str(options.get(option.name, option.default)).lower() for options in (here, there))
            if now != then:
                found.append(f"{option.name} {now}, not {then}")
    return found


def _fields(fingerprint: Fingerprint) -> list[str]:
    return list(type(fingerprint).model_fields)
