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
    return "\n".join(["flowchart LR", *_boxes(graph), *_edges(graph), *_differing(graph)]) + "\n"


def _differing(graph: HostGraph) -> Iterator[str]:
    """What is not as it was built, in red; what is missing, as boxes that nothing leads to."""
    if not graph.differences:
        return
    yield "  classDef differs stroke:#a3271a,color:#a3271a,stroke-width:2px"
    known = {one.id for namespace in graph.namespaces for one in namespace.interfaces}
    known |= {one.id for one in graph.bridges}
    for number, one in enumerate(graph.differences):
        node = f"missing{number}"
        if one.at in known and one.at is not None:
            node = _node(one.at)
        else:
            text = f"{one.what or 'namespace'} in {one.namespace}: {one.said}"
            yield f'  {node}["{_label(text)}"]'
        yield f"  class {node} differs"


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
