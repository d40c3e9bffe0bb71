# SPDX-License-Identifier: Apache-2.0
"""The picture of a host's network: what is in it, that nothing overlaps, that a page does what it says."""

from __future__ import annotations

import itertools
import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weir.report.graph_page import document, picture
from weir.report.graph_page.drawing import OUTSIDE, Drawing, drawing
from weir.report.graph_page.layers import Edge, components
from weir.report.graph_page.stacking import Gaps, Size, stacked
from weir.results.host_graph import HostGraph, Join, Namespace

from .browser import load_page, needs_chromium
from .test_graph import graph, held_against_what_was_built, interface

SVG = "{http://www.w3.org/2000/svg}"
Rectangle = tuple[float, float, float, float]


@st.composite
def graphs(draw: st.DrawFn) -> HostGraph:
    """Veth pairs between namespaces, some ends in bridges."""
    count = draw(st.integers(1, 7))
    interfaces = {place: [interface(place, 1, "br0", "bridge")] for place in range(1, count + 1)}
    joins = []
    for number in range(draw(st.integers(0, 14))):
        ends: list[str] = []
        for side in "lr":
            place = draw(st.integers(1, count))
            end = interface(place, 10 * number + len(ends) + 2, f"v{number}{side}", "veth", "10.0.0.1/24")
            interfaces[place].append(end)
            ends.append(end.id)
            if draw(st.booleans()):
                joins.append(Join(kind="member", ends=(end.id, f"{place}/1")))
        joins.append(Join(kind="veth", ends=(ends[0], ends[1])))
    namespaces = [
        Namespace(id=str(place), name=f"ns{place}", forwards=None, processes=None, interfaces=inside)
        for place, inside in interfaces.items()
    ]
    return graph().model_copy(update={"namespaces": namespaces, "bridges": [], "joins": joins})


def overlap(one: Rectangle, other: Rectangle) -> bool:
    return (
        one[0] < other[0] + other[2]
        and other[0] < one[0] + one[2]
        and one[1] < other[1] + other[3]
        and other[1] < one[1] + one[3]
    )


def boxes(drawn: Drawing) -> dict[str, Rectangle]:
    places, _ = stacked(drawn.groups, {one.id: one.size for one in drawn.boxes}, OUTSIDE)
    return {one.id: (*places[one.id], one.size.width, one.size.height) for one in drawn.boxes}


@settings(max_examples=60, deadline=None)
@given(graphs())
def test_every_interface_has_one_row_and_nothing_overlaps(found: HostGraph) -> None:
    drawn = drawing(found)
    rows = [
        identifier
        for box in drawn.boxes
        for table in box.tables
        for identifier in [*([table.id] if table.title is not None else []), *(row.id for row in table.rows)]
    ]
    assert sorted(rows) == sorted(one.id for space in found.namespaces for one in space.interfaces)
    assert {(one.first, one.second) for one in drawn.lines} == {
        one.ends for one in found.joins if one.kind == "veth"
    }
    for one, other in itertools.combinations(boxes(drawn).values(), 2):
        assert not overlap(one, other)
    for box in drawn.boxes:
        inside = [(*one.place, one.size.width, one.size.height) for one in box.tables]
        for one, other in itertools.combinations(inside, 2):
            assert not overlap(one, other)
        for x, y, width, height in inside:
            assert x >= 0
            assert y >= 0
            assert x + width <= box.size.width
            assert y + height <= box.size.height


def test_what_many_are_joined_to_stands_between_them() -> None:
    heights = dict.fromkeys(["one", "two", "hub", "three", "four"], 20.0)
    edges = [Edge("hub", name) for name in ("one", "two", "three", "four")]
    (columns,) = components(heights, edges, tallest=1000)
    assert [len(column) for column in columns] == [2, 1, 2]
    assert columns[1] == ["hub"]


def test_neighbours_are_in_the_order_of_the_rows_that_they_are_joined_to() -> None:
    heights = dict.fromkeys(["hub", "a", "b", "c", "d"], 20.0)
    edges = [Edge("hub", name, at) for name, at in (("d", 0.9), ("c", 0.6), ("b", 0.3), ("a", 0.1))]
    assert components(heights, edges, tallest=1000) == [[["b", "d"], ["hub"], ["a", "c"]]]


def test_a_column_that_would_be_too_tall_is_broken_into_even_ones() -> None:
    heights = {"hub": 20.0} | {str(number): 20.0 for number in range(40)}
    edges = [Edge("hub", str(number)) for number in range(40)]
    (columns,) = components(heights, edges, tallest=110)
    assert max(len(column) for column in columns) <= 6
    assert {len(column) for column in columns if column != ["hub"]} == {5}


