# SPDX-License-Identifier: Apache-2.0
"""What of a trial counts. Slices of a millisecond, a thousand packets each, 100 us of delay."""

from __future__ import annotations

import pytest

from weir.measure.absences import Absence, absences, host_us_until, slowed
from weir.measure.disturbance import evidence
from weir.protocol.traffic_results import CoreSlices, Gap, Slices, StreamSlices
from weir.results.slices import HOST, SLOWED

COUNT, PACKETS = 100, 1000
LEAST_MS = 1.0


class Taken:
    """Somebody else's time, or a switch's."""

    def __init__(self, core: int, from_raw_ns: int, to_raw_ns: int, *, takes_part: bool = False) -> None:
        self.core, self.from_raw_ns, self.to_raw_ns, self.by = core, from_raw_ns, to_raw_ns, "cc (7)"
        self.takes_part = takes_part


def run(
    lost: dict[int, int] | None = None,
    delay_us: dict[int, float] | None = None,
    *,
    gaps: tuple[Gap, ...] = (),
    pieces: tuple[int, ...] = (),
    unsent_from: int = COUNT,
    late_us: dict[int, float] | None = None,
) -> Slices:
    """A run in which these slices lost packets, or had other delays."""
    offered = [PACKETS if at < unsent_from else 0 for at in range(COUNT)]
    return Slices(
        width_ns=1_000_000,
        start_raw_ns=5_000_000_000,
        now_raw_ns=5_200_000_000,
        now_us=200_000,
        streams=(
            StreamSlices(
                id=0,
                due=(PACKETS,) * COUNT,
                offered=tuple(offered),
                delivered=tuple(sent - (lost or {}).get(at, 0) for at, sent in enumerate(offered)),
                delay_ns=tuple(round(1e3 * (delay_us or {}).get(at, 100)) for at in range(COUNT)),
                late_ns=tuple(round(1e3 * (late_us or {}).get(at, 0)) for at in range(COUNT)),
            ),
        ),
        cores=(CoreSlices(core=1, distance_cycles=0, piece_cycles=pieces),),
        gaps=gaps,
    )


def away(from_ms: float, to_ms: float) -> Absence:
    return Absence(1, from_ms * 1e3, to_ms * 1e3, HOST)


def drained(first: int, *delays_ms: float) -> dict[int, float]:
    return {first + at: ms * 1e3 for at, ms in enumerate(delays_ms)}


def test_without_absences_all_of_it_counts() -> None:
    found = evidence(run({40: 7, 41: 3}), [], LEAST_MS)
    assert found.seconds == pytest.approx(0.1)
    assert found.recovering_s == 0
    assert (found.offered, found.lost, found.backlog, found.short) == (COUNT * PACKETS, 10, 0, 0)


def test_what_was_due_while_a_core_was_away_and_just_behind_does_not_count() -> None:
    found = evidence(run({50: 900, 51: 400, 52: 30, 53: 20, 60: 5}), [away(50.2, 52.5)], LEAST_MS)
    assert found.lost == 5
    assert found.seconds == pytest.approx(0.1 - 0.004)  # 50 to 53


def test_packets_that_would_have_left_meanwhile_do_not_count_though_they_were_due_long_before() -> None:
    delays = dict.fromkeys(range(COUNT), 20_000.0)
    lost = {30: 11, 45: 12}  # 20 ms before the absence, and in the middle of those that waited
    found = evidence(run(lost, delays), [away(50, 52)], LEAST_MS)
    assert found.lost == 12


def test_while_queues_empty_a_system_that_sends_out_more_than_comes_in_lost_nothing_for_the_load() -> None:
    delays = drained(52, 4, 3.2, 2.4, 1.6, 0.8)
    found = evidence(run({53: 40, 54: 10}, delays), [away(48, 51)], LEAST_MS)
    assert found.recovering_s == pytest.approx(0.004)  # the first one is left out
    assert (found.lost, found.backlog) == (0, 0)


def test_a_queue_that_never_empties_is_overload_and_its_losses_count() -> None:
    delays = dict.fromkeys(range(51, COUNT), 4000.0)
    lost = dict.fromkeys(range(53, COUNT), 50)
    found = evidence(run(lost, delays), [away(48, 51)], LEAST_MS)
    assert found.lost == pytest.approx(50 * (COUNT - 53), rel=0.15)
    assert found.offered == pytest.approx(PACKETS * (COUNT - 5), abs=PACKETS)


