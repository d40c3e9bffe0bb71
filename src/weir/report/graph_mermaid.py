# SPDX-License-Identifier: Apache-2.0
"""A host's network as a Mermaid flowchart: namespaces as boxes, interfaces and bridges in them."""

from __future__ import annotations

from collections.abc import Iterator

from weir.results.host_graph import HostGraph, Interface

_ARROWS = {
    "veth": "---",
    "member": "-->",
    "lower": "-.->",
    "port": "-->",
    "patch": "===",
    "tunnel": "-. {} .-",
}
_CLOSED = str.maketrans({'"': "'", "\n": " ", "`": "'", "#": "_", ";": ","})
"""What would end a quoted label, or begin an entity."""


def render(graph: HostGraph) -> str:
    """Without loopbacks. Ends with a newline."""
    return "\n".join(["flowchart LR", *_boxes(graph), *_edges(graph)]) + "\n"


def _boxes(graph: HostGraph) -> Iterator[str]:
    for number, namespace in enumerate(graph.namespaces):
        yield f'  subgraph ns{number}["{_label(namespace.name)}"]'
        for one in namespace.interfaces:
            if one.kind != "loopback":
                yield f"    {_node(one.id)}{_shape(one)}"
        for bridge in graph.bridges:
            if bridge.namespace == namespace.id:
                yield f'    {_node(bridge.id)}[["{_label(bridge.name)}"]]'
        yield "  end"
    known = {one.id for one in graph.namespaces}
    for bridge in graph.bridges:
        if bridge.namespace not in known:
            yield f'  {_node(bridge.id)}[["{_label(bridge.name)}"]]'


def _shape(one: Interface) -> str:
    text = _label(" ".join([one.name, *one.addresses]))
    return f'[["{text}"]]' if one.kind == "bridge" else f'["{text}"]'


def _edges(graph: HostGraph) -> Iterator[str]:
    for join in graph.joins:
        first, second = map(_node, join.ends)
        yield f"  {first} {_ARROWS[join.kind].format(join.kind)} {second}"


def _node(identifier: str) -> str:
    """The same for the same id; letters, digits and underscores, as Mermaid wants it."""
    return "n_" + "".join(one if one.isascii() and one.isalnum() else f"_{ord(one):x}_" for one in identifier)


def _label(text: str) -> str:
    return text.translate(_CLOSED)
