# SPDX-License-Identifier: Apache-2.0
"""Linux in the place of Weir's functions: what it has no counterpart of, or not together, or not in that
order."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from weir.lab.complaint import Complaint
from weir.lab.counterparts import COUNTERPARTS, OTHER_WAYS, linux_counterpart
from weir.lab.function import FunctionOptions, NfOptions
from weir.lab.nf import entries, network_functions
from weir.lab.source import KeyPath


def linux_as_complaints(path: KeyPath, function: FunctionOptions) -> Iterator[Complaint]:
    """Of one function, which Linux does."""
    before: set[str] = set()
    options = function.namespaced()
    by = options.counterpart if options is not None else None
    for index, one in enumerate(function.linux_as()):
        at: KeyPath = (*path, "nf") if function.nf is not None else (*path, "chain", index, "nf")
        about: tuple[KeyPath, ...] = ((*path, "kind"),)
        known = linux_counterpart(one.nf, by)
        if known is None:
            if one.nf in network_functions():
                message = f"Linux has no counterpart of {one.nf}"
                yield Complaint(at, message, "one of " + ", ".join(COUNTERPARTS), about=about)
            continue
        if known.alone and len(function.linux_as()) > 1:
            message = f"is done by {known.alone}, which has packets before Linux does anything else with them"
            yield Complaint(at, message, f"{one.nf} alone, or l3fwd by Linux's routes", about=about)
        elif one.nf in before and not known.filters:
            message = "is there already, and a namespace of Linux's has one of it"
            yield Complaint(at, message, f"one {one.nf}, or functions of their own in the chain", about=about)
        before.add(one.nf)
        yield from needs_complaints(at, one, "Linux")
    yield from _of_pairs(path, function, by)
    if by is not None and not any(one.nf in OTHER_WAYS[by] for one in function.linux_as()):
        message = f"{by} does what {' and '.join(OTHER_WAYS[by])} do, and the function has none of these"
        yield Complaint((*path, "kernel", "counterpart"), message, "another nf", about=((*path, "nf"),))
    if function.linux_as() and options is not None and options.addressing != "routed":
        message = f"is {options.addressing}, and the counterparts of Weir's functions are of a router"
        at = (*path, "kernel", "addressing")
        yield Complaint(at, message, "addressing: routed", about=((*path, "nf"),))


def needs_complaints(at: KeyPath, one: NfOptions, who: str) -> Iterator[Complaint]:
    """Of options that whatever does the same needs; `at`: where the lab names the function."""
    needs = COUNTERPARTS[one.nf].needs if one.nf in COUNTERPARTS else ()
    if needs and not any(one.options.get(key) for key in needs):
        message = f"has no {' and no '.join(needs)}, of which {who} is set up"
        yield Complaint((*at[:-1], "options"), message, " or ".join(needs), about=(at,))


def _of_pairs(path: KeyPath, function: FunctionOptions, by: str | None) -> Iterator[Complaint]:
    """Two that Linux does not do in this order, or not together, as Weir's do."""
    for pair in itertools.combinations(enumerate(function.linux_as()), 2):
        for (index, one), (other_index, other) in (pair, pair[::-1]):
            found = _beside(one, other, by, comes_first=index < other_index)
            if found is not None:
                yield Complaint((*path, "chain", index, "nf"), *found, about=((*path, "kind"),))


def _beside(one: NfOptions, other: NfOptions, by: str | None, *, comes_first: bool) -> tuple[str, str] | None:
    """What is wrong with one of them, and what was expected."""
    nf, beyond = one.nf, other.nf
    own, theirs = linux_counterpart(nf, by), linux_counterpart(beyond, by)
    if own is None or theirs is None or nf == beyond:
        return None
    if not theirs.forwards and (own.filters or own.rewrites):
        message = (
            f"stands beside {beyond} by {by}, whose packets Linux neither filters nor translates further"
        )
        return message, f"{beyond} by nftables, or {nf} in a function of its own"
    if own.filters and theirs.rewrites == "source" and not comes_first:
        message = f"stands behind {beyond}, and Linux filters before it has translated sources"
        return message, f"{nf} before {beyond}"
    if own.filters and theirs.rewrites == "destination" and comes_first:
        message = f"stands before {beyond}, and Linux filters when it has translated destinations"
        return message, f"{nf} behind {beyond}"
    if own.leaving and theirs.rewrites == "source" and _by_prefix(one):
        message = (
            f"stands beside {beyond}, and Linux shapes packets as they leave, in one direction with other"
        )
        return f"{message} addresses than Weir", f"tenants: default …, or {nf} in a function of its own"
    return None


def _by_prefix(shaper: NfOptions) -> bool:
    """Whether tenants are told apart, as those of a file are."""
    said = [one for one in entries(str(shaper.options.get("tenants") or "")) if one]
    return not said or any(one.split()[0] != "default" for one in said)
