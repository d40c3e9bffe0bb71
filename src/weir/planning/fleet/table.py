# SPDX-License-Identifier: Apache-2.0
"""A placement in the terminal: what is proved, the hosts in use by class, and what has no place."""

from __future__ import annotations

from collections.abc import Iterator

from weir.base.words import counted
from weir.report.columns import table
from weir.results.fleet_placement import Placement, Use

_ENDED = {
    "gap": "the gap asked for is proved",
    "time": "time was up",
    "interrupted": "interrupted: the best so far",
    "rounds": "nothing more to try",
}
_RESOURCES = (
    ("cores", "cores", ""),
    ("memory_gb", "memory", " GB"),
    ("hugepages_gb", "hugepages", " GB"),
    ("link_gbps", "link", " Gbit/s"),
)


def render(placement: Placement) -> str:
    """The placement as plain text; where each chain stands is in its JSON."""
    return "\n".join(_lines(placement)) + "\n"


def _lines(placement: Placement) -> Iterator[str]:
    yield (
        f"{placement.fleet}: {placement.placed:,} of {counted(placement.chains, 'chain')} placed on "
        f"{counted(placement.hosts_used, 'host')}, cost {placement.cost:,.10g}"
    )
    yield _proved(placement)
    yield f"{placement.seconds:.1f} s, seed {placement.seed}; {_ENDED[placement.ended]}"
    yield ""
    rows = [("hosts", "zone", "used", "of", "cost")]
    rows += [
        (one.host, one.zone, f"{one.used:,}", f"{one.count:,}", f"{one.cost:,.10g}")
        for one in placement.classes
    ]
    yield from table(rows)
    yield ""
    shares = [("on the hosts in use", "used", "of", "share")]
    for field, name, unit in _RESOURCES:
        use: Use = getattr(placement.uses, field)
        if use.available or use.used:
            shares.append((name, *_use(use, unit)))
    if len(shares) > 1:
        yield from table(shares)
        yield f"fullest NUMA node: {placement.fullest_node:.1%} of its scarcest resource"
    else:
        yield "no host is in use"
    if placement.unplaced:
        yield ""
        yield f"without a place: {counted(placement.chains - placement.placed, 'chain')}"
    for one in placement.unplaced:
        yield f"– {one.chain}: {one.count:,} of {one.of:,}, for lack of {one.reason}"


def _proved(placement: Placement) -> str:
    costs = f"costs less than {placement.cost_bound:,.10g}: gap {placement.gap:.2%}"
    if placement.placed == placement.chains:
        return f"proved: no placement of them {costs}"
    if placement.placed == placement.placed_bound:
        return f"proved: no placement has more of them, and none of as many {costs}"
    missing = (placement.placed_bound - placement.placed) / placement.placed_bound
    return f"proved: no placement has more than {placement.placed_bound:,} of them: gap {missing:.2%}"


def _use(use: Use, unit: str) -> tuple[str, str, str]:
    used = f"{use.used:,.10g}{unit}"
    if not use.limited:
        return used, "not limited", ""
    share = f"{use.used / use.available:.1%}" if use.available else ""
    return used, f"{use.available:,.10g}{unit}", share
