# SPDX-License-Identifier: Apache-2.0
"""What is drawn of a graph: a box for each namespace, in it a table for each bridge with its ports and one
for each interface that is in none, and lines between rows.

All of it is laid out here, and once: what a page may change is which boxes are folded.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from weir.report.graph_page.layers import Columns, Edge, components
from weir.report.graph_page.stacking import ASPECT, Gaps, Point, Size, stacked
from weir.results.host_graph import (
    Difference,
    HostGraph,
    Interface,
    Namespace,
    SwitchBridge,
    SwitchPort,
)

ROW, HEAD, FOLDED = 18.0, 22.0, 28.0
PAD, LETTER, LEAST, MOST = 10.0, 6.7, 96.0, 330.0
COLUMN = 230.0
INSIDE = Gaps(across=46.0, down=10.0, around=14.0)
OUTSIDE = Gaps(across=90.0, down=16.0, around=40.0)
PORT = "port"
"""The kind of a row that is no interface of the kernel."""
NOT_AS_BUILT = "\N{NOT EQUAL TO}"
ELSEWHERE = "elsewhere"
"""The box of switches whose namespace is not known."""


@dataclass(frozen=True)
class Row:
    """A line of a table: an interface, or a port of a switch that is no interface of the kernel."""

    id: str
    name: str
    said: str
    """At its right: the first address."""
    kind: str
    up: bool
    differs: bool = False
    """It is not as it was built."""


@dataclass
class Table:
    """A bridge with its ports, or a single interface without a head."""

    id: str
    title: str | None
    rows: list[Row]
    differs: bool = False
    """The bridge is not as it was built."""
    place: Point = (0.0, 0.0)
    """In its box."""
    size: Size = field(default_factory=lambda: Size(0, 0))

    def row_at(self, index: int) -> float:
        """The middle of a row, from the top of the table."""
        return (HEAD if self.title is not None else 0.0) + ROW * (index + 0.5)


@dataclass
class Box:
    """A namespace."""

    id: str
    title: str
    said: str
    tables: list[Table]
    size: Size = field(default_factory=lambda: Size(0, 0))
    """Open."""

    @property
    def folded(self) -> Size:
        """Folded: its name, and how much is in it."""
        return Size(_width(len(self.title) + len(self.counted) + 6), FOLDED)

    @property
    def counted(self) -> str:
        """How many interfaces."""
        return str(sum(1 for table in self.tables for row in table.rows if row.kind != PORT))


@dataclass(frozen=True)
class Line:
    """Between two rows."""

    first: str
    second: str
    kind: str


@dataclass
class Drawing:
    """All of it, and where each row is."""

    boxes: list[Box]
    lines: list[Line]
    groups: list[Columns]
    """Of boxes, while they are open."""
    folded_groups: list[Columns]
    """While all are folded."""

    def home(self) -> dict[str, tuple[Box, Table, int]]:
        """Box, table and number of each row; a bridge's own is -1."""
        found = {}
        for box in self.boxes:
            for table in box.tables:
                found[table.id] = (box, table, -1)
                found |= {row.id: (box, table, index) for index, row in enumerate(table.rows)}
        return found


def drawing(graph: HostGraph) -> Drawing:
    """Of the whole graph, but for loopbacks without anything to tell."""
    boxes = list(_boxes(graph))
    _mark(boxes, graph.differences)
    made = Drawing(boxes, [], [], [])
    home = made.home()
    made.lines = [one for one in _lines(graph) if one.first in home and one.second in home]
    for box in boxes:
        _lay_out_inside(box, [one for one in made.lines if home[one.first][0] is home[one.second][0] is box])
    edges = [_edge(one, home) for one in made.lines if home[one.first][0] is not home[one.second][0]]
    made.groups = _grouped({one.id: one.size for one in boxes}, edges)
    made.folded_groups = _grouped({one.id: one.folded for one in boxes}, edges)
    return made


def _boxes(graph: HostGraph) -> Iterator[Box]:
    masters = {join.ends[0]: join.ends[1] for join in graph.joins if join.kind in ("member", "port")}
    interfaces = {one.id: one for namespace in graph.namespaces for one in namespace.interfaces}
    for namespace in graph.namespaces:
        bridges = [one for one in graph.bridges if one.namespace == namespace.id]
        tables = [*_kernel_tables(namespace, masters), *(_switch(one, interfaces) for one in bridges)]
        yield Box(namespace.id, namespace.name, "routes" if namespace.forwards else "", tables)
    known = {one.id for one in graph.namespaces}
    loose = [one for one in graph.bridges if one.namespace not in known]
    if loose:
        yield Box(ELSEWHERE, "Open vSwitch elsewhere", "", [_switch(one, interfaces) for one in loose])


def _kernel_tables(namespace: Namespace, masters: Mapping[str, str]) -> Iterator[Table]:
    """Bridges and bonds with their members; what no bridge has, alone."""
    own = {one.id for one in namespace.interfaces}
    owners = {master for master in masters.values() if master in own}
    for one in namespace.interfaces:
        if one.id in owners or one.kind == "bridge":
            members = [each for each in namespace.interfaces if masters.get(each.id) == one.id]
            yield Table(one.id, _titled(one), [_row(each) for each in members])
        elif one.id not in masters and one.kind != "loopback":
            yield Table(f"{one.id}:alone", None, [_row(one)])