def test_a_loss_behind_the_recovery_counts_whole() -> None:
    delays = drained(52, 4, 3, 2, 1)
    found = evidence(run({53: 40, 70: 6}, delays), [away(48, 51)], LEAST_MS)
    assert found.lost == 6


def test_where_almost_all_is_lost_before_the_queues_no_falling_delay_makes_up_for_it() -> None:
    """Ten packets of each thousand arrive, those with less and less delay: the queues were filled before."""
    overloaded = dict.fromkeys(range(52, COUNT), PACKETS - 10)
    delays = {at: 40_000.0 - 800.0 * (at - 52) for at in range(52, COUNT)}
    found = evidence(run(overloaded, delays), [away(48, 51)], LEAST_MS)
    assert found.lost > 0.9 * sum(overloaded.values())


def test_growth_of_the_delay_is_a_backlog_and_an_absence_in_it_is_none() -> None:
    ramp = {at: 100 + 50.0 * at for at in range(COUNT)}  # 5 ms in all: the load of 100 ms leaves in 105
    assert evidence(run({}, ramp), [], LEAST_MS).backlog == pytest.approx(4762, rel=0.01)
    assert evidence(run({}, ramp), [], 0).backlog == 0
    step = {at: 100.0 if at < 48 else 3100.0 for at in range(COUNT)}  # what came meanwhile stays queued
    assert evidence(run({}, step), [away(48, 51)], LEAST_MS).backlog == 0


def test_what_a_late_tester_adds_to_the_delay_is_no_backlog_of_the_system() -> None:
    late = {at: 50.0 * at for at in range(COUNT)}
    delays = {at: 100 + late[at] for at in range(COUNT)}
    assert evidence(run({}, delays, late_us=late), [], LEAST_MS).backlog == 0
    assert evidence(run({}, delays), [], LEAST_MS).backlog == pytest.approx(4762, rel=0.01)


@pytest.mark.parametrize("times", [1.5, 2.0, 3.0, 8.0])
def test_of_a_load_that_is_some_times_too_much_that_part_was_not_carried(times: float) -> None:
    """What waits until nobody waits for it any more is lost; of what comes before, some came too late."""
    ramp = {at: 100 + 1000 * (times - 1) * at for at in range(COUNT)}
    assert evidence(run({}, ramp), [], LEAST_MS).backlog == pytest.approx(
        1000 * COUNT * (1 - 1 / times), rel=0.01
    )
    waited = round(2 * COUNT / times)
    given_up = dict.fromkeys(range(waited, COUNT), PACKETS)
    found = evidence(run(given_up, ramp), [], LEAST_MS)
    assert found.lost == sum(given_up.values())
    assert found.lost + found.backlog == pytest.approx(1000 * COUNT * (1 - 1 / times), rel=0.02)


def test_a_queue_that_fills_at_once_and_would_empty_again_is_no_backlog() -> None:
    """An episode at the end of the time: what comes behind it is not seen."""
    delays = {at: 100.0 if at < 80 else 900.0 for at in range(COUNT)}
    assert evidence(run({}, delays), [], LEAST_MS).backlog == 0


def test_an_overload_is_found_behind_a_pause_at_the_beginning() -> None:
    delays = {at: 2000.0 if at < 10 else 100 + 10.0 * at for at in range(COUNT)}
    assert evidence(run({}, delays), [], LEAST_MS).backlog == pytest.approx(1000, rel=0.1)


def test_loss_in_a_few_slices_of_a_calm_run_is_said_to_be_in_pauses() -> None:
    episode = dict.fromkeys(range(40, 45), 900.0)
    assert evidence(run({42: 300, 43: 120}, episode), [], LEAST_MS).in_pauses
    assert not evidence(run(dict.fromkeys(range(COUNT), 4)), [], LEAST_MS).in_pauses
    assert not evidence(run({}, episode), [], LEAST_MS).in_pauses


