# SPDX-License-Identifier: Apache-2.0
"""What each function that tenants share takes off what all of them together get through: by the rate with it
and the rate without, a step for each, since functions differ."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from weir.base.si import US_PER_S
from weir.lab.frames import frame_label
from weir.procedures.tenants.section_doubts import ONCE, in_doubt, once
from weir.procedures.tenants.section_rows import SHARED, Row, rows
from weir.procedures.tenants.section_slope import slopes, untold
from weir.report.rates import NoRatio, Ratio, compared
from weir.results.result import Result, Throughput
from weir.results.tenants import Senders

_WAY = {"=": "", ">=": "at most ", "<=": "at least "}
"""What a function takes, by the bound of its ratio."""
_MORE = {"=": "", ">=": "at least ", "<=": "at most "}
"""Likewise what all get more with it."""


@dataclass(frozen=True)
class Step:
    """From the cloud with fewer shared functions to the one with more."""

    goal: str
    of: str
    """ "64 B, bridge-filter, 4 of 4"."""
    functions: str
    """Those that are more: "dpi"."""
    ratio: Ratio | NoRatio
    """Of the rate with them to that without; its interval is what the repeats allow."""
    us: float
    """Time that a packet more takes of all that works on its way together."""
    us_low: float
    us_high: float
    """From the farthest repeats."""
    once: bool
    """Of one repeat: there is no spread."""
    besides: str
    """Which rates are doubtful, as the end of a sentence."""

    @property
    def reading(self) -> str:
        """ "50.0% less for all together (-51.0% to -49.0%), +50.0 µs for each packet (+48.5 to +51.5)"."""
        ratio = self.ratio
        if isinstance(ratio, NoRatio):
            return f"not told, since {ratio}{self.besides}"
        change, less = ratio.value - 1, ratio.value <= 1
        exact = ratio.bound == "="
        shares = (
            f" ({ONCE if self.once else f'{ratio.low - 1:+.1%} to {ratio.high - 1:+.1%}'})" if exact else ""
        )
        times = "" if self.once or not exact else f" ({self.us_low:+,.1f} to {self.us_high:+,.1f})"
        word = _WAY[ratio.bound] if less else _MORE[ratio.bound]
        return (
            f"{word}{abs(change):.1%} {'less' if less else 'more'} for all together{shares}, "
            f"{_WAY[ratio.bound]}{self.us:+,.1f} µs for each packet{times}{self.besides}"
        )

    def sentence(self) -> str:
        """ "PDR at 64 B, bridge-filter, 4 of 4: with dpi 50.0% less for all together …"."""
        said = (
            f"what {self.functions} costs is" if isinstance(self.ratio, NoRatio) else f"with {self.functions}"
        )
        return f"{self.goal} at {self.of}: {said} {self.reading}."

    def takes(self, share: float) -> bool | None:
        """Whether it takes so much off, or more; None: one repeat, or repeats and bounds do not tell."""
        ratio = self.ratio
        if self.once or isinstance(ratio, NoRatio):
            return None
        if ratio.high <= 1 - share and ratio.bound != ">=":
            return True
        return False if ratio.low > 1 - share and ratio.bound != "<=" else None


def costs(result: Result) -> list[str]:
    """Sentences on what a tenant more, and each shared function, costs."""
    return [
        *(one.sentence() for one in slopes(result)),
        *untold(result),
        *(one.sentence() for one in steps(result)),
    ]


def steps(result: Result) -> list[Step]:
    """To each cloud from the one that is like it but for the last of its shared functions."""
    every = rows(result)
    found: list[Step] = []
    for row in every:
        names = _shared(row.record)
        fewer = [
            one
            for one in every
            if _alike(one) == _alike(row)
            and len(_shared(one.record)) < len(names)
            and _shared(one.record) == names[: len(_shared(one.record))]
        ]
        if fewer:
            found += _steps(row, max(fewer, key=lambda one: len(_shared(one.record))))
    return found


def _steps(row: Row, before: Row) -> Iterator[Step]:
    names = _shared(row.record)[len(_shared(before.record)) :]
    called = ", ".join(name.removeprefix(SHARED) for name in names)
    bases = {one.goal: one for one in before.case.throughput}
    for one in row.case.throughput:
        base = bases.get(one.goal)
        if base is None or not one.load_pps or not base.load_pps:
            continue
        (low, high), (less, more) = _ends(one), _ends(base)
        yield Step(
            goal=one.goal,
            of=_alike(row),
            functions=called,
            ratio=compared(one, base),
            us=US_PER_S / one.load_pps - US_PER_S / base.load_pps,
            us_low=US_PER_S / high - US_PER_S / less,
            us_high=US_PER_S / low - US_PER_S / more,
            once=once(one, base),
            besides=in_doubt((("with", row, one), ("without", before, base))),
        )


def _ends(found: Throughput) -> tuple[float, float]:
    rate = found.load_pps or 0.0
    return found.load_min_pps or rate, found.load_max_pps or rate


def _shared(record: Senders) -> tuple[str, ...]:
    """In the way of those that share some, in order."""
    ways = (tuple(name for name in through if name.startswith(SHARED)) for through in record.through.values())
    return max(ways, key=len, default=())


def _alike(row: Row) -> str:
    """What clouds have in common that differ in their shared functions alone: "64 B, bridge-filter, 4 of 4",
    or with the router that is compared, too."""
    way = (row.setup.variant or "").removeprefix(row.setup.technology)
    router = [word for word in way.split(", ") if word.endswith(" routes")]
    return ", ".join((f"{frame_label(row.case.frame)} B", row.setup.technology, *router, row.setup.chain))
