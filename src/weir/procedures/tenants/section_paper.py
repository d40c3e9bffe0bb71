# SPDX-License-Identifier: Apache-2.0
"""What the paper on tenants' networks in OpenStack found (Callegati, Cerroni, Contoli: sections 5.2 to 5.4),
beside this machine's numbers, and whether it holds in them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from weir.lab.frames import frame_label, mean_frame_bytes
from weir.procedures.tenants.section_beside import NEAR, Beside, over_tcp, over_udp
from weir.procedures.tenants.section_doubts import ONCE, in_doubt, once
from weir.procedures.tenants.section_rows import Row, rows
from weir.procedures.tenants.section_slope import slopes
from weir.procedures.tenants.section_steps import steps
from weir.report.rates import NoRatio, compared, exceeds
from weir.results.result import Result, Throughput
from weir.results.tenants import OUTWARD

HEAD = ("Finding", "in the paper", "here", "holds here")
TENANT_SHARE = 0.10
"""A tenant more takes it off all together, from FEWEST to MOST that send: section 5.3."""
FEWEST, MOST = 2, 4
TENANT_HOLDS = TENANT_SHARE / 2
"""Of the rate of FEWEST: what a tenant more must take, at least, for the finding to hold."""
FUNCTION_HOLDS = 0.10
"""Of the rate without: what a function more must take, at least."""
MEANING = (
    "Callegati, Cerroni and Contoli measured it on machines of their own for senders, nodes and receivers. "
    "Not told: there is one repeat, the repeats allow both, or a rate is a bound that does not tell."
)
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
    """Those that the run has numbers for: none of packets from outside, which the paper does not have."""
    if any(row.record.directions != [OUTWARD] for row in rows(result)):
        return []
    every: tuple[Callable[[Result], Iterator[Check]], ...] = (
        _tenants,
        _functions,
        _bypass,
        _small_frames,
        _beside,
    )
    return [check for one in every for check in one(result)]


def _tenants(result: Result) -> Iterator[Check]:
    """Over the numbers of tenants that the paper has, where they were measured."""
    for one in slopes(result, FEWEST, MOST):
        if (one.fewest, one.most) != (FEWEST, MOST):
            continue
        decided = not one.once and not one.low <= -TENANT_HOLDS < one.high
        yield Check(
            f"Each tenant more takes {TENANT_HOLDS:.0%} or more off all together ({one.goal}, {one.of})",
            f"about {TENANT_SHARE:.0%}, from {FEWEST} to {MOST}",
            f"{one.reading} of the rate of {FEWEST}, from {FEWEST} to {MOST}{one.besides}",
            one.high <= -TENANT_HOLDS if decided else None,
        )


def _functions(result: Result) -> Iterator[Check]:
    for one in steps(result):
        yield Check(
            f"A shared function more takes {FUNCTION_HOLDS:.0%} or more off all together: {one.functions} "
            f"({one.goal}, {one.of})",
            "rapidly less, most of all behind the firewall of 40,000 rules",
            one.reading,
            one.takes(FUNCTION_HOLDS),
        )


def _bypass(result: Result) -> Iterator[Check]:
    found = rows(result)
    for bridged in (row for row in found if row.setup.technology == _BRIDGED):
        for row in found:
            way = row.setup.technology == _BYPASSED and _way(row) == _way(bridged)
            if not way or (row.setup.chain, row.case.frame) != (bridged.setup.chain, bridged.case.frame):
                continue
            for one, other in _same_goals(row, bridged):
                doubtful = in_doubt((("without", row, one), ("with the bridge", bridged, other)))
                yield Check(
                    f"Without the filtering bridge more gets through ({other.goal}, {row.setup.chain}, "
                    f"{frame_label(row.case.frame)} B)",
                    "more, most of all with 4 tenants",
                    _times(one, other) + doubtful,
                    _more(one, other),
                )


def _way(row: Row) -> str:
    """What is in the way besides the filters."""
    return (row.setup.variant or "").removeprefix(f"{row.setup.technology}, ")


def _same_goals(one: Row, other: Row) -> Iterator[tuple[Throughput, Throughput]]:
    known = {each.goal: each for each in other.case.throughput if each.load_pps}
    for each in one.case.throughput:
        if each.load_pps and each.goal in known:
            yield each, known[each.goal]


def _times(one: Throughput, other: Throughput) -> str:
    """ "1.50 × (1.47 to 1.53)", "at least 1.50 ×"; why there is no ratio."""
    ratio = compared(one, other)
    if isinstance(ratio, NoRatio):
        return f"no ratio, since {ratio}"
    if ratio.bound != "=":
        return f"at {'least' if ratio.bound == '>=' else 'most'} {ratio.value:.2f} ×"
    return f"{ratio.value:.2f} × ({ONCE if once(one, other) else f'{ratio.low:.2f} to {ratio.high:.2f}'})"


def _more(one: Throughput, other: Throughput) -> bool | None:
    """Whether the one is higher by all that repeats, bounds and states of the machine allow; None: neither,
    or one repeat."""
    if once(one, other):
        return None
    return True if exceeds(one, other) else False if exceeds(other, one) else None


def _small_frames(result: Result) -> Iterator[Check]:
    by_setup: dict[str, list[Row]] = {}
    for row in rows(result):
        by_setup.setdefault(row.sending, []).append(row)
    for sending, found in by_setup.items():
        ordered = sorted(found, key=lambda row: mean_frame_bytes(row.case.frame))
        if not ordered[1:]:
            continue
        small, large = ordered[0], ordered[-1]
        sizes = [f"{frame_label(row.case.frame)} B" for row in (small, large)]
        for one, other in _same_goals(small, large):
            doubtful = in_doubt(((sizes[0], small, one), (sizes[1], large, other)))
            yield Check(
                f"Small frames lose first ({one.goal}, {sending})",
                "64 B above 25,000 packets a second each, 1500 B above 50,000, behind one function",
                f"{sizes[0]} above {_ends(one)} of all together, {sizes[1]} above {_ends(other)}"
                f"{f', {ONCE}' if once(one, other) else ''}{doubtful}",
                _more(other, one),
            )


def _ends(found: Throughput) -> str:
    """ "9,900 to 10,100"; "at least 16,760" where the tester or the lab was the limit."""
    rate = found.load_pps or 0.0
    low, high = found.interval_pps or (found.load_min_pps or rate, found.load_max_pps or rate)
    if found.at_least:
        return f"at least {low:,.0f}"
    return " to ".join(dict.fromkeys(f"{end:,.0f}" for end in (low, high)))


def _beside(result: Result) -> Iterator[Check]:
    for one in over_udp(result):
        yield _of_beside(one, "", "not very far from it, especially below 35,000 packets a second")
    for one in over_tcp(result):
        yield _of_beside(one, " over TCP", "the same conclusions as for UDP")


def _of_beside(one: Beside, how: str, paper: str) -> Check:
    return Check(
        f"Beside shaped neighbours, {one.tenant} gets {NEAR:.0%} or more of what it gets alone{how} "
        f"({one.of})",
        paper,
        f"{one.reading}{'' if how else ' packets a second that'} it gets alone",
        one.holds,
    )