def test_a_little_growth_counts_only_where_packets_were_lost() -> None:
    ramp = {at: 100 + 1.5 * at for at in range(COUNT)}  # 0.15 ms in a tenth of a second
    assert evidence(run({}, ramp), [], LEAST_MS).backlog == 0
    assert evidence(run({99: 1}, ramp), [], LEAST_MS).backlog == pytest.approx(150, rel=0.05)


def test_in_a_short_trial_less_growth_is_a_backlog() -> None:
    ramp = {at: 100 + 5.0 * at for at in range(COUNT)}  # half a percent of the load was not carried
    assert evidence(run({}, ramp), [], LEAST_MS).backlog == pytest.approx(500, rel=0.05)


def test_packets_that_were_due_and_not_sent_count_as_short_where_all_cores_were_there() -> None:
    assert evidence(run(unsent_from=97), [], LEAST_MS).short == 3 * PACKETS
    assert evidence(run(unsent_from=97), [away(96.5, 110)], LEAST_MS).short == 0


def test_gaps_are_absences_only_if_the_host_made_them() -> None:
    hosts = Gap(core=1, ended_us=3000, us=2000, host_us=1900)
    own = Gap(core=1, ended_us=9000, us=2000, host_us=0, area="f1")
    before = Gap(core=1, ended_us=-10, us=500, host_us=500)
    assert absences(run(gaps=(hosts, own, before))) == [Absence(1, 1000, 3000, HOST)]


def test_a_gap_in_which_the_system_under_test_itself_had_the_core_is_no_absence() -> None:
    gap = Gap(core=1, ended_us=12_000, us=2000, host_us=2000)
    whole, half = (5_010_000_000, 5_012_000_000), (5_010_000_000, 5_010_900_000)
    assert absences(run(gaps=(gap,)), [Taken(1, *whole, takes_part=True)]) == []
    assert absences(run(gaps=(gap,)), [Taken(1, *half, takes_part=True)]) == [
        Absence(1, 10_000, 12_000, HOST)
    ]
    assert len(absences(run(gaps=(gap,)), [Taken(0, *whole, takes_part=True)])) == 1


def test_what_the_host_took_while_packets_were_sent_is_told_from_what_it_took_until_they_had_come() -> None:
    sending = Gap(core=1, ended_us=3000, us=2000, host_us=1900)
    into_the_drain = Gap(core=1, ended_us=101_000, us=4000, host_us=2000)
    draining = Gap(core=1, ended_us=190_000, us=50_000, host_us=50_000)
    others = Gap(core=0, ended_us=4000, us=1000, host_us=1000)
    slices = run(gaps=(sending, into_the_drain, draining, others))
    assert host_us_until(slices, 1, 100_000) == pytest.approx(1900 + 1500)
    assert host_us_until(slices, 0, 100_000) == pytest.approx(1000)
    assert host_us_until(slices.model_copy(update={"gaps_left_out": 1}), 1, 100_000) is None


def test_times_of_others_are_told_in_the_runs_own_clock() -> None:
    (found,) = absences(
        run(), [Taken(0, 5_010_000_000, 5_012_000_000), Taken(0, 5_050_000_000, 5_050_049_000)]
    )
    assert (found.core, found.by) == (0, "cc (7)")
    assert found.from_us == pytest.approx(10_000)
    assert found.to_us == pytest.approx(12_000)


def test_many_short_times_of_others_near_to_each_other_are_an_absence() -> None:
    def every(us: int) -> list[Taken]:
        starts = [5_010_000_000 + 1000 * us * at for at in range(10)]
        return [Taken(0, start, start + 10_000) for start in starts]

    assert len(absences(run(), every(200))) == 10
    assert absences(run(), every(600)) == []
    elsewhere = [Taken(core, 5_010_000_000, 5_010_040_000) for core in (0, 1)]
    assert absences(run(), elsewhere) == []


def test_a_core_is_slowed_where_it_takes_longer_than_at_its_best() -> None:
    pieces = (600, 0, 640, 700, 800)
    assert slowed(run(pieces=pieces), {1: 600.0}) == [
        Absence(1, 3000, 4000, SLOWED),
        Absence(1, 4000, 5000, SLOWED),
    ]
    assert slowed(run(pieces=pieces), {}) == []
