# SPDX-License-Identifier: Apache-2.0
"""Whatever is asked has an answer that is no defect; what others put into the store does nothing; what cannot
be read takes nothing else away."""

from __future__ import annotations

import gzip
import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import create_engine, text
from starlette.testclient import TestClient

from tests.report.hostile import ATTACK, hostile
from tests.report.synthetic import result
from weir.report.page import document
from weir.web import links
from weir.web.pages import run as run_page

from .stored import CAMPAIGN, client, filled, hostile_night, nightly, on_hosts
from .test_pages import charts, text_of

NAMES = st.one_of(
    st.text(max_size=60),
    st.sampled_from(
        ["nightly", "whole-1", "latest", "..", ".", "../../etc/passwd", "%2e%2e", "a/b", "\0", "'--", "%"]
    ),
)
KEYS = st.sampled_from(
    ["side", "page", "all", "chain", "way", "frame", "what", "threshold", "only", "order", "name", "x"]
)
VALUES = st.one_of(
    NAMES, st.integers().map(str), st.floats().map(str), st.sampled_from(["nightly-00", "nightly-39", "1"])
)
PLACES = st.sampled_from(
    ["/", "/labs/", "/runs/", "/campaigns/", "/compare", "/model", "/data", "/drawn", "/assets/", "/labs", ""]
)


