# SPDX-License-Identifier: Apache-2.0
"""The HTML report in headless Chromium, without a network: no error, plots drawn, rows there."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.unit.procedures.soak.looks import TakenSpan, run
from weir import report
from weir.results.result import LeftOut, Result
from weir.results.soak import Soak

from .browser import load_page, needs_chromium
from .disturbed import disturbed
from .hostile import hostile
from .synthetic import result

pytestmark = needs_chromium


def load(
    made: Result, folder: Path, width_px: int = 1400, *, opened: bool = False, watching: str = ""
) -> tuple[str, str]:
    """The page's DOM after its script has run, and what the browser wrote on its console.

    `opened`: all folds are open from the beginning. `watching`: a script of ours that runs before the page's,
    which the page as it is would refuse.
    """
    text = report.render(made, "html")
    if watching:
        text = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", text)
        text = text.replace("<head>", f"<head><script>{watching}</script>", 1)
        assert watching in text
    return load_page(text.replace("<details", "<details open") if opened else text, folder, width_px)


@pytest.mark.long
@pytest.mark.parametrize("width_px", [1400, 500])
def test_page_draws_all_plots_without_an_error(tmp_path: Path, width_px: int) -> None:
    dom, console = load(result(), tmp_path, width_px)
    assert not console
    assert 'data-ready="yes"' in dom
    canvases = re.findall(r'<canvas width="(\d+)" height="(\d+)"', dom.partition('id="bars"')[2])
    plots = [size for size in canvases if int(size[0]) > 100 and int(size[1]) > 100]
    assert len(plots) == 2 + 8 + 8, "throughput by chain, loss and latency by chain and technology"


PLACES = """
const look = setInterval(() => {
  if (!document.documentElement.dataset.ready) return;
  clearInterval(look);
  const [links, button] = [document.querySelector('nav .links'), document.getElementById('theme')];
  const end = links.getBoundingClientRect().right;
  const { left, right } = button.getBoundingClientRect();
  const page = document.documentElement;
  page.dataset.bar = JSON.stringify({
    more: links.scrollWidth > links.clientWidth, apart: end < left, edge: page.clientWidth - right,
    fades: getComputedStyle(links).maskImage.includes('gradient'),
  });
}, 20);
"""


@pytest.mark.long
def test_on_a_narrow_screen_links_that_do_not_fit_fade_and_the_button_stays_in_sight(tmp_path: Path) -> None:
    made = result()
    for trial in made.setups[0].cases[0].trials:
        trial.left_out = [LeftOut(core=1, from_us=0, to_us=9000, by="python (4711)")]
    dom, console = load(made, tmp_path, 500, watching=PLACES)
    assert not console
    (told,) = re.findall(r'data-bar="([^"]*)"', dom)
    bar = json.loads(told.replace("&quot;", '"'))
    assert bar == {"more": True, "apart": True, "edge": 16, "fades": True}


@pytest.mark.long
def test_where_no_search_found_a_rate_nothing_is_drawn_and_the_page_says_so(tmp_path: Path) -> None:
    made = disturbed()
    none: dict[str, Any] = {
        "status": "irregular",
        "load_pps": None,
        "load_min_pps": None,
        "load_max_pps": None,
        "rounds": [],
    }
    for setup in made.setups:
        case = setup.cases[0]
        case.throughput = [case.throughput[0].model_copy(update={**none, "out_of_time": False})]
    dom, console = load(made, tmp_path)
    assert not console
    part = dom.partition('<section id="throughput"')[2].partition("</section><section id")[0]
    assert "No search found a rate." in part
    assert "No rate was found for NDR: there is nothing to draw." in part
    assert "<canvas" not in part


@pytest.mark.long
def test_trials_are_listed_with_what_counted_and_who_had_the_cores(tmp_path: Path) -> None:
    made = disturbed()
    dom, console = load(made, tmp_path, opened=True)
    assert not console
    first = dom[dom.index("<caption>Trials (7)") :].partition("</table>")[0]
    heads = re.findall(r"<th [^>]*>([^<]*)", first)
    lines = [re.findall(r"<td[^>]*>([^<]*)", line) for line in first.split("<tr")[2:]]
    slow = dict(zip(heads, lines[1], strict=True))
    assert (slow["counted"], slow["loss ratio"], slow["of counted"]) == ("0.188", "12 %", "10 %")
    assert slow["cores away"] == "core 1: python3 4.50 ms; core 0: host 1.50 ms; cores 1.40 times slower"
    clean = dict(zip(heads, lines[2], strict=True))
    assert (clean["loss ratio"], clean["of counted"]) == ("3 %", "0")


def soak_page(soak: Soak, folder: Path) -> tuple[str, str]:
    """What the browser made of its page, and of its plots."""
    made = result()
    made.setups = made.setups[:1]
    made.setups[0].cases = made.setups[0].cases[:1]
    made.setups[0].cases[0].soak = soak
    dom, console = load(made, folder)
    assert not console
    return dom, dom.partition("<main>")[2].partition("soak-plots")[2].partition("soak-keys")[0]


@pytest.mark.long
def test_a_soak_is_drawn_over_time_with_its_delays_as_a_heat_map(tmp_path: Path) -> None:
    soaked = run()
    for minute in range(12):
        soaked.pass_by(delay_us=10 + 100 * (minute == 7))
    _, plots = soak_page(soaked.recorder.soak, tmp_path)
    titles = re.findall(r"<figcaption>([^<]*)", plots)
    assert "Delay over time, µs" in titles
    assert plots.count('class="uplot') == len(titles)


@pytest.mark.long
def test_each_plot_of_a_soak_with_several_lines_has_its_own_key(tmp_path: Path) -> None:
    soaked = run()
    for minute in range(12):
        taken = (
            [TakenSpan(1, minute * 10**10, minute * 10**10 + 10**9, "python3 (4711)")] if minute == 7 else []
        )
        soaked.pass_by(delay_us=10, taken=taken)
    dom, plots = soak_page(soaked.recorder.soak, tmp_path)
    keys = {
        re.findall(r"^([^<]*)", figure)[0]: re.findall(r"</(?:canvas|i)>([^<]+)</li>", figure)
        for figure in plots.split("<figcaption>")[1:]
    }
    assert keys["Rate, kpps"] == ["offered", "delivered"]
    assert keys["Delay, slower direction, µs"] == ["P50", "P99", "P99.9", "max", "jitter max"]
    assert keys["Cores away, share of each interval"] == ["python3"]
    table = dom.partition("<caption>When cores were away")[2].partition("</table>")[0]
    assert re.findall(r"<td[^>]*>([^<]*)", table)[:4] == ["1", "python3 (4711)", "1.00 s", "0.8 %"]


@pytest.mark.long
def test_stalls_are_drawn_as_lanes_by_who_had_the_core_and_setups_are_numbered(tmp_path: Path) -> None:
    dom, console = load(disturbed(), tmp_path)
    assert not console
    plot = dom.partition("<main>")[2].partition('id="stall-lanes"')[2].partition("Who had which core")[0]
    assert plot.count('class="uplot') == 1
    assert re.findall(r"</i>([^<]+)</li>", plot) == ["python3", "the host"]
    bands = re.findall(r"<li>([^<]+)</li>", plot.partition("bands")[2])
    assert bands == ["direct PVP", "linux-bridge PVP", "ovs PVP", "ovs-dpdk PVP"]


@pytest.mark.long
def test_table_has_a_row_for_each_chain_frame_and_technology(tmp_path: Path) -> None:
    dom, _ = load(result(), tmp_path)
    table = dom[dom.index('id="throughput-table"') :]
    assert table[: table.index("</table>")].count('class="tech"') == 2 * 4 * 4


@pytest.mark.long
def test_hostile_texts_do_nothing_in_the_browser(tmp_path: Path) -> None:
    dom, console = load(hostile(result()), tmp_path)
    assert not console
    assert 'data-ready="yes"' in dom
    assert "<img" not in dom


@pytest.mark.long
def test_a_run_without_curves_has_no_section_of_them_and_still_works(tmp_path: Path) -> None:
    made = result()
    for setup in made.setups:
        for case in setup.cases:
            case.curve = []
    dom, console = load(made, tmp_path)
    assert not console
    assert 'data-ready="yes"' in dom
    assert "Not measured" not in dom
    for section in ("loss", "latency"):
        assert f'<section id="{section}"' not in dom
        assert f'href="#{section}"' not in dom