def test_groups_that_are_joined_to_nothing_do_not_lie_on_each_other() -> None:
    sizes = {name: Size(100, 20) for name in "abcd"}
    places, whole = stacked([[["a"], ["b"]], [["c"]], [["d"]]], sizes, Gaps(10, 10, 10))
    assert len(set(places.values())) == 4
    assert whole.width >= 210


def test_the_svg_is_one_file_with_everything_in_its_frame() -> None:
    text = picture.render(graph())
    root = ElementTree.fromstring(text.split("\n", 1)[1])
    assert "http" not in text.replace("http://www.w3.org/2000/svg", "")
    _, _, width, height = map(float, root.attrib["viewBox"].split())
    for frame in root.iter(f"{SVG}rect"):
        if frame.attrib["class"] == "g-box":
            x, y, wide, high = (float(frame.attrib[name]) for name in ("x", "y", "width", "height"))
            assert x + wide <= width
            assert y + high <= height
    names = [one.text for one in root.iter(f"{SVG}text") if one.attrib["class"].startswith("g-row")]
    assert names.count("tap1") == 1
    assert len([one for one in root.iter(f"{SVG}path") if "g-patch" in one.attrib["class"]]) == 1


def differing(found: HostGraph) -> dict[str, str]:
    tables = [table for box in drawing(found).boxes for table in box.tables]
    titles = {table.title or "": "" for table in tables if table.differs}
    return titles | {row.name: row.said for table in tables for row in table.rows if row.differs}


def test_what_is_not_as_it_was_built_says_so_where_it_is_and_what_is_missing_has_a_place() -> None:
    found = held_against_what_was_built()
    assert differing(found) == {
        "br0 ≠ is down, was made up": "",
        "up": "≠ has VLAN 3, was made with 2",
        "tap2": "≠ tun is not there",
        "namespace": "≠ it is not there",
    }
    assert "red" in [box.title for box in drawing(found).boxes]
    root = ElementTree.fromstring(picture.render(found).split("\n", 1)[1])
    marked = [one.text for one in root.iter(f"{SVG}text") if "g-differs" in one.attrib["class"]]
    assert {one or "" for one in marked} == differing(found).keys()


@pytest.mark.long
@needs_chromium
def test_a_page_lists_what_is_not_as_it_was_built(tmp_path: Path) -> None:
    dom, console = load_page(document.render(held_against_what_was_built()), tmp_path)
    assert not console
    assert "not as cloud-1 was built" in dom
    for said in ("is down, was made up", "tun is not there", "it is not there"):
        assert said in dom


@needs_chromium
@pytest.mark.parametrize("width_px", [1400, 500])
def test_a_page_draws_what_is_there_where_the_svg_has_it(tmp_path: Path, width_px: int) -> None:
    dom, console = load_page(document.render(graph()), tmp_path, width_px)
    assert not console
    assert 'data-ready="yes"' in dom
    found = {
        identifier: (float(x), float(y))
        for x, y, identifier in re.findall(
            r'<g transform="translate\(([-\d.]+) ([-\d.]+)\)" data-id="([^"]*)"', dom
        )
    }
    wanted = {name: (x, y) for name, (x, y, _, _) in boxes(drawing(graph())).items()}
    assert found == {name: pytest.approx(place) for name, place in wanted.items()}


@needs_chromium
def test_names_are_never_markup_in_a_page(tmp_path: Path) -> None:
    found = graph()
    found.namespaces[1].name = "</script><img src=x onerror=alert(1)>"
    found.namespaces[1].interfaces[0].name = "<b>&"
    dom, console = load_page(document.render(found), tmp_path)
    assert not console
    assert "<img" not in dom
    assert "&lt;b&gt;&amp;" in dom


def acting(page: str, script: str) -> str:
    """The page with what somebody does there: `script` may tell(anything). Frames are drawn by a clock: the
    browser's virtual time may end before it draws one."""
    page = re.sub(r"<meta http-equiv=\"Content-Security-Policy\"[^>]*>", "", page)
    driver = """
const at = (id) => document.getElementById(id);
const key = (key) => at('network').dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true}));
const told = [];
const tell = (one) => told.push(one);
const begin = setInterval(() => {
  if (document.documentElement.dataset.ready !== 'yes') return;
  clearInterval(begin);
  (async () => { %s })().then(() => { document.title = 'told:' + JSON.stringify(told); });
}, 10);
"""
    page = page.replace(
        "<head>", "<head><script>requestAnimationFrame = (does) => setTimeout(does, 0);</script>"
    )
    return page.replace("</body>", f"<script>{driver % script}</script></body>")


