# SPDX-License-Identifier: Apache-2.0
"""Which events an interval lists, whose its stalls are, and that reading it takes little time."""

from __future__ import annotations

import time
from io import StringIO
from itertools import pairwise

from rich.console import Console

from weir.procedures.soak.intervals import EVENTS_MAX
from weir.procedures.soak.progress import SoakProgress
from weir.procedures.soak.section_events import event_text, events_text
from weir.procedures.soak.section_rows import SoakRow, remarks
from weir.protocol.traffic_results import Gap

from .looks import TakenSpan, run


def test_stalls_keep_a_share_of_the_places_however_many_losses_there_are() -> None:
    seen = run()
    gaps = [Gap(core=1, ended_us=1e5 * at, us=2000 + at, host_us=0) for at in range(90)]
    seen.pass_by(lost=60, losses=[(0.1 * at, 1) for at in range(60)], gaps=gaps)
    (interval,) = seen.recorder.soak.intervals
    assert sorted(event.us for event in interval.events if event.us) == [2000 + at for at in range(80, 90)]
    assert sum(event.kind == "loss" for event in interval.events) == 40
    assert [event.offset_s for event in interval.events] == sorted(one.offset_s for one in interval.events)


def test_losses_alike_are_listed_from_all_of_the_interval_behind_the_larger_ones() -> None:
    seen = run()
    losses = [(0.1 * at, 7 if at == 3 else 1) for at in range(60)]
    seen.pass_by(lost=66, losses=losses)
    (interval,) = seen.recorder.soak.intervals
    assert len(interval.events) == EVENTS_MAX
    assert interval.events_left_out == 60 - EVENTS_MAX
    (large,) = [one for one in interval.events if one.packets == 7]
    gaps = [later.offset_s - sooner.offset_s for sooner, later in pairwise(interval.events)]
    assert max(gaps) < 0.31
    assert large in interval.events


def test_packets_that_a_function_holds_at_an_interval_s_end_are_no_drops_of_it() -> None:
    seen = run()
    seen.held = 42
    seen.pass_by(lost=3, losses=[(5.0, 3)], dropped=3)
    (interval,) = seen.recorder.soak.intervals
    assert [(drop.reason, drop.packets) for drop in interval.drops] == [("no_room", 3)]
    assert interval.events[0].counters == interval.drops


def test_a_line_of_progress_says_of_how_many_losses_it_has_the_worst_listed_or_not() -> None:
    seen = run()
    seen.pass_by(lost=66, losses=[(0.1 * at, 7 if at == 3 else 1) for at in range(60)])
    written = StringIO()
    progress = SoakProgress(Console(file=written, width=200))
    progress.soak(seen.recorder.soak, seen.recorder.soak.intervals[0])
    assert "7 packets lost" in written.getvalue()
    assert "(the worst of 60 losses)" in written.getvalue()


def test_a_stall_that_several_programs_had_together_is_not_laid_on_the_host() -> None:
    seen = run()
    gap = Gap(core=1, ended_us=5.0e6, us=4000, host_us=4000)
    taken = [
        TakenSpan(1, 4_996_000_000 + at * 10**6, 4_997_000_000 + at * 10**6, f"cc1 ({at})")
        for at in (0, 1, 2)
    ]
    seen.pass_by(gaps=[gap], taken=taken)
    (event,) = seen.recorder.soak.intervals[0].events
    assert event.taker == "several programs"
    assert event_text(event).endswith("core 1 stood still for 4.00 ms: several programs")


READ_S_MOST = 5.0  # a tenth of that where nothing else runs; each stall against each time took minutes


def test_thousands_of_stalls_among_tens_of_thousands_of_times_of_others_are_read_at_once() -> None:
    seen = run()
    gaps = [Gap(core=1, ended_us=3000.0 * at, us=2000, host_us=2000) for at in range(1, 3000)]
    taken = [
        TakenSpan(core, at * 200_000, at * 200_000 + 150_000, f"cc1 ({core})")
        for core in (0, 1)
        for at in range(45_000)
    ]
    began_s = time.process_time()
    seen.pass_by(lost=60, losses=[(0.15 * at, 1) for at in range(60)], gaps=gaps, taken=taken)
    assert time.process_time() - began_s < READ_S_MOST
    (interval,) = seen.recorder.soak.intervals
    assert {event.taker for event in interval.events if event.kind == "stall"} == {"cc1 (1)"}


def test_what_is_not_listed_is_counted_by_its_kind() -> None:
    seen = run()
    gaps = [Gap(core=1, ended_us=1e5 * at, us=2000 + at, host_us=0) for at in range(90)]
    seen.pass_by(lost=60, losses=[(0.1 * at, 1) for at in range(60)], gaps=gaps)
    seen.pass_by(gaps=gaps[:3])
    soak = seen.recorder.soak
    assert events_text(soak) == "60 of loss, 93 stalls of 1 ms or more; 53 of them are listed"
    soak.intervals[1].losses_unseen = True
    assert events_text(soak).startswith("60 or more of loss, 93 stalls")


def test_of_a_stored_soak_that_counted_all_kinds_together_no_kind_is_said_to_be_none() -> None:
    seen = run()
    seen.pass_by(lost=1, losses=[(1.0, 1)])
    (interval,) = seen.recorder.soak.intervals
    interval.events_left_out, interval.losses_left_out, interval.stalls_left_out = 2822, None, None
    said = "1 of loss, 0 stalls of 1 ms or more, and 2,822 of which it is not known what they were; 1 of them"
    assert events_text(seen.recorder.soak).startswith(said)


def test_intervals_that_are_longer_than_asked_for_are_said_and_the_last_one_may_be() -> None:
    seen = run()
    seen.pass_by()
    seen.at_s += 4
    seen.pass_by()
    row = SoakRow(None, None, seen.recorder.soak)  # type: ignore[arg-type]
    assert not any("longer than" in said for said in remarks(row))
    seen.at_s += 19.4
    seen.pass_by()
    (said,) = (said for said in remarks(row) if "longer than" in said)
    assert said.startswith(
        "1 of 3 intervals lasted longer than the 10 s asked for, up to 29.4 s: the machine was"
    )