@pytest.mark.long
@settings(max_examples=250, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(place=PLACES, name=NAMES, asked=st.lists(st.tuples(KEYS, VALUES), max_size=4), whole=st.booleans())
def test_no_path_and_no_query_is_a_defect(
    weir: TestClient, place: str, name: str, asked: list[tuple[str, str]], whole: bool
) -> None:
    quoted = quote(name.encode("utf-8", "surrogatepass"), safe="" if whole else "/")
    query = "&".join(f"{key}={quote(value.encode('utf-8', 'surrogatepass'))}" for key, value in asked)
    answer = weir.get(f"http://testserver{place or '/'}{quoted}?{query}")  # a defect raises
    assert answer.status_code in {200, 307, 400, 404}


@pytest.mark.long
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(raw=st.binary(max_size=40))
def test_no_bytes_of_a_path_are_a_defect(weir: TestClient, raw: bytes) -> None:
    answer = weir.get("http://testserver/labs/" + quote(raw, safe=""))
    assert answer.status_code in {200, 307, 404}  # 307: of no name at all


@pytest.mark.parametrize("name", [".", "..", "../x", "a/../b", "a b", "ü", "?#&", "\n", "/", "//x"])
def test_a_lab_of_any_name_has_a_page_that_the_front_page_leads_to(tmp_path: Path, name: str) -> None:
    weir = client(filled(tmp_path / "results.db", [nightly(0).model_copy(update={"lab": name})]))
    hrefs = re.findall(r'<h2 id="lab-1"><a href="([^"]+)"', weir.get("/").text)
    assert [href.replace("&amp;", "&") for href in hrefs] == [links.lab(name)]
    answer = weir.get(links.lab(name))
    assert answer.status_code == 200
    assert "nightly-00" in answer.text


class Elements(HTMLParser):
    """What a browser would make of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def test_texts_of_a_hostile_lab_are_texts_on_every_page(weir: TestClient) -> None:
    made = hostile(result(id="whole-1", started_at="2026-03-01T03:04:05Z"))
    evil = hostile_night(0)
    pages = [
        "/",
        links.lab(made.lab),
        links.run(made.id),
        links.lab(evil.lab),
        links.run(evil.id),
        links.compare([evil.id, hostile_night(7).id, "whole-1"]),
        links.campaign(CAMPAIGN + ATTACK),
        links.run(on_hosts()[0].id + ATTACK),
        "/labs/" + quote(ATTACK, safe=""),
        "/compare?side=" + quote(ATTACK, safe=""),
        "/compare?side=nightly-00&side=" + quote(ATTACK.replace(",", ""), safe=""),
        "/labs/nightly?chain=" + quote(ATTACK, safe=""),
    ]
    for page in pages:
        answer = weir.get(page)
        elements = Elements()
        elements.feed(answer.text)
        assert "onerror" not in {name for _, attributes in elements.found for name in attributes}, page
        assert "img" not in {tag for tag, _ in elements.found}, page
        inline = [
            attributes for tag, attributes in elements.found if tag == "script" and "src" not in attributes
        ]
        assert {one.get("type") for one in inline} <= {"application/json"}, page
        scripts = [attributes.get("src") for tag, attributes in elements.found if tag == "script"]
        assert all(one.startswith("/assets/") for one in scripts if one), page
    for page in pages[1:8]:
        assert weir.get(page).status_code == 200, page
    drawn = charts(weir.get(links.lab(evil.lab)).text)
    assert len(drawn) == 6
    assert all(ATTACK in str(one["title"]) for one in drawn)


@pytest.mark.parametrize("steering", ["\u202e", "\u2066", "\x07"])
def test_no_page_has_characters_that_steer_the_text_behind_them(tmp_path: Path, steering: str) -> None:
    one = nightly(0)
    one.title, one.lab = f"safe{steering}txt.exe", f"lab{steering}bal"
    weir = client(filled(tmp_path / "results.db", [one]))
    for page in ("/", links.lab(one.lab), links.run(one.id)):
        text = weir.get(page).text
        assert steering not in text, page
        assert "safe\N{REPLACEMENT CHARACTER}txt.exe" in text or page == links.lab(one.lab)


def test_a_figure_that_cannot_be_read_leaves_the_other_labs(tmp_path: Path) -> None:
    other = nightly(1).model_copy(update={"id": "other-1", "lab": "other"})
    store = filled(tmp_path / "results.db", [*map(nightly, range(8)), other])
    damage(store, "UPDATE weir_figure SET samples = 'not a list' WHERE number = 1")
    weir = client(store)
    front = weir.get("/")
    assert front.status_code == 200
    said = text_of(front.text)
    assert "The figures of this lab cannot be read" in said.partition("Every night")[2]
    assert "All 6 figures, history and runs of other" in said
    lab = weir.get("/labs/nightly")
    assert lab.status_code == 200
    assert "cannot be read" in lab.text
    assert "nightly-07" in lab.text


def test_a_run_that_cannot_be_read_has_a_page_that_says_why(tmp_path: Path) -> None:
    store = filled(tmp_path / "results.db", [nightly(0), nightly(1)])
    damage(store, "UPDATE weir_case SET document = '{}' WHERE number = 1")
    weir = client(store)
    answer = weir.get("/runs/nightly-00")
    assert answer.status_code == 200
    assert "This run is in the store and cannot be read:" in answer.text
    assert "is not as this Weir writes it" in answer.text
    assert weir.get("/data?name=nightly-00").status_code == 503
    assert weir.get("/compare?side=nightly-00&side=nightly-01").status_code == 503
    assert "Evidence" in weir.get("/runs/nightly-01").text


def test_a_section_that_fails_leaves_the_others(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def failing(_: object) -> None:
        raise RuntimeError("no <b>such</b> thing")

    monkeypatch.setattr(document, "_built", failing)
    monkeypatch.setattr(document, "ABOVE", (document.head_of, failing))
    written = run_page.written(result())
    main = str(written.main)
    assert (
        main.count("A section of this run cannot be shown: RuntimeError: no &lt;b&gt;such&lt;/b&gt; thing")
        == 2
    )
    assert 'id="evidence"' in main
    assert 'id="built"' not in main
    assert "#built" not in written.bar
    assert gzip.decompress(written.drawn)
    assert capsys.readouterr().err.count("\nRuntimeError: no") == 2


def test_a_file_that_is_no_store_is_said_and_nothing_else_happens(tmp_path: Path) -> None:
    (tmp_path / "results.db").write_bytes(b"not a database" * 1000)
    answer = client(tmp_path / "results.db").get("/")
    assert answer.status_code == 503
    assert "not a database" in answer.text


def damage(place: Path, statement: str) -> None:
    engine = create_engine(f"sqlite:///{place}")
    with engine.begin() as connection:
        assert connection.execute(text(statement)).rowcount == 1
    engine.dispose()


def test_the_first_load_of_a_page_is_at_most_300_kb(weir: TestClient) -> None:
    """As it comes over the wire: compressed, with all that the page loads but what it asks for afterwards."""
    for path in (
        "/",
        "/labs/nightly",
        "/runs/whole-1",
        "/compare?side=nightly-00&side=nightly-39",
        "/model",
        "/campaigns/nightly-on-hosts-1",
    ):
        page = weir.get(path)
        of = {path, *re.findall(r'(?:src|href)="(/assets/[^"]+)"', page.text)}
        bytes_ = 0
        for one in of:
            with weir.stream("GET", one, headers={"accept-encoding": "gzip"}) as answer:
                bytes_ += sum(map(len, answer.iter_raw()))
        assert bytes_ < 120_000, f"{path}: {bytes_} bytes"
