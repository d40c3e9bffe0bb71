# SPDX-License-Identifier: Apache-2.0
"""Latency histograms in HdrHistogram's formats, read back with its own library."""

from __future__ import annotations

import pytest
from hdrh.histogram import HdrHistogram  # type: ignore[import-untyped]

from tests.report.synthetic import result
from weir.report import render
from weir.results.result import DelayPoint, Result, StreamCount, Trial

BUCKETS = [(9.9, 10.1, 900), (19.8, 20.2, 90), (99.0, 101.0, 10)]  # us, us, packets


def measured() -> Result:
    """A run with one latency point of two trials."""
    run = result()
    stream = StreamCount(
        stream=0,
        direction="left-to-right",
        intended=1000,
        offered=1000,
        delivered=1000,
        duplicates=0,
        reordered=0,
        histogram=BUCKETS,
    )
    trial = Trial(
        purpose="latency",
        intended_load_pps=1000,
        intended_duration_s=1,
        duration_s=1,
        intended=1000,
        offered=1000,
        delivered=1000,
        loss_ratio=0,
        valid=True,
        streams=[stream],
    )
    run.setups[0].cases[0].delays = [DelayPoint(load="50% PDR", load_pps=1000, trials=[trial, trial])]
    return run


def test_the_log_has_a_tagged_line_for_each_trial_that_decodes_to_its_histogram() -> None:
    lines = [line for line in render(measured(), "hlog").splitlines() if line.startswith("Tag=")]
    assert len(lines) == 2
    tag, start, length, _, payload = lines[1].split(",")
    assert tag == "Tag=direct.PVP.64.50%-PDR.left-to-right"
    assert (float(start), float(length)) == (1.0, 1.0)
    decoded = HdrHistogram.decode(payload)
    assert decoded.get_total_count() == 1000
    assert decoded.get_value_at_percentile(50) == pytest.approx(10_000, rel=1e-3)
    assert decoded.get_value_at_percentile(99.9) == pytest.approx(100_000, rel=1e-3)


def test_the_distribution_puts_all_trials_of_a_load_together() -> None:
    text = render(measured(), "hgrm")
    assert text.startswith("#direct.PVP.64.50%-PDR.left-to-right, ns\n")
    assert text.count("TotalCount 1/") == 1
    last = [line for line in text.splitlines() if line and not line.startswith("#")][-1].split()
    assert (float(last[1]), int(last[2])) == (1.0, 2000)


def test_an_invalid_trial_is_in_neither() -> None:
    run = measured()
    for trial in run.setups[0].cases[0].delays[0].trials:
        trial.valid = False
    assert "Tag=" not in render(run, "hlog")
    assert "no trial" in render(run, "hgrm")
