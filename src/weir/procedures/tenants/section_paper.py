# SPDX-License-Identifier: Apache-2.0
"""What the paper on tenants' networks in OpenStack found (Callegati, Cerroni, Contoli: sections 5.2 to 5.4),
beside this machine's numbers, and whether it holds in them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from weir.lab.frames import mean_frame_bytes
from weir.procedures.tenants.section_rows import CARRIED, Group, Row, TcpRow, groups, of_group, rows, tcp_rows
from weir.procedures.tenants.section_slope import WORDS, slopes
from weir.report.summary import frame_label
from weir.results.result import Result, Throughput
from weir.results.tenants import TenantShare

HEAD = ("Finding", "in the paper", "here", "holds here")
TENANT_SHARE = -0.10
"""A tenant more, of what all together get: section 5.3."""
NEAR = 0.9
"""Of what a tenant gets alone: "not very far from" it."""
ONCE = "one repeat"
"""In place of a spread: nothing is told from it."""
_TWO = 2
_BRIDGED, _BYPASSED = "bridge-filter", "none"


@dataclass(frozen=True)
class Check:
    """One finding."""

    finding: str
    paper: str
    here: str
    holds: bool | None
    """None: this run's numbers do not tell."""

    @property
    def answer(self) -> str:
        """ "yes"."""
        return "not told" if self.holds is None else "yes" if self.holds else "no"

    def sentence(self) -> str:
        """For a list."""
        return f"{self.finding}. In the paper: {self.paper}. Here: {self.here}. Holds here: {self.answer}."


def checks(result: Result) -> list[Check]:
    """Those that the run has numbers for."""
    every: tuple[Callable[[Result], Iterator[Check]], ...] = (
        _costs,
        _bypass,
        _small_frames,
        _unchained,
        _unchained_tcp,
    )
    return [check for one in every for check in one(result)]


def _costs(result: Result) -> Iterator[Check]:
    for one in slopes(result):
        tenant = one.more == "tenant"
        rate = "" if tenant else " of the rate without"
        yield Check(
            f"A {WORDS[one.more]} takes something off all together ({one.goal}, {one.of})",
            f"about {-TENANT_SHARE:.0%} less, from 2 to 4"
            if tenant
            else "rapidly less, most of all behind the firewall of 40,000 rules",
            f"{one.reading}{rate}, from {one.fewest} to {one.most}",
            None if one.low <= 0 <= one.high else one.high < 0,
        )


def _bypass(result: Result) -> Iterator[Check]:
    found = rows(result)
    for bridged in (row for row in found if row.setup.technology == _BRIDGED):
        for row in found:
            way = row.setup.technology == _BYPASSED and _way(row) == _way(bridged)
            if not way or (row.setup.chain, row.case.frame) != (bridged.setup.chain, bridged.case.frame):
                continue
            for one, other in _same_goals(row, bridged):
                low, high = _span(one)[0] / _span(other)[1], _span(one)[1] / _span(other)[0]
                once = _once(one, other)
                yield Check(
                    f"Without the filtering bridge more gets through ({other.goal}, {row.setup.chain}, "
                    f"{frame_label(row.case.frame)} B)",
                    "more, most of all with 4 tenants",
                    f"{(one.load_pps or 0) / (other.load_pps or 1):.2f} × "
                    f"({ONCE if once else f'{low:.2f} to {high:.2f}'})",
                    None if once or low <= 1 <= high else low > 1,
                )


def _way(row: Row) -> str:
    """What is in the way besides the filters."""
    return (row.setup.variant or "").removeprefix(f"{row.setup.technology}, ")


def _same_goals(one: Row, other: Row) -> Iterator[tuple[Throughput, Throughput]]:
    known = {each.goal: each for each in other.case.throughput if each.load_pps}
    for each in one.case.throughput:
        if each.load_pps and each.goal in known:
            yield each, known[each.goal]


def _once(*found: Throughput) -> bool:
    """Whether one of them has no spread."""
    return any(one.repeats < _TWO for one in found)


