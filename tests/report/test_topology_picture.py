# SPDX-License-Identifier: Apache-2.0
"""The picture of what was built."""

from __future__ import annotations

import itertools
import random
from xml.etree import ElementTree

import pytest

from weir.base.node import PortKind
from weir.base.topology import Topology
from weir.report.page.topology_picture import description, picture

from .synthetic import TECHNOLOGIES, setup, topology

SVG = "{http://www.w3.org/2000/svg}"


def parsed(built: Topology, datapath: str = "Linux bridge (kernel)") -> ElementTree.Element:
    text = str(picture(built, datapath)).replace("<svg", '<svg xmlns="http://www.w3.org/2000/svg"', 1)
    return ElementTree.fromstring(text)


@pytest.mark.parametrize("functions", [1, 2, 16])
@pytest.mark.parametrize("technology", list(TECHNOLOGIES))
def test_everything_lies_within_the_frame(technology: str, functions: int) -> None:
    _, _, datapath, left, right = TECHNOLOGIES[technology]
    root = parsed(topology(technology, "chain", functions, left, right), datapath)
    _, _, width, height = map(float, root.attrib["viewBox"].split())
    for box in root.iter(f"{SVG}rect"):
        x, y, w, h = (float(box.attrib[name]) for name in ("x", "y", "width", "height"))
        assert x >= 0
        assert y >= 0
        assert x + w <= width
        assert y + h <= height


@pytest.mark.parametrize("technology", list(TECHNOLOGIES))
def test_each_port_is_drawn_once_with_its_kind(technology: str) -> None:
    built = setup(technology, "PVVP", 2, random.Random(1)).topology
    assert built is not None
    titles = [title.text or "" for title in parsed(built).iter(f"{SVG}title")]
    for port in built.ports:
        assert sum(title.startswith(f"{port.name}: {port.kind}") for title in titles) == 1


@pytest.mark.parametrize("functions", [1, 2, 3])
@pytest.mark.parametrize("kinds", [("af_packet", "packet_socket"), ("packet_socket", "virtio-user")], ids=str)
def test_kinds_of_ports_do_not_overlap(kinds: tuple[PortKind, PortKind], functions: int) -> None:
    root = parsed(topology("linux-bridge", "chain", functions, *kinds))
    boxes: dict[float, list[tuple[float, float]]] = {}
    for text in root.iter(f"{SVG}text"):
        if text.attrib["class"] == "tp-port":
            wide, x = 7.0 * len(text.text or ""), float(text.attrib["x"])
            left = x - wide if text.attrib["text-anchor"] == "end" else x
            boxes.setdefault(float(text.attrib["y"]), []).append((left, left + wide))
    for row in boxes.values():
        for (_, ends), (begins, _) in itertools.pairwise(sorted(row)):
            assert ends <= begins


def test_networks_are_drawn_under_a_switch_and_wires_without_one() -> None:
    switched = parsed(topology("linux-bridge", "PVP", 1, "af_packet", "af_packet"))
    direct = parsed(topology("direct", "PVP", 1, "virtio-user", "vhost"), "none")
    assert len([box for box in switched.iter(f"{SVG}rect") if box.attrib["class"] == "tp-bridge"]) == 2
    assert not [box for box in direct.iter(f"{SVG}rect") if "tp-switch" in box.attrib["class"]]


def test_the_description_names_cores_and_links_in_words() -> None:
    words = description(topology("ovs-dpdk", "PVP", 1, "virtio-user", "virtio-user"), "Open vSwitch")
    assert "tester.left (virtio-user) – net0 – f1.left (virtio-user)" in words
    assert "Switch: Open vSwitch, core 1." in words
