# SPDX-License-Identifier: Apache-2.0
"""Rates of functions that carry some thousand packets a second are said in kpps, in every form alike."""

from __future__ import annotations

import io

from rich.console import Console

from weir import report
from weir.report import terminal
from weir.results.result import Result

from .synthetic import result

TIMES = 1e-4


def slowed() -> Result:
    """The usual run at a ten-thousandth of its rates."""
    made = result()
    for _, case in made.cases():
        for found in case.throughput:
            for name in ("load_pps", "load_min_pps", "load_max_pps", "lower_bound_pps", "upper_bound_pps"):
                value = getattr(found, name)
                if value is not None:
                    setattr(found, name, value * TIMES)
            for one in found.rounds:
                one.load_pps = None if one.load_pps is None else one.load_pps * TIMES
        for trial in case.curve:
            trial.intended_load_pps *= TIMES
    return made


def test_the_terminal_heads_its_columns_with_kpps_and_has_no_rate_of_zeros() -> None:
    out = io.StringIO()
    Console(file=out, width=120, color_system=None).print(terminal.table(slowed()))
    text = out.getvalue()
    heads = [line.split() for line in text.splitlines() if line.startswith("Frame")]
    assert heads == [["Frame", "Technology", *["kpps", "Gbit/s", "ratio"] * 2]] * 2
    assert " 0.000" not in text


def test_markdown_and_its_sentences_say_kpps() -> None:
    text = report.render(slowed(), "markdown")
    assert "| Mpps |" not in text
    summary = text[: text.index("| kpps |")]
    assert " kpps" in summary


def test_the_page_tells_its_plots_the_unit_of_its_table() -> None:
    page = report.render(slowed(), "html")
    for place in ("bars", "loss-plots", "latency-plots"):
        tag = page[page.index(f'id="{place}"') :].partition(">")[0]
        assert 'data-unit="kpps"' in tag, tag
    assert " in kpps, " in page
