# SPDX-License-Identifier: Apache-2.0
"""The HTML report: self-contained, complete, and deaf to hostile texts."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
from html.parser import HTMLParser

from hypothesis import given, settings
from hypothesis import strategies as st

from weir import report
from weir.procedures.throughput import section_page
from weir.report.page import drawn, markup

from .disturbed import disturbed
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


def embedded(page: str) -> str:
    packed = Structure(page).scripts[0]
    return gzip.decompress(base64.b64decode(packed)).decode()


def test_page_embeds_what_is_drawn_of_the_result() -> None:
    for made in (result(), hostile(result(3))):
        assert embedded(report.render(made, "html")) == drawn(made)


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


def test_a_page_holds_no_character_that_a_terminal_obeys() -> None:
    page = report.render(hostile(result(), "\x1b]0;owned\x07\x9b2J"), "html")
    assert "owned" in page
    assert not re.search(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]", page)


def test_hostile_texts_change_no_tag_and_no_attribute() -> None:
    plain = Structure(report.render(result(), "html"))
    attacked = Structure(report.render(hostile(result()), "html"))
    assert attacked.tags == plain.tags
    assert attacked.scripts[1:] == plain.scripts[1:]


@settings(max_examples=60, deadline=None)
@given(st.text(st.characters(exclude_categories=["Cc", "Cs"], include_characters="\t\n"), min_size=1))
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
        "sr-iov was left out.",
        "NDR and PDR irregular",
        "Noisy machine.",
        "Virtual links: no physical network card took part.",
        "Imaginary 1000 @ 2.50GHz",
        "tx_queue_full",
    ):
        assert text in page, text


def test_page_shows_flags_both_bounds_of_an_interval_and_ratios_with_theirs() -> None:
    page = report.render(disturbed(), "html")
    start = page.index("throughput-table")
    body = page[start : page.index("</table>", start)]
    rows = {
        re.findall(r"</i>([a-z-]+)<", row)[0]: row for row in body.split("<tr")[1:] if 'class="tech"' in row
    }
    texts = {
        name: re.findall(r">([^<>]+)<", row.partition('class="tech"')[2])[1:] for name, row in rows.items()
    }
    assert texts["direct"] == ["≥8.000", "T", "7.600–8.400", "4.096", "≥20.0", "19.0–21.0"]
    assert texts["ovs"] == ["0.100–0.250", "L", "–", "0.0512–0.128", "–"]
    assert texts["ovs-dpdk"] == ["1.200", "S", "D", "1.200–1.200", "0.614", "–"]
    assert 'title="one of the two searches ran out of time"' in rows["ovs"]
    dials = page[page.index('class="readings"') : start]
    assert '<span class="dial-value">0.100–0.250</span>' in dials
    assert "≥20.0 × linux-bridge" in dials


def test_bars_take_flags_and_intervals_from_the_same_place_as_the_table() -> None:
    shown = json.loads(section_page.shown(disturbed()))
    assert shown == {
        "0/0/NDR": {"flags": "T", "interval_pps": None},
        "1/0/NDR": {"flags": "", "interval_pps": None},
        "2/0/NDR": {"flags": "L", "interval_pps": [0.1e6, 0.25e6]},
        "3/0/NDR": {"flags": "SD", "interval_pps": None},
    }


def test_evidence_has_each_round_and_the_state_of_the_machine_in_it() -> None:
    page = report.render(disturbed(), "html")
    assert "What each round found" in page
    assert ">1.40 times slower and 4.60 times slower to pass data to each other<" in page
    assert "72.0 ms of 1.40 s left out" in page


def test_the_kernel_command_line_is_folded() -> None:
    made = result()
    made.fingerprint.cmdline = "quiet isolcpus=1-7"
    page = report.render(made, "html")
    assert "<details><summary>2 words</summary>quiet isolcpus=1-7</details>" in page


def test_without_scripts_empty_plots_say_why() -> None:
    page = report.render(result(), "html")
    for plots in ("loss-plots", "latency-plots"):
        after = page.partition(f'id="{plots}"')[2]
        assert after.startswith(' data-unit="Mpps"></div><noscript>')


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
