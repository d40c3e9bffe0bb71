# SPDX-License-Identifier: Apache-2.0
"""Replays in reports: whole numbers in 80 columns, and a replay that was late is another load."""

from __future__ import annotations

import pytest

from tests.report.synthetic import result
from weir.procedures.replay.section import NAME, SECTION
from weir.report.blocks import plain
from weir.results.delay import Latency
from weir.results.replay import Replay
from weir.results.result import Result


def replayed(late_p99_us: float) -> Result:
    """2,000 frames in 100 ms through the first chain."""
    ends = dict.fromkeys(("p99_us", "p999_us", "max_us"), late_p99_us)
    late = Latency(packets=2000, min_us=0.1, mean_us=1.0, p50_us=0.5, p90_us=1.0, **ends)
    record = Replay(
        asked="2x", captures=[], own_pps=10_053.8, own_seconds=0.199, factor=2, load_pps=20_107.5, l2_bps=1e8,
        seconds=0.0995, replays=5, loss_ratio=0.0, loss_ratio_min=0.0, loss_ratio_max=0.0421, lateness=late,
        latency=late,
    )  # fmt: skip
    run = result()
    run.setups = run.setups[:1]
    run.setups[0].cases = run.setups[0].cases[:1]
    run.setups[0].cases[0].records = {NAME: record.model_dump(mode="json")}
    return run


def test_no_number_is_broken_in_a_terminal_of_80_columns() -> None:
    text = "".join(plain(one, 80) for one in SECTION.terminal(replayed(12.4)))
    assert max(map(len, text.splitlines())) <= 80
    assert "20,107.5" in text
    assert "99.5 ms" in text


LATE = "but frames were sent up to 29.14 ms late (P99) of 99.5 ms, which is another load than the capture's"


@pytest.mark.parametrize(("late_p99_us", "end"), [(12.4, "."), (29_140.0, f"; {LATE}.")])
def test_a_replay_that_was_late_for_a_good_part_of_its_time_says_so(late_p99_us: float, end: str) -> None:
    (said,) = SECTION.findings(replayed(late_p99_us))
    assert (
        said
        == f"direct PVP loses nothing of the capture at 2 times its own rate (20,108 packets a second){end}"
    )
