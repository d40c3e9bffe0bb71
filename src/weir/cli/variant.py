# SPDX-License-Identifier: Apache-2.0
"""Commands with variants: which one the options ask for, and whether they go together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from weir.cli.exits import USAGE, CommandError


@dataclass(frozen=True)
class Variant:
    """One way to use a command. Names are those of the command's parameters."""

    name: str
    asked_by: str
    """The parameter that asks for it: "lab"."""
    said: str
    """The same as an error says it: "a LAB"."""
    takes: frozenset[str]
    """Parameters besides, all optional here."""
    value: str | None = None
    """What the parameter must be; None: anything."""


def chosen(variants: Sequence[Variant], parameters: Mapping[str, Any]) -> str:
    """The name of the variant that the given parameters ask for; absent ones are None or False.

    CommandError unless it is exactly one, and all the others are of that variant.
    """
    given = {name: value for name, value in parameters.items() if value is not None and value is not False}
    asked = [one for one in variants if one.asked_by in given]
    taken = {name for one in asked for name in one.takes}
    asked = [one for one in asked if one.asked_by not in taken]
    _check_values(asked, given)
    asked = [one for one in asked if one.value in (None, given[one.asked_by])]
    if len(asked) != 1:
        found = " and ".join(one.said for one in asked) or "none of them"
        raise CommandError(
            f"expected one of {', '.join(one.said for one in variants)}; there is {found}", USAGE
        )
    (variant,) = asked
    foreign = [name for name in given if name not in variant.takes | {variant.asked_by}]
    if foreign:
        options = ", ".join(sorted(option(name) for name in foreign))
        raise CommandError(f"{variant.said} does not go with {options}", USAGE)
    return variant.name


def _check_values(asked: Sequence[Variant], given: Mapping[str, Any]) -> None:
    from weir.lab.problem import did_you_mean

    for name in {one.asked_by for one in asked}:
        known = [one.value for one in asked if one.asked_by == name and one.value is not None]
        if known and given[name] not in known:
            hint = did_you_mean(given[name], known)
            raise CommandError(
                f"unknown {option(name)} {given[name]!r}; known: {', '.join(known)}{hint}", USAGE
            )


def option(parameter: str) -> str:
    """How the command line writes a parameter: `cpu_ghz` is --cpu-ghz, `lab` is LAB."""
    named = {"lab": "LAB", "as_json": "--json", "fleet_path": "--fleet"}
    return named.get(parameter, "--" + parameter.replace("_", "-"))
