# SPDX-License-Identifier: Apache-2.0
"""Linux in the place of Weir's functions: what it has no counterpart of, or not together, or not in that
order."""

from __future__ import annotations

from collections.abc import Iterator

from weir.lab.complaint import Complaint
from weir.lab.counterparts import COUNTERPARTS, OTHER_WAYS, linux_counterpart
from weir.lab.function import FunctionOptions
from weir.lab.nf import network_functions
from weir.lab.source import KeyPath


def linux_as_complaints(path: KeyPath, function: FunctionOptions) -> Iterator[Complaint]:
    """Of one function, which Linux does."""
    rewriting, before = None, set[str]()
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
        if known.needs and not any(one.options.get(key) for key in known.needs):
            message = f"has no {' and no '.join(known.needs)}, of which Linux is set up"
            yield Complaint((*at[:-1], "options"), message, " or ".join(known.needs), about=(at,))
        if known.filters and rewriting is not None:
            message = f"stands beyond {rewriting}, and Linux filters before that has translated all addresses"
            yield Complaint(at, message, f"{one.nf} before {rewriting}", about=about)
        rewriting = one.nf if known.rewrites else rewriting
    if by is not None and not any(one.nf in OTHER_WAYS[by] for one in function.linux_as()):
        message = f"{by} does what {' and '.join(OTHER_WAYS[by])} do, and the function has none of these"
        yield Complaint((*path, "kernel", "counterpart"), message, "another nf", about=((*path, "nf"),))
    if function.linux_as() and options is not None and options.addressing != "routed":
        message = f"is {options.addressing}, and the counterparts of Weir's functions are of a router"
        at = (*path, "kernel", "addressing")
        yield Complaint(at, message, "addressing: routed", about=((*path, "nf"),))