def _from_to(low: float, high: float) -> str:
    return " to ".join(dict.fromkeys(f"{end:,.0f}" for end in (low, high)))


def _span(one: Throughput) -> tuple[float, float]:
    rate = one.load_pps or 0.0
    return one.load_min_pps or rate, one.load_max_pps or rate


def _small_frames(result: Result) -> Iterator[Check]:
    by_setup: dict[str, list[Row]] = {}
    for row in rows(result):
        by_setup.setdefault(row.sending, []).append(row)
    for sending, found in by_setup.items():
        ordered = sorted(found, key=lambda row: mean_frame_bytes(row.case.frame))
        if len(ordered) < _TWO:
            continue
        small, large = ordered[0], ordered[-1]
        sizes = [frame_label(row.case.frame) for row in (small, large)]
        for one, other in _same_goals(small, large):
            (low, high), (less, more) = _span(one), _span(other)
            yield Check(
                f"Small frames lose first ({one.goal}, {sending})",
                "64 B above 25,000 packets a second each, 1500 B above 50,000, behind one function",
                f"{sizes[0]} B above {_from_to(low, high)} of all together, {sizes[1]} B above "
                f"{_from_to(less, more)}{f', {ONCE}' if _once(one, other) else ''}",
                None if _once(one, other) or (low <= more and less <= high) else high < less,
            )


def _unchained(result: Result) -> Iterator[Check]:
    """The tenant without functions beside others with some, against the same tenant alone."""
    found = rows(result)
    for row in found:
        plain = _without_functions(row)
        alone = next(
            (
                one
                for one in found
                if plain is not None
                and one.record.tenants == list(plain.tenants)
                and (one.setup.name, one.case.frame) == (row.setup.name, row.case.frame)
            ),
            None,
        )
        if plain is None or alone is None:
            continue
        ratios = {}
        for load_pps, own in _delivered(alone, plain).items():
            beside = _delivered(row, plain).get(load_pps)
            if beside is not None and own.loss_ratio <= CARRIED:
                ratios[load_pps] = beside.delivered_pps / own.delivered_pps
        if not ratios:
            continue
        shown = ", ".join(f"{ratio:.2f} of {load:,.0f}" for load, ratio in ratios.items())
        yield Check(
            f"Beside shaped neighbours, {plain.title} gets nearly what it gets alone ({row.title})",
            "not very far from it, especially below 35,000 packets a second",
            f"{shown} packets a second that it gets alone",
            min(ratios.values()) >= NEAR,
        )


def _without_functions(row: Row | TcpRow) -> Group | None:
    """One tenant without functions, among others that have some."""
    alike = groups(row.record)
    plain = [
        one for one in alike if len(one.tenants) == 1 and not row.record.through.get(one.tenants[0], ["?"])
    ]
    return plain[0] if plain and len(alike) > 1 else None


def _delivered(row: Row, group: Group) -> dict[float, TenantShare]:
    return {
        point.load_pps: of_group(point, group)[0] for point in row.record.points if of_group(point, group)
    }


def _unchained_tcp(result: Result) -> Iterator[Check]:
    found = tcp_rows(result)
    for row in found:
        plain = _without_functions(row)
        if plain is None:
            continue
        tenant = plain.tenants[0]
        alone = [one for one in found if one.record.tenants == [tenant] and one.setup.name == row.setup.name]
        rates = [
            next((one.goodput_bps for one in each.record.shares if one.tenant == tenant), None)
            for each in (*alone, row)
        ]
        if len(rates) < _TWO or not all(rates):
            continue
        ratio = (rates[1] or 0.0) / (rates[0] or 1.0)
        yield Check(
            f"Beside shaped neighbours, {tenant} gets nearly what it gets alone over TCP ({row.sending})",
            "the same conclusions as for UDP",
            f"{ratio:.2f} of what it gets alone",
            ratio >= NEAR,
        )
