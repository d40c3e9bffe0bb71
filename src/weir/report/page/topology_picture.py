# SPDX-License-Identifier: Apache-2.0
"""The built chain as SVG: nodes in a row, the switch as a bar under them, or plain wires between them.

A chain is a line, so the layout is arithmetic: column k holds node k, the tester stands at both ends.
Lengths are SVG user units (px at full size). Colours come from the page's style sheet.
"""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup

from weir.base.node import Node, Port
from weir.base.topology import Topology
from weir.report import summary
from weir.report.page.markup import tag
from weir.results.result import Result

NODE_W, NODE_H, GAP = 148, 74, 88
TOP, MARGIN = 30, 14
DROP_H = 84  # between the nodes and the switch
SWITCH_H = 62
PORT = 11
CORE_COLOURS = 6


@dataclass(frozen=True)
class _Place:
    """A node's column and the middle of one of its ports."""

    x: float
    y: float


def pictures(result: Result) -> Markup:
    """One figure a setup. The script shows one technology at a time; without it all are shown."""
    figures = [
        tag(
            "figure",
            tag(
                "figcaption",
                tag("b", setup.title),
                tag(
                    "span",
                    f" · {summary.switch(setup)}",
                    class_="dim",
                ),
            ),
            tag(
                "div",
                picture(setup.topology, setup.datapath),
                class_="scroll",
                tabindex=0,
                role="group",
                aria_label=f"Picture of {setup.title}",
            ),
            class_="built",
            data_technology=setup.name,
        )
        for setup in result.setups
        if setup.topology is not None
    ]
    return tag("div", figures, id="pictures")


def picture(topology: Topology, datapath: str) -> Markup:
    """The whole drawing. It scales down to the width that there is; its texts say everything it shows."""
    functions = topology.functions()
    tester = next(node for node in topology.nodes if node.role == "tester")
    columns = [tester, *functions, tester]
    switched = any(link.network for link in topology.links)
    width = 2 * MARGIN + len(columns) * NODE_W + (len(columns) - 1) * GAP
    height = TOP + NODE_H + (DROP_H + SWITCH_H if switched else 0) + MARGIN
    body = [_node(topology, node, column, len(columns)) for column, node in enumerate(columns)]
    if switched:
        body.insert(0, _switch(topology, datapath, width))
    body.extend(_link(topology, index, switched) for index in range(len(topology.links)))
    return tag(
        "svg",
        tag("title", f"{topology.chain} under {topology.technology}"),
        tag("desc", description(topology, datapath)),
        body,
        viewBox=f"0 0 {width} {height}",
        width=width,
        height=height,
        role="img",
        class_="topology",
    )


def description(topology: Topology, datapath: str) -> str:
    """The picture in words, for those who do not see it."""
    path = []
    for link in topology.links:
        left, right = topology.port(link.left), topology.port(link.right)
        path.append(f"{left.name} ({left.kind}) – {link.name} – {right.name} ({right.kind})")
    cores = ", ".join(f"{node.name} on {_cores(node.cores)}" for node in topology.nodes)
    switch = f" Switch: {datapath}, {_cores(topology.switch_cores)}." if topology.switch_cores else ""
    return f"{'; '.join(path)}. {cores}.{switch}"


def _node(topology: Topology, node: Node, column: int, columns: int) -> Markup:
    x = MARGIN + column * (NODE_W + GAP)
    if node.role == "tester":
        name, what = "tester", "offers and receives"
    else:
        options = " ".join(str(value) for value in node.options.values())
        name, what = node.name, f"{node.nf or ''} {options}".strip()
        if len(node.chain) > 1:
            what = f"{what}, {node.architecture}"
    name += f" on {node.host}" if node.host else ""
    end = _end_port(topology, column, columns)
    space = next((port.netns for port in _ports_of(topology, node, end) if port.netns), None)
    return tag(
        "g",
        tag("title", f"{name}: {what}"),
        tag("text", _cut(_space_name(space), 26), x=x + 2, y=TOP - 9, class_="tp-space") if space else None,
        tag("rect", x=x, y=TOP, width=NODE_W, height=NODE_H, rx=5, class_=f"tp-node tp-{node.role}"),
        _core_band(node.cores, x, TOP, NODE_H),
        tag("text", _cut(name, 16), x=x + 16, y=TOP + 23, class_="tp-name"),
        tag("text", _cut(what, 21), x=x + 16, y=TOP + 41, class_="tp-what"),
        tag("text", _cores(node.cores), x=x + 16, y=TOP + 59, class_="tp-core"),
    )