def told(dom: str) -> list[object]:
    found = re.search(r"<title>told:(.*?)</title>", dom)
    assert found is not None, "the script did not come to its end"
    said: list[object] = json.loads(found[1].replace("&amp;", "&").replace("&lt;", "<").replace("&gt;", ">"))
    return said


@needs_chromium
def test_keys_choose_fold_follow_a_link_and_let_go(tmp_path: Path) -> None:
    script = """
const chosen = () => at('details').querySelector('h2').textContent;
const rows = () => document.querySelectorAll('#network g[role="img"]').length;
key('ArrowDown'); tell(chosen());
key('Enter'); await new Promise(requestAnimationFrame); tell(rows());
key('Enter'); await new Promise(requestAnimationFrame); tell(rows());
at('search').value = 'eth0'; at('search').dispatchEvent(new Event('input'));
tell(at('found').querySelectorAll('button').length);
at('search').dispatchEvent(new KeyboardEvent('keydown', {key: 'Enter'})); tell(chosen());
key('j'); tell(chosen()); await new Promise(requestAnimationFrame);
tell(at('network').getAttribute('aria-activedescendant'));
key('Escape'); tell(chosen());
"""
    dom, console = load_page(acting(document.render(graph()), script), tmp_path)
    assert not console
    assert told(dom) == ["host", 1, 4, 1, "eth0", "tap1", "at-1/2", "box"]


@needs_chromium
def test_search_finds_what_has_an_address_and_opens_the_box_that_it_is_in(tmp_path: Path) -> None:
    script = """
at('fold-all').click(); await new Promise(requestAnimationFrame);
tell(document.querySelectorAll('#network g[role="img"]').length);
at('search').value = '10.0.0.3 blue'; at('search').dispatchEvent(new Event('input'));
at('found').querySelector('button').click(); await new Promise(requestAnimationFrame);
tell(at('details').textContent.includes('10.0.0.3/24'));
tell(document.querySelectorAll('#network g[role="img"]').length);
at('search').value = 'no such thing'; at('search').dispatchEvent(new Event('input'));
tell(at('found').textContent);
"""
    dom, console = load_page(acting(document.render(graph()), script), tmp_path)
    assert not console
    assert told(dom) == [0, True, 1, "nothing found"]


CUT_OFF = """
const cut = (one) => getComputedStyle(one).display !== 'inline' && one.scrollWidth > one.clientWidth + 1;
tell([...document.querySelectorAll('nav *, aside *')].filter(cut).map((one) => one.id || one.tagName));
tell(document.documentElement.scrollWidth <= innerWidth);
const tools = [...document.querySelector('nav').children].map((one) => one.getBoundingClientRect());
tell(tools.some((one, at) => tools.slice(at + 1).some((other) => one.left < other.right - 1
  && other.left < one.right - 1 && one.top < other.bottom - 1 && other.top < one.bottom - 1)));
tell(tools.every((one) => one.left >= 0 && one.right <= innerWidth));
"""


@needs_chromium
@pytest.mark.parametrize("host", ["box", "compute-17.rack-4.datacentre.example"])
def test_nothing_is_cut_off_or_lies_over_another_thing_at_500_pixels(host: str, tmp_path: Path) -> None:
    found = graph()
    found.host = host
    dom, console = load_page(acting(document.render(found), CUT_OFF), tmp_path, 500)
    assert not console
    assert told(dom) == [[], True, False, True]


@needs_chromium
def test_choosing_what_is_seen_moves_nothing_and_names_no_detail_that_there_is_not(tmp_path: Path) -> None:
    script = """
const place = () => document.querySelector('#network > g').getAttribute('transform');
const before = place();
key('ArrowDown'); await new Promise(requestAnimationFrame);
tell(at('details').querySelector('h2').textContent); tell(place() === before);
at('search').value = 'br0'; at('search').dispatchEvent(new Event('input'));
at('search').dispatchEvent(new KeyboardEvent('keydown', {key: 'Enter'}));
tell([...at('details').querySelectorAll('dt')].map((one) => one.textContent));
tell([...at('details').querySelectorAll('dd')].every((one) => one.textContent));
"""
    dom, console = load_page(acting(document.render(graph()), script), tmp_path, 500)
    assert not console
    assert told(dom) == ["host", True, ["kind", "MAC", "MTU"], True]