def _titled(one: Interface) -> str:
    return " ".join([one.name, *one.addresses[:1]])


def _row(one: Interface, tag: int | None = None) -> Row:
    said = [*([f"tag {tag}"] if tag is not None else []), *one.addresses[:1]]
    if not said:
        said = [f"{key} {value}" for key, value in one.details.items() if key == "id"] or [one.kind]
    return Row(one.id, one.name, " ".join(said), one.kind, one.up)


def _switch(bridge: SwitchBridge, interfaces: Mapping[str, Interface]) -> Table:
    return Table(bridge.id, bridge.name, [_port(bridge, one, interfaces) for one in bridge.ports])


def _port(bridge: SwitchBridge, port: SwitchPort, interfaces: Mapping[str, Interface]) -> Row:
    if port.interface is not None and port.interface in interfaces:
        return _row(interfaces[port.interface], port.tag)
    said = f"tag {port.tag}" if port.tag is not None else port.type
    return Row(bridge.port_id(port), port.name, said, PORT, up=True)


def _mark(boxes: list[Box], differences: Sequence[Difference]) -> None:
    """What differs says so in place of its address; what is missing has a row of its own."""
    said: dict[str, str] = {}
    for one in differences:
        if one.at is not None:
            said.setdefault(one.at, one.said)
            continue
        box = next((box for box in boxes if box.title == one.namespace), None)
        if box is None:
            box = Box(f"missing:{one.namespace}", one.namespace, "", [])
            boxes.append(box)
        name = one.what or "namespace"
        place = f"missing:{one.namespace}:{name}"
        row = Row(place, name, f"{NOT_AS_BUILT} {one.said}", PORT, up=False, differs=True)
        box.tables.append(Table(f"{place}:alone", None, [row]))
    for table in (table for box in boxes for table in box.tables):
        table.rows = [_differing(row, said) for row in table.rows]
        if table.title is not None and table.id in said:
            table.title, table.differs = f"{table.title} {NOT_AS_BUILT} {said[table.id]}", True


def _differing(row: Row, said: Mapping[str, str]) -> Row:
    if row.id not in said:
        return row
    return replace(row, said=f"{NOT_AS_BUILT} {said[row.id]}", differs=True)


def _lines(graph: HostGraph) -> Iterator[Line]:
    """Members and ports lie in their bridge's table and need none."""
    bridges = {one.id: one for one in graph.bridges}
    for join in graph.joins:
        if join.kind in ("veth", "lower"):
            yield Line(*join.ends, join.kind)
        elif join.kind in ("patch", "tunnel"):
            first, second = (
                _end(bridges[end], name) for end, name in zip(join.ends, join.ports or ("", ""), strict=True)
            )
            yield Line(first, second, join.kind)


def _end(bridge: SwitchBridge, name: str) -> str:
    """The port at that end; the bridge where the document does not name it."""
    return next((bridge.port_id(one) for one in bridge.ports if one.name == name), bridge.id)


def _edge(line: Line, home: Mapping[str, tuple[Box, Table, int]]) -> Edge:
    def down(end: str) -> float:
        box, table, index = home[end]
        return (table.place[1] + table.row_at(index)) / max(1.0, box.size.height)

    return Edge(home[line.first][0].id, home[line.second][0].id, down(line.first), down(line.second))


def _lay_out_inside(box: Box, lines: Sequence[Line]) -> None:
    where = {row.id: table for table in box.tables for row in table.rows}
    where |= {table.id: table for table in box.tables}
    for table in box.tables:
        letters = max((len(row.name) + len(row.said) + 2 for row in table.rows), default=0)
        height = (HEAD if table.title is not None else 0.0) + ROW * len(table.rows)
        table.size = Size(_width(max(letters, len(table.title or ""))), height)
    sizes = {table.id: table.size for table in box.tables}
    edges = [Edge(where[one.first].id, where[one.second].id) for one in lines]
    groups = components({name: one.height for name, one in sizes.items()}, edges, _tallest(sizes, INSIDE))
    places, whole = stacked(groups, sizes, INSIDE) if sizes else ({}, Size(0, 0))
    for table in box.tables:
        x, y = places[table.id]
        table.place = (x + PAD, y + FOLDED + PAD / 2)
    wide = max(whole.width + 2 * PAD, _width(len(box.title) + len(box.said) + 8))
    box.size = Size(wide, FOLDED + whole.height + (PAD * 1.5 if sizes else 0))


def _grouped(sizes: Mapping[str, Size], edges: Sequence[Edge]) -> list[Columns]:
    return components({name: one.height for name, one in sizes.items()}, edges, _tallest(sizes, OUTSIDE))


def _tallest(sizes: Mapping[str, Size], gaps: Gaps) -> float:
    """Of a column, so that all of it is about as wide as a screen is to its height; a few make one column."""
    area = sum((one.width + gaps.across) * (one.height + gaps.down) for one in sizes.values())
    return max([math.sqrt(area / ASPECT), COLUMN, *(one.height for one in sizes.values())])


def _width(letters: int) -> float:
    return min(MOST, max(LEAST, 16 + LETTER * letters))