def _switch(topology: Topology, datapath: str, width: int) -> Markup:
    y, wide = TOP + NODE_H + DROP_H, width - 2 * MARGIN
    return tag(
        "g",
        tag("title", f"switch: {datapath}"),
        tag("rect", x=MARGIN, y=y, width=wide, height=SWITCH_H, rx=5, class_="tp-node tp-switch"),
        _core_band(topology.switch_cores, MARGIN, y, SWITCH_H),
        tag("text", datapath, x=MARGIN + 16, y=y + SWITCH_H - 10, class_="tp-name"),
        tag(
            "text",
            _cores(topology.switch_cores),
            x=MARGIN + wide - 10,
            y=y + SWITCH_H - 10,
            class_="tp-core",
            text_anchor="end",
        ),
    )


def _link(topology: Topology, index: int, switched: bool) -> Markup:
    link = topology.links[index]
    left, right = topology.port(link.left), topology.port(link.right)
    last = index == len(topology.links) - 1
    if not switched:
        y = TOP + NODE_H / 2
        start = _Place(MARGIN + index * (NODE_W + GAP) + NODE_W, y)
        end = _Place(start.x + GAP, y)
        middle = (start.x + end.x) / 2
        return tag(
            "g",
            tag("line", x1=start.x, y1=y, x2=end.x, y2=y, class_="tp-wire"),
            tag("text", link.name, x=middle, y=TOP - 9, class_="tp-net", text_anchor="middle"),
            tag("text", left.kind, x=middle, y=y - 12, class_="tp-port", text_anchor="middle"),
            tag("text", right.kind, x=middle, y=y + 21, class_="tp-port", text_anchor="middle"),
            _port(left, start),
            _port(right, end),
        )
    base, bar = TOP + NODE_H, TOP + NODE_H + DROP_H
    first = MARGIN + index * (NODE_W + GAP)
    start = _Place(first + NODE_W * (0.5 if index == 0 else 0.76), base)
    end = _Place(first + NODE_W + GAP + NODE_W * (0.5 if last else 0.24), base)
    half = (end.x - start.x) / 2 + 12
    return tag(
        "g",
        [
            [
                tag("line", x1=place.x, y1=base, x2=place.x, y2=bar + 9, class_="tp-wire"),
                tag(
                    "text",
                    port.kind,
                    x=place.x + (-8 if side == "end" else 8),
                    y=base + DROP_H / 2 + (-6 if side == "start" else 12),  # else long kinds overlap
                    class_="tp-port",
                    text_anchor=side,
                ),
                _port(port, place),
            ]
            for port, place, side in ((left, start, "start"), (right, end, "end"))
        ],
        tag("rect", x=start.x - 12, y=bar + 9, width=2 * half, height=23, rx=3, class_="tp-bridge"),
        tag("text", link.name, x=start.x - 12 + half, y=bar + 25, class_="tp-net", text_anchor="middle"),
    )


def _port(port: Port, at: _Place) -> Markup:
    detail = port.interface or port.socket or ""
    return tag(
        "rect",
        tag("title", f"{port.name}: {port.kind} {detail}, {port.mac}"),
        x=at.x - PORT / 2,
        y=at.y - PORT / 2,
        width=PORT,
        height=PORT,
        rx=1.5,
        class_="tp-plug",
    )


def _core_band(cores: tuple[int, ...], x: float, y: float, height: float) -> Markup:
    colour = cores[0] % CORE_COLOURS if cores else "none"
    return tag("rect", x=x, y=y, width=6, height=height, rx=2, class_=f"tp-band core-{colour}")


def _ports_of(topology: Topology, node: Node, end: str | None) -> list[Port]:
    return [port for port in topology.ports if port.node == node.name and end in (None, port.name)]


def _end_port(topology: Topology, column: int, columns: int) -> str | None:
    if column == 0:
        return topology.links[0].left
    return topology.links[-1].right if column == columns - 1 else None


def _space_name(path: str) -> str:
    return "netns " + path.rsplit("/", 1)[-1]


def _cores(cores: tuple[int, ...]) -> str:
    if not cores:
        return "no core of its own"
    return ("core " if len(cores) == 1 else "cores ") + ", ".join(map(str, cores))


def _cut(text: str, characters: int) -> str:
    return text if len(text) <= characters else text[: characters - 1] + "…"
