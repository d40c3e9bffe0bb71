# SPDX-License-Identifier: Apache-2.0
"""What a run of tenants found, case by case; and which of those that send are alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

from weir.lab.frames import frame_label
from weir.report import numbers
from weir.results.result import Case, Result, Setup
from weir.results.slices import DISTURBED_SHARE
from weir.results.tenants import (
    OUTWARD,
    RECORD,
    TCP_RECORD,
    Senders,
    Tenants,
    TenantShare,
    TenantsPoint,
    TenantsTcp,
)

CARRIED = 0.005
"""Loss ratio of each tenant up to which a load counts as carried."""
SHARED = "shared."
"""Before the names of functions that tenants share."""


@dataclass(frozen=True)
class Group:
    """Tenants whose packets go through the same functions."""

    title: str
    """ "plain"; "3 through firewall, shaper"; empty where all are alike."""
    tenants: tuple[str, ...]


def groups(record: Senders) -> list[Group]:
    """In the order of their first ones."""
    alike: dict[tuple[str, ...], list[str]] = {}
    for tenant in record.tenants:
        alike.setdefault(tuple(record.through.get(tenant, ())), []).append(tenant)
    if len(alike) == 1:
        return [Group("", tuple(record.tenants))]
    return [Group(_title(through, tenants), tuple(tenants)) for through, tenants in alike.items()]


def _title(through: Sequence[str], tenants: Sequence[str]) -> str:
    if len(tenants) == 1:
        return tenants[0]
    called = ", ".join(name.removeprefix(SHARED) for name in through)
    return f"{len(tenants)} through {called}" if called else f"{len(tenants)} without functions"


def named(sending: str, group: Group) -> str:
    """ "4 of 4: plain"."""
    return f"{sending}: {group.title}" if group.title else sending


@dataclass(frozen=True)
class Row:
    """One frame size, sent by so many tenants."""

    setup: Setup
    case: Case
    record: Tenants
    several: bool
    """Whether several clouds are compared, so that it must be said which this is."""

    @property
    def title(self) -> str:
        """ "4 of 4 tenants, 64 B"; "none, 4 of 4 tenants, 64 B"."""
        way = f"{self.setup.name}, " if self.several else ""
        return f"{way}{self.setup.chain} tenants, {frame_label(self.case.frame)} B"

    @property
    def frame(self) -> str:
        """ "64 B"; "64 B, none"."""
        way = f", {self.setup.name}" if self.several else ""
        return f"{frame_label(self.case.frame)} B{way}"

    @property
    def sending(self) -> str:
        """ "4 of 4"; "none, 4 of 4"."""
        return sending(self.setup, several=self.several)


@dataclass(frozen=True)
class TcpRow:
    """TCP of so many tenants."""

    setup: Setup
    record: TenantsTcp
    several: bool

    @property
    def sending(self) -> str:
        """As of packets."""
        return sending(self.setup, several=self.several)


def sending(setup: Setup, *, several: bool) -> str:
    """ "4 of 4"; "none, 4 of 4"."""
    return f"{setup.name}, {setup.chain}" if several else setup.chain


def rows(result: Result) -> list[Row]:
    """All, in stored order."""
    return [
        Row(setup, case, Tenants.model_validate(case.records[RECORD]), _several(result))
        for setup, case in result.cases()
        if RECORD in case.records
    ]


def tcp_rows(result: Result) -> list[TcpRow]:
    """Likewise."""
    return [
        TcpRow(setup, TenantsTcp.model_validate(case.records[TCP_RECORD]), _several(result))
        for setup, case in result.cases()
        if TCP_RECORD in case.records
    ]


def _several(result: Result) -> bool:
    return len({setup.name for setup in result.setups}) > 1


WAYS = {OUTWARD: "to outside", "right-to-left": "from outside"}
"""Directions in words."""


def of_group(point: TenantsPoint, group: Group, direction: str) -> list[TenantShare]:
    """Its shares of a load, in that direction."""
    return [one for one in point.shares if one.tenant in group.tenants and one.direction == direction]


def lost(shares: Sequence[TenantShare]) -> float:
    """Of what all of them sent."""
    offered = sum(one.offered_pps for one in shares)
    return 1 - sum(one.delivered_pps for one in shares) / offered if offered else 0.0


def carried(shares: Sequence[TenantShare]) -> bool:
    """Whether none of them lost more than counts as carried."""
    return all(one.loss_ratio <= CARRIED for one in shares)


def ends(values: Sequence[float]) -> str:
    """ "4,132–4,160"; a single one where both are the same."""
    return "–".join(dict.fromkeys(f"{end:,.0f}" for end in (min(values), max(values))))


def arrived(row: Row, point: TenantsPoint) -> str:
    """ "4,132–4,160, 59 % lost": of each, and of all that are alike, by direction; why there is nothing."""
    if not point.shares:
        return point.why or ""
    said, plain = [], row.record.directions == [OUTWARD]
    for group, direction in product(groups(row.record), row.record.directions):
        shares = of_group(point, group, direction)
        less = lost(shares)
        text = ends([one.delivered_pps for one in shares]) + (f", {numbers.share(less)} lost" if less else "")
        of = ", ".join([*([group.title] if group.title else []), *([] if plain else [WAYS[direction]])])
        said.append(f"{of}: {text}" if of else text)
    return "; ".join(said) + disturbed(point)


def disturbed(point: TenantsPoint) -> str:
    """A mark behind what less than half of the time of some trial tells."""
    return " D" if point.counted_share < 1 - DISTURBED_SHARE else ""
