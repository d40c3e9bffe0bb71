# SPDX-License-Identifier: Apache-2.0
"""The "x + y" configurations, and where their parameters come from: Table 1, Table 2, or points in a file.

Table 2 is said to be calibrated from the points of Table 1; `agree` says where it is not.
"""

from __future__ import annotations

import csv
import functools
import io
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import resources

from weir.planning.kernel_vnf.equations import (
    Parameters,
    Point,
    calibrate,
    cumulative_cycles,
    measured_cycles,
)

_NAME = re.compile(r"(?P<x>[1-9][0-9]?)\+(?P<y>[1-9][0-9]?)(/(?P<coalescing>[A-Za-z0-9.-]{1,16}))?", re.ASCII)
PUBLISHED = ("table-2", "table-1")
"""Sources that come with Weir, the default first: it is what [ExecAreas] applies to (5) and (6)."""


@dataclass(frozen=True)
class Configuration:
    """A way to spread the execution areas over a set of x + y cores."""

    name: str
    """`2+1/ic125`: x + y, and the network card's interrupt coalescing in µs where it matters."""
    infrastructure_cores: int
    """x"""
    function_cores: int
    """y"""
    parameters: Parameters
    points: tuple[Point, ...] = ()
    """What the parameters were calibrated from. Table 2's, too, claim to come from Table 1's points."""

    @property
    def cores(self) -> int:
        """x + y, of one set."""
        return self.infrastructure_cores + self.function_cores

    def scale(self, cores: int, flows: int) -> int:
        """f: a set for each flow, as many as f (x + y) <= n allows; 0 if not one set fits."""
        return min(flows, cores // self.cores)


def named(name: str, parameters: Parameters, points: tuple[Point, ...] = ()) -> Configuration:
    """The configuration of that name. ValueError if it says no x + y."""
    match = _NAME.fullmatch(name)
    if match is None:
        raise ValueError(f"configuration {name!r}; expected cores as x+y, such as 2+1 or 2+1/ic125")
    return Configuration(name, int(match["x"]), int(match["y"]), parameters, points)


@functools.cache
def published(source: str) -> Mapping[str, Configuration]:
    """The eight configurations by name, with the parameters of that table; `source` is one of PUBLISHED."""
    by_points = calibrated(_table("table-1"))
    if source == "table-1":
        return by_points
    rows = csv.DictReader(io.StringIO(_table(source)))
    printed = {row["config"]: [float(row[name]) for name in ("a", "a0", "b", "b0")] for row in rows}
    return {name: named(name, Parameters(*four), by_points[name].points) for name, four in printed.items()}


def _table(source: str) -> str:
    return resources.files(__package__).joinpath(f"{source}.csv").read_text(encoding="utf-8")


def calibrated(text: str) -> Mapping[str, Configuration]:
    """Configurations by name, calibrated from CSV: `config,f,frame_bytes`, and `cycles` or `cpu_ghz,mpps`.

    `cycles` is the cumulative cost C_Cf; it follows from the highest throughput with less than 0.5 % loss,
    which may be given instead. Of other columns only a `basis` that says `assumed` matters. ValueError says
    what is wrong, and in which line.
    """
    points: dict[str, list[Point]] = {}
    for name, point in _points(text):
        points.setdefault(name, []).append(point)
    if not points:
        raise ValueError("no points; expected four or more for each configuration")
    found = {}
    for name, of_it in points.items():
        try:
            found[name] = named(name, calibrate(of_it), tuple(of_it))
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from None
    return found


def _points(text: str) -> Iterator[tuple[str, Point]]:
    rows = csv.DictReader(io.StringIO(text), restval="")
    columns = set(rows.fieldnames or ())
    by_rate = "cycles" not in columns
    needed = ["config", "f", "frame_bytes", *(("cpu_ghz", "mpps") if by_rate else ("cycles",))]
    if not columns.issuperset(needed):
        raise ValueError(
            "expected a first line with config,f,frame_bytes and cycles, or cpu_ghz,mpps instead"
        )
    for row in rows:
        try:
            scale = int(row["f"])
            values = [float(row[name]) for name in needed[2:]]
        except ValueError:
            raise ValueError(f"line {rows.line_num}: expected numbers in {', '.join(needed[1:])}") from None
        if scale < 1 or not all(0 < value < math.inf for value in values):
            raise ValueError(f"line {rows.line_num}: expected numbers above 0 in {', '.join(needed[1:])}")
        frame_bytes, *cost = values
        cycles = measured_cycles(scale, cost[0] * 1e9, cost[1] * 1e6) if by_rate else cost[0]
        yield row["config"].strip(), Point(scale, frame_bytes, cycles, row.get("basis") == "assumed")


# Half of the last digit that is printed: of costs in Table 1, of a and a0, and of b and b0 in Table 2.
HALF_CYCLE = 0.5
HALF_SLOPE = 0.00005
HALF_OFFSET = 0.05


def agree(name: str) -> bool:
    """Table 2 gives the points of Table 1 back, as far as the digits of both can tell."""
    return all(
        abs(_by_table_2(name, point) - point.cycles) <= _hidden_by_rounding(point)
        for point in published("table-1")[name].points
    )


def disagreements(name: str) -> list[float]:
    """How far the costs by Table 2 are from the points of Table 1, relative to these, in their order."""
    return [_by_table_2(name, point) / point.cycles - 1 for point in published("table-1")[name].points]


def _by_table_2(name: str, point: Point) -> float:
    return cumulative_cycles(published("table-2")[name].parameters, point.scale, point.frame_bytes)


def _hidden_by_rounding(point: Point) -> float:
    """How far apart the two can be, in cycles, though both were rounded from the same numbers."""
    slope, offset = HALF_SLOPE * point.frame_bytes, HALF_OFFSET
    return HALF_CYCLE + (slope + offset) * (point.scale + 1)
