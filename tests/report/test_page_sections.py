# SPDX-License-Identifier: Apache-2.0
"""Which sections the HTML report of a run has, and what stands in them."""

from __future__ import annotations

import re

import pytest

from tests.unit.procedures.migration.test_section import migrated
from tests.unit.procedures.rfc2544.test_section import measured
from weir import report
from weir.report import numbers
from weir.results.result import HostSetting

from .disturbed import disturbed
from .latency_runs import latency_run
from .synthetic import result


def sections_of(page: str) -> dict[str, str]:
    """By anchor, what each section of the page has."""
    main = page.partition("<main>")[2].partition("</main>")[0]
    return {one[: one.index('"')]: one for one in main.split('<section id="')[1:]}


@pytest.mark.long
def test_every_section_of_the_bar_is_there_and_none_is_without_numbers() -> None:
    for made in (result(), disturbed(), latency_run(), migrated(), measured(), result(setups=[])):
        page = report.render(made, "html")
        anchors = re.findall(r'<a href="#([a-z]+)">', page.partition("<nav")[2].partition("</nav>")[0])
        assert anchors == list(sections_of(page))
        assert f'href="#{anchors[0]}" class="skip"' in page
        for name, text in sections_of(page).items():
            body = text.partition('class="body">')[2]
            assert re.search(r"<(table|svg|li|dl|noscript|details)", body), name
            assert "ot measured" not in body, name


def test_commands_in_sentences_stand_as_code_and_no_backtick_is_seen() -> None:
    """What a search finds in a page's own words; those of its script and of the lab are no sentences."""
    for made in (disturbed(), latency_run(), migrated(), measured()):
        words = re.sub(r"<(script|style|pre)\b.*?</\1>", "", report.render(made, "html"), flags=re.DOTALL)
        assert "`" not in words
    assert "<code>weir report -f percentiles</code>" in report.render(latency_run(), "html")
    assert "<code>weir" in report.render(disturbed(), "html")


def test_a_run_that_only_measured_delays_has_no_section_of_throughput() -> None:
    assert list(sections_of(report.render(latency_run(), "html"))) == [
        "latency",
        "built",
        "evidence",
        "basis",
    ]


def test_one_technology_has_no_columns_that_compare() -> None:
    alone = disturbed()
    alone.setups = alone.setups[1:2]
    page = report.render(alone, "html")
    head = page[page.index('id="throughput-table"') :].partition("</thead>")[0]
    assert re.findall(r"<th[^>]*>([^<]+)", head) == ["Frame", "NDR", "Mpps", "flags", "min–max", "Gbit/s"]
    assert ">PVP, linux-bridge</th>" in page
    assert page.count('class="dials"') == 1
    assert "64 B</span>" in page.partition('class="dials"')[2]


def test_stalls_have_a_lane_plot_and_a_table_with_the_same_times() -> None:
    made = disturbed()
    text = sections_of(report.render(made, "html"))["stalls"]
    assert 'id="stall-lanes"' in text
    rows = [re.findall(r"<td[^>]*>([^<]*)", line) for line in text.split("<tr>")[2:]]
    trials = [trial for _, case in made.cases() for trial in (*case.trials, *case.curve)]
    program_us = sum(one.to_us - one.from_us for trial in trials for one in trial.left_out if one.core == 1)
    assert rows[0][:2] == ["1", "python3"]
    assert rows[0][4] == numbers.time_s(program_us / 1e6)
    assert rows[0][6] == str(sum(bool(trial.left_out) for trial in trials))
    assert [row[:2] for row in rows] == [["1", "python3"], ["0", "the host"]]
    assert "stalls" not in sections_of(report.render(result(), "html"))


def test_keys_of_the_host_that_nobody_asked_for_have_no_row() -> None:
    made = result()
    for setup, asked in zip(made.setups[::2], ("auto", None, "auto", None), strict=False):
        setup.host = [
            HostSetting(key="pinning", asked=asked, applied=asked is not None),
            HostSetting(key="numa", asked=None, applied=False),
        ]
    text = sections_of(report.render(made, "html"))["tuned"]
    assert "<td>pinning</td>" in text
    assert "<td>numa</td>" not in text
