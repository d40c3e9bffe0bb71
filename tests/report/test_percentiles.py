# SPDX-License-Identifier: Apache-2.0
"""Latency by percentile: the CSV against HdrHistogram's own library, the page's script against the CSV."""

from __future__ import annotations

import csv
import json
import random
import re
import subprocess
from importlib.resources import files
from pathlib import Path

import pytest

from weir.report import render
from weir.report.hdr_histogram import LOWEST_NS, empty
from weir.report.percentiles import curves
from weir.results.result import Result

from .browser import CHROMIUM
from .latency_runs import SLOWEST_OF_1000, Buckets, latency_run, trial
from .synthetic import result
from .test_page_in_browser import load


def rows(run: Result) -> list[dict[str, str]]:
    return list(csv.DictReader(render(run, "percentiles").splitlines()))


def test_each_level_has_its_latency_and_how_many_packets_are_beyond() -> None:
    one = [row for row in rows(latency_run(("direct",))) if row["direction"] == "left-to-right"]
    found = {row["percentile"]: (float(row["latency_us"]), int(row["packets_above"])) for row in one}
    assert found["0"] == (10.0, 999)
    assert found["90"] == (10.0, 100)
    assert found["91"] == (20.0, 90)
    assert found["99"] == (20.0, 10)
    assert found["99.1"] == (100.0, 9)
    assert found["99.9"] == (100.0, 1)
    assert found["100"] == (100.0, 0)
    assert "99.91" not in found, "of 1,000 packets nobody knows"
    assert {(row["technology"], row["chain"], row["frame"], row["load"], row["packets"]) for row in one} == {
        ("direct", "PVP", "64", "10% PDR", "1000")
    }


def wide() -> Buckets:
    """Buckets of 0.8 %, with packets over four decades."""
    dice = random.Random(5)
    low_us, found = 3.0, []
    while low_us < 20_000:
        found.append((low_us, low_us * 1.008, dice.randrange(0, 3000)))
        low_us *= 1.008
    return [bucket for bucket in found if bucket[2]]


def test_values_are_those_of_hdrhistograms_own_library() -> None:
    run = latency_run(("direct",))
    buckets = wide()
    run.setups[0].cases[0].delays[0].trials = [trial(buckets)]
    theirs = empty()
    for low, high, packets in buckets:
        theirs.record_value(max(LOWEST_NS, round((low + high) / 2 * 1e3)), packets)
    ours = next(one for one in curves(run) if one.direction == "left-to-right")
    assert len(ours.levels) > 40
    for level in ours.levels:
        expected_us = theirs.get_value_at_percentile(float(level.percentile)) / 1e3
        assert level.latency_us == pytest.approx(expected_us, rel=0.009), level.percentile


def test_valid_trials_of_a_load_are_put_together_and_invalid_ones_left_out() -> None:
    run = latency_run(("direct",))
    some = [trial(SLOWEST_OF_1000), trial(SLOWEST_OF_1000, times=3), trial(SLOWEST_OF_1000, valid=False)]
    run.setups[0].cases[0].delays[0].trials = some
    one = curves(run)[0]
    assert (one.trials, one.packets) == (2, 2000)
    assert one.levels[-1].latency_us == pytest.approx(300)


def test_a_run_without_histograms_has_the_head_alone() -> None:
    assert render(result(), "percentiles").splitlines()[0].startswith("run,lab,technology,")
    assert rows(result()) == []


browser = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here: apt-get install chromium")


@browser
def test_the_script_draws_the_levels_of_the_csv(tmp_path: Path) -> None:
    run = latency_run(("direct",))
    run.setups[0].cases[0].delays[0].trials = [trial(wide())]
    stream = run.setups[0].cases[0].delays[0].trials[0].streams[0]
    script = (files("weir.report.page") / "assets" / "percentiles.js").read_text(encoding="utf-8")
    page = tmp_path / "levels.html"
    page.write_text(
        f"<body><script>{script}\ndocument.body.textContent = "
        f"JSON.stringify(percentilePoints({json.dumps(stream.histogram)}));</script>"
    )
    arguments = ("--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'profile'}")
    dom = subprocess.run(
        [str(CHROMIUM), *arguments, "--dump-dom", page.as_uri()],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    ).stdout
    drawn = json.loads(re.sub(r"<[^>]*>", "", dom))
    levels = [(level.nines, level.latency_us) for level in curves(run)[0].levels]
    assert len(drawn) == len(levels)
    for point, level in zip(drawn, levels, strict=True):
        assert tuple(point) == pytest.approx(level)


@browser
@pytest.mark.parametrize(
    ("run", "title", "keys", "left"),
    [
        (latency_run(), "PVP · 64 B · 10% PDR", ["direct ←", "ovs ←"], ""),
        (
            latency_run(("ovs",), loads=8),
            "PVP · 64 B",
            [f"{load}% PDR ←" for load in (10, 20, 40, 50, 70, 80)],
            "Not drawn, for want of room, but in the CSV: 30% PDR, 60% PDR.",
        ),
    ],
    ids=["technologies", "loads"],
)
def test_a_line_each_technology_or_of_one_alone_each_load_as_far_as_there_are_looks(
    run: Result, title: str, keys: list[str], left: str, tmp_path: Path
) -> None:
    dom, console = load(run, tmp_path)
    assert not console
    plots, _, rest = dom.partition('id="percentile-plots"')[2].partition('id="percentile-left"')
    assert re.findall(r"<figcaption>([^<]*)", plots) == [title]
    assert re.findall(r"</canvas>([^<]+)</li>", plots) == keys
    assert plots.count('class="uplot') == 1
    assert rest.partition(">")[2].partition("<")[0] == left
