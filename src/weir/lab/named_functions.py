# SPDX-License-Identifier: Apache-2.0
"""Functions that a command names in place of a lab file: `nat:external=203.0.113.0/24,l3fwd`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from weir.lab.nf import NfOption, Scalar, network_functions
from weir.lab.problem import LabFileError, Problem, nearest
from weir.technology import TECHNOLOGIES

EXAMPLE = "functions joined by commas: nat,l3fwd"
NAME_LONGEST = 32
_QUICK: dict[str, Any] = {
    "traffic": {"frames": [64]},
    "measure": {
        "relative_width": 0.02,
        "trial": {"duration_s": 0.1, "initial_duration_s": 0.1, "duration_sum_s": 0.3, "drain_ms": 30},
        "warm_up_s": 0.2,
        "repeats": 1,
        "revisit_s": 15,
        "confirm_trials": 1,
        "time_limit_s": 15,
        "curve": {"points": 4, "duration_s": 0.1},
        "calibration": {"duration_s": 0.2},
    },
}


@dataclass(frozen=True)
class NamedFunction:
    """One of them, with its options."""

    nf: str
    options: dict[str, Scalar] = field(default_factory=dict)


def named_functions(text: str) -> list[NamedFunction]:
    """`nat,l3fwd`, from left to right; options follow a colon each. LabFileError says what was expected."""
    return [_named(part.strip(), text) for part in text.split(",")]


def lab_of_functions(text: str) -> str | None:
    """A lab file with these in a chain, in YAML; None: nothing of `text` is a function. LabFileError: some of
    it is, and the rest is wrong."""
    functions = network_functions()
    if not any(part.partition(":")[0].strip() in functions for part in text.split(",")):
        return None
    known = named_functions(text)
    names = numbered([one.nf for one in known])
    # JSON is YAML.
    return json.dumps(
        {
            "weir": 1,
            "name": "-".join(names)[:NAME_LONGEST].rstrip("-"),
            "title": f"{text}, as the command line names it",
            "chain": [names],
            "technology": _everywhere(),
            "functions": {
                name: {"nf": one.nf, "options": one.options} for name, one in zip(names, known, strict=True)
            },
            "traffic": {"frames": [64, 1518]},
            "quick": _QUICK,
        }
    )


def _everywhere() -> list[str]:
    """Technologies that need no program of a switch and no card; ratios are to the first, a switch's."""
    found = [one for one in TECHNOLOGIES.values() if one.switch in ("none", "inline") and not one.physical]
    return [one.name for one in sorted(found, key=lambda one: one.switch == "none")]


def numbered(names: Sequence[str]) -> list[str]:
    """Names that occur twice get numbers: "l2fwd-1", "l2fwd-2"."""
    return [
        name if names.count(name) == 1 else f"{name}-{names[: at + 1].count(name)}"
        for at, name in enumerate(names)
    ]


def _named(text: str, whole: str) -> NamedFunction:
    name, *settings = text.split(":")
    functions = network_functions()
    if name not in functions:
        raise _refused(
            whole,
            f"there is no lab and no function {name!r}",
            f"a lab file, or functions joined by commas: {', '.join(functions)}",
            nearest(name, list(functions)),
        )
    options: dict[str, Scalar] = {}
    stand_in = functions[name].stand_in
    for setting in [*([stand_in] if stand_in is not None else []), *settings]:
        key, _, value = setting.partition("=")
        option = functions[name].option(key)
        if option is None:
            names = [known.name for known in functions[name].options]
            raise _refused(
                whole, f"{name} has no option {key!r}", f"one of {', '.join(names)}", nearest(key, names)
            )
        options[key] = _typed(name, option, value, whole)
    return NamedFunction(name, options)


def _typed(function: str, option: NfOption, text: str, whole: str) -> Scalar:
    try:
        return option.typed(text)
    except ValueError as error:
        raise _refused(whole, f"option {option.name} of {function} is {text!r}", str(error)) from None


def _refused(whole: str, message: str, expected: str, meant: str | None = None) -> LabFileError:
    return LabFileError([Problem(whole, 0, 0, "", message, expected, meant)])
