# SPDX-License-Identifier: Apache-2.0
"""A tenant without functions beside others with some, against the same tenant alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from weir.procedures.tenants.section_doubts import ONCE, SPREAD_REPEATS
from weir.procedures.tenants.section_rows import CARRIED, Group, Row, TcpRow, groups, of_group, rows, tcp_rows
from weir.results.result import Result
from weir.results.tenants import OUTWARD, TcpShare, TenantShare

NEAR = 0.9
"""Of what a tenant gets alone: "not very far from" it."""


@dataclass(frozen=True)
class Ratio:
    """Of what it gets beside others to what it gets alone: of the medians."""

    of: str
    """ "1,000": what it gets alone at that load, in packets a second; of TCP "what"."""
    value: float
    low: float
    high: float
    """From the farthest repeats."""
    once: bool
    """Of one repeat: there is no spread."""

    @property
    def reading(self) -> str:
        """ "0.99 (0.98 to 1.00) of 1,000"."""
        return (
            f"{self.value:.2f} ({ONCE if self.once else f'{self.low:.2f} to {self.high:.2f}'}) of {self.of}"
        )

    @property
    def near(self) -> bool | None:
        """None: the repeats allow both, or there is one."""
        if self.once or self.low < NEAR <= self.high:
            return None
        return self.low >= NEAR


@dataclass(frozen=True)
class Beside:
    """At every load that it gets through alone, or over TCP."""

    tenant: str
    of: str
    """ "4 of 4 tenants, 64 B"."""
    ratios: tuple[Ratio, ...]

    @property
    def reading(self) -> str:
        """Of all of them."""
        return ", ".join(one.reading for one in self.ratios)

    @property
    def holds(self) -> bool | None:
        """No, if it is not near at one of them; yes, if it is at each; None: not told."""
        near = [one.near for one in self.ratios]
        return False if False in near else None if None in near else True


def over_udp(result: Result) -> Iterator[Beside]:
    """Of each frame size."""
    found = rows(result)
    for row in found:
        plain = _without_functions(row)
        if plain is None:
            continue
        alone = [
            one
            for one in found
            if one.record.tenants == list(plain.tenants)
            and (one.setup.name, one.case.frame) == (row.setup.name, row.case.frame)
        ]
        ratios = tuple(_ratios(alone[0], row, plain)) if alone else ()
        if ratios:
            yield Beside(plain.title, row.title, ratios)


def _ratios(alone: Row, row: Row, plain: Group) -> Iterator[Ratio]:
    beside = _delivered(row, plain)
    for load_pps, (trials, own) in sorted(_delivered(alone, plain).items()):
        if load_pps in beside and own.loss_ratio <= CARRIED and own.delivered_min_pps > 0:
            there, other = beside[load_pps]
            yield Ratio(
                of=f"{load_pps:,.0f}",
                value=other.delivered_pps / own.delivered_pps,
                low=other.delivered_min_pps / own.delivered_max_pps,
                high=other.delivered_max_pps / own.delivered_min_pps,
                once=min(trials, there) < SPREAD_REPEATS,
            )


def _without_functions(row: Row | TcpRow) -> Group | None:
    """One tenant without functions, among others that have some."""
    alike = groups(row.record)
    plain = [
        one for one in alike if len(one.tenants) == 1 and not row.record.through.get(one.tenants[0], ["?"])
    ]
    return plain[0] if plain and len(alike) > 1 else None


def _delivered(row: Row, group: Group) -> dict[float, tuple[int, TenantShare]]:
    """By load: trials, and what it got."""
    return {
        point.load_pps: (point.trials, shares[0])
        for point in row.record.points
        if (shares := of_group(point, group, OUTWARD))
    }


def over_tcp(result: Result) -> Iterator[Beside]:
    """Likewise."""
    found = tcp_rows(result)
    for row in found:
        plain = _without_functions(row)
        if plain is None:
            continue
        tenant = plain.tenants[0]
        alone = [one for one in found if one.record.tenants == [tenant] and one.setup.name == row.setup.name]
        own = _goodput(alone[0].record.shares, tenant) if alone else None
        other = _goodput(row.record.shares, tenant)
        if own is None or other is None:
            continue
        (rate, low, high), (beside, least, most) = own, other
        once = min(_repeats(alone[0], tenant), _repeats(row, tenant)) < SPREAD_REPEATS
        yield Beside(tenant, row.sending, (Ratio("what", beside / rate, least / high, most / low, once),))


def _goodput(shares: Sequence[TcpShare], tenant: str) -> tuple[float, float, float] | None:
    """Median, least and greatest of the repeats in bit/s; None: nothing is known, or nothing came."""
    one = next((each for each in shares if each.tenant == tenant and each.goodput_bps), None)
    if one is None or not one.goodput_bps:
        return None
    rate = one.goodput_bps
    return rate, one.goodput_min_bps or rate, one.goodput_max_bps or rate


def _repeats(row: TcpRow, tenant: str) -> int:
    return next(one.repeats for one in row.record.shares if one.tenant == tenant)
