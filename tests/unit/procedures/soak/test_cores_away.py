# SPDX-License-Identifier: Apache-2.0
"""Who had the cores, core by core, and what is said where nobody knows."""

from __future__ import annotations

from collections import Counter

from weir.fabric.outside.taken import Unrecorded
from weir.procedures.soak.section_away import away_lines, away_text, unknown_text
from weir.procedures.soak.section_events import event_text
from weir.procedures.soak.section_rows import SoakRow, remarks
from weir.protocol.traffic_results import Gap

from .looks import TakenSpan, run

S = 1_000_000_000
OTHER_CORE, CORE = 0, 1


def small_programs(count: int) -> list[TakenSpan]:
    """On one core, half a second each."""
    return [TakenSpan(OTHER_CORE, at * S // 2, (at + 1) * S // 2, f"cc1 ({at})") for at in range(count)]


def test_many_programs_of_one_core_hide_none_of_another() -> None:
    seen = run()
    seen.pass_by(taken=[*small_programs(12), TakenSpan(CORE, 0, S // 10, "python3 (9)")])
    (interval,) = seen.recorder.soak.intervals
    assert Counter(one.core for one in interval.taken) == {OTHER_CORE: 9, CORE: 1}
    by = {one.by: one.us for one in interval.taken}
    assert (by["python3 (9)"], by["other programs"]) == (1e5, 4 * 5e5)
    assert sum(one.us for one in interval.taken if one.core == OTHER_CORE) == 6e6


def test_time_of_which_nobody_knows_counts_neither_as_nothing_nor_as_the_hosts() -> None:
    seen = run()
    seen.pass_by(taken=[TakenSpan(CORE + 1, 0, 5 * S, "python3 (9)")])
    gap = Gap(core=CORE, ended_us=15.0e6, us=4000, host_us=4000)
    unknown = [Unrecorded(core, 10 * S, 20 * S) for core in (CORE, CORE + 1)]
    seen.pass_by(gaps=[gap], unrecorded=unknown)
    soak = seen.recorder.soak
    said = away_text(soak)
    assert f"core {CORE + 1}: 50.0% of the time that is known, 10.00 s)" in said
    assert "the host" not in said
    assert [line[:3] for line in away_lines(soak)] == [[str(CORE + 1), "python3 (9)", "5.00 s"]]
    (event,) = soak.intervals[1].events
    assert event_text(event).endswith("stood still for 4.00 ms: who had it was not recorded")
    why = f"Who had it is not known of core {CORE} for 10.00 s, core {CORE + 1} for 10.00 s: it went from one"
    assert (unknown_text(soak) or "").startswith(why)
    assert unknown_text(soak) in list(remarks(SoakRow(None, None, soak)))  # type: ignore[arg-type]


def test_where_all_is_known_nothing_is_said_of_it() -> None:
    seen = run()
    seen.pass_by(taken=small_programs(2))
    assert unknown_text(seen.recorder.soak) is None
    assert f"core {OTHER_CORE}: 10.0% of the time)" in away_text(seen.recorder.soak)
