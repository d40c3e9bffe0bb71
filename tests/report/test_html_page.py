# SPDX-License-Identifier: Apache-2.0
"""The HTML report: self-contained, complete, and deaf to hostile texts."""

from __future__ import annotations

import base64
import gzip
import hashlib
import re
from html.parser import HTMLParser

from hypothesis import given, settings
from hypothesis import strategies as st

from weir import report
from weir.report.page import markup
from weir.store.result import Result

from .hostile import hostile
from .synthetic import result


class Structure(HTMLParser):
    """Tags with the names of their attributes, and the raw content of scripts."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, tuple[str, ...]]] = []
        self.scripts: list[str] = []
        self.links: list[str] = []
        self.policy = ""
        self._in_script = False
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, tuple(name for name, _ in attrs)))
        values = dict(attrs)
        self.links += [str(values[name]) for name in ("src", "href", "srcset", "action") if name in values]
        if values.get("http-equiv") == "Content-Security-Policy":
            self.policy = str(values["content"])
        self._in_script = tag == "script"
        if self._in_script:
            self.scripts.append("")

    def handle_data(self, data: str) -> None:
        if self._in_script:
            self.scripts[-1] += data

    def handle_endtag(self, tag: str) -> None:
        self._in_script = self._in_script and tag != "script"


class Echo(HTMLParser):
    """The texts of attributes and elements, as a browser reads them."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002
        self.texts += [str(value) for _, value in attrs]

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def embedded(page: str) -> Result:
    packed = Structure(page).scripts[0]
    return Result.model_validate_json(gzip.decompress(base64.b64decode(packed)))


def test_page_embeds_exactly_the_result() -> None:
    for made in (result(), hostile(result(3))):
        assert embedded(report.render(made, "html")) == made


def test_page_refers_to_nothing_outside_itself() -> None:
    page = Structure(report.render(result(), "html"))
    assert all(link.startswith("#") for link in page.links)
    assert "default-src 'none'" in page.policy
    assert "connect-src" not in page.policy


def test_policy_allows_exactly_the_one_script() -> None:
    page = Structure(report.render(result(), "html"))
    digest = base64.b64encode(hashlib.sha256(page.scripts[1].encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}';" in page.policy
    assert len(page.scripts) == 2


def test_hostile_texts_change_no_tag_and_no_attribute() -> None:
    plain = Structure(report.render(result(), "html"))
    attacked = Structure(report.render(hostile(result()), "html"))
    assert attacked.tags == plain.tags
    assert attacked.scripts[1:] == plain.scripts[1:]


@settings(max_examples=60, deadline=None)
@given(st.text(min_size=1).filter(lambda text: "\r" not in text and "\0" not in text))
def test_any_text_comes_back_as_the_same_text(text: str) -> None:
    back = Echo()
    back.feed(markup.tag("p", text, title=text))
    back.close()
    assert back.texts == [text, text]


def test_page_of_a_run_like_the_demo_is_under_600_kilobytes() -> None:
    assert len(report.render(result(), "html").encode()) < 600_000


def test_page_says_each_number_of_the_table() -> None:
    page = report.render(result(), "html")
    body = page[page.index("throughput-table") : page.index("</table>", page.index("throughput-table"))]
    shown = set(re.findall(r">([\d.]+)<", body))
    for setup in result().setups:
        for case in setup.cases:
            for found in case.throughput:
                if found.load_pps is not None:
                    assert f"{found.load_pps / 1e6:.3f}" in shown


def test_page_names_refusals_irregular_results_fidelity_and_machine() -> None:
    page = report.render(result(), "html")
    for text in (
        "sr-iov refused here.",
        "NDR and PDR irregular",
        "Noisy machine.",
        "Virtual links: no physical network card took part.",
        "Imaginary 1000 @ 2.50GHz",
        "tx_queue_full",
    ):
        assert text in page, text


def test_many_remarks_of_one_kind_are_folded_so_that_the_numbers_come_first() -> None:
    made = result()
    few = report.render(made, "html")
    assert "remarks</summary>" not in few.partition('id="throughput"')[0]
    for setup in made.setups:
        for case in setup.cases:
            case.problem = "the port tester.left is gone"
    many = report.render(made, "html").partition('id="throughput"')[0]
    assert re.search(r"Read with care\.</b> \d+ remarks</summary>", many)
    assert many.count("given up: the port tester.left is gone") == 32


def test_chains_under_one_technology_stand_side_by_side_without_a_ratio() -> None:
    whole = result()
    setups = [setup for setup in whole.setups if setup.technology == "direct"]
    page = report.render(whole.model_copy(update={"setups": setups, "baseline": "direct"}), "html")
    assert page.count('class="dials"') == 1
    assert 'class="dial-ratio"' not in page
    assert 'class="dials"' in report.render(whole, "html")
