# SPDX-License-Identifier: Apache-2.0
"""The report in Markdown, read back by a Markdown parser."""

from __future__ import annotations

import itertools

import pytest
from markdown_it import MarkdownIt

from tests.unit.procedures.migration.test_section import migrated
from tests.unit.procedures.rfc2544.test_section import measured
from weir.report import render
from weir.report.sections import sections
from weir.results.result import Result

from .disturbed import disturbed
from .hostile import ATTACK, hostile
from .latency_runs import latency_run, limit
from .synthetic import result


def parsed(text: str) -> tuple[list[str], list[list[list[str]]]]:
    """Headings, and tables as lines of cells."""
    headings: list[str] = []
    tables: list[list[list[str]]] = []
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    for before, token in itertools.pairwise(tokens):
        if before.type == "table_open":
            tables.append([])
        if before.type == "tr_open":
            tables[-1].append([])
        if token.type == "inline":
            said = "".join(one.content for one in token.children or [])
            if before.type == "heading_open":
                headings.append(said)
            if before.type in ("td_open", "th_open"):
                tables[-1][-1].append(said)
    return headings, tables


def judged() -> Result:
    run = latency_run()
    run.setups[0].cases[0].verdicts = [limit(250.0)]
    return run


@pytest.mark.parametrize("run", [result(), disturbed(), judged(), measured(), migrated(), hostile(result())])
def test_every_table_of_every_procedure_comes_back_cell_by_cell(run: Result) -> None:
    expected = [
        [[" ".join(cell.split()) for cell in line] for line in (table.head, *table.lines)]
        for section in sections(run)
        for table in section.tables(run)
    ]
    assert expected
    _, tables = parsed(render(run, "markdown"))
    assert [[[cell.replace("`", "") for cell in line] for line in table] for table in tables] == [
        [[cell.replace("`", "") for cell in line] for line in table] for table in expected
    ]


def test_it_says_what_was_measured_on_what_and_what_the_numbers_rest_on() -> None:
    text = render(disturbed(), "markdown")
    headings, _ = parsed(text)
    assert headings == [
        "Synthetic numbers: a service chain under four switching technologies",
        "Summary",
        "Throughput, PVP",
        "Flags",
        "Read with care",
        "What the numbers rest on",
        "How to read it",
    ]
    for said in ("Imaginary 1000 @ 2.50GHz, 2 cores", "dpdk 22.11.11", "synthetic-0badcafe", "64 B"):
        assert said in text
    for letter in "TLSD":
        assert f"\n- {letter}: " in text.partition("## Flags")[2]


def test_rates_and_ratios_are_those_of_the_other_formats() -> None:
    _, (table,) = parsed(render(disturbed(), "markdown"))
    lines = {line[1]: line for line in table}
    assert lines["direct"][3:] == ["T", "≥8.000", "7.600–8.400", "4.096", "≥20.0", "19.0–21.0"]
    assert lines["ovs"][3:] == ["L", "0.100–0.250", "–", "0.0512–0.128", "–", ""]


def test_texts_of_labs_are_never_markup() -> None:
    tokens = MarkdownIt("commonmark").enable("table").parse(render(hostile(result()), "markdown"))
    inner = [child.type for token in tokens for child in token.children or []]
    assert not {"html_inline", "link_open", "image", "em_open"} & set(inner)
    assert not [token for token in tokens if token.type in ("html_block", "fence", "code_block")]
    assert any(ATTACK in "".join(one.content for one in token.children or []) for token in tokens)


def test_a_run_without_tables_has_no_empty_sections() -> None:
    headings, tables = parsed(render(result(setups=[]), "markdown"))
    assert (len(headings), tables) == (1, [])
