# SPDX-License-Identifier: Apache-2.0
"""What trials at one load say of each tenant: medians of the valid ones, and where the rest was lost."""

from __future__ import annotations

import pytest

from tests.simulated.device import Response
from tests.simulated.tester import SimulatedDut, simulated_traffic
from tests.unit.measure.rig import Rig
from weir.lab.tenants_measure import TenantsMeasure
from weir.measure import no_counters
from weir.measure.one_case import OnChain, Time
from weir.procedures.tenants.case import TenantsCase, point
from weir.results.result import Counted, StreamCount, Trial
from weir.results.tenants import Tenants
from weir.results.trial import Drop


def record(*tenants: str, directions: tuple[str, ...] = ("left-to-right",)) -> Tenants:
    return Tenants(tenants=list(tenants), standing=4, directions=list(directions))


def trial(*delivered: int, valid: bool = True, lost_at: str = "compute1:qvo of blue.1") -> Trial:
    lost = 100 * len(delivered) - sum(delivered)
    return Trial(
        purpose="curve",
        intended_load_pps=100 * len(delivered),
        intended_duration_s=1,
        duration_s=1,
        intended=100 * len(delivered),
        offered=100 * len(delivered),
        delivered=sum(delivered),
        loss_ratio=0,
        valid=valid,
        invalid_because=[] if valid else ["The host took the cores."],
        drops=[Drop(place=lost_at, reason="socket_full", packets=lost)] if lost else [],
        streams=[
            StreamCount(
                stream=number, direction="left-to-right", intended=100, offered=100, delivered=packets,
                duplicates=0, reordered=0,
            )
            for number, packets in enumerate(delivered)
        ],
    )  # fmt: skip


def test_each_tenant_has_the_median_of_its_own_packets() -> None:
    found = point(
        100, [trial(100, 40), trial(90, 60), trial(80, 50), trial(0, 0, valid=False)], record("b", "r")
    )
    assert found.trials == 3
    blue, red = found.shares
    assert (blue.tenant, blue.delivered_pps, blue.delivered_min_pps, blue.delivered_max_pps) == (
        "b",
        90,
        80,
        100,
    )
    assert (red.delivered_pps, red.loss_ratio, red.offered_pps) == (50, 0.5, 100)


def test_losses_of_all_trials_are_added_by_place() -> None:
    found = point(100, [trial(90), trial(60), trial(99, lost_at="network:eth1")], record("b"))
    assert [(one.place, one.packets) for one in found.drops] == [
        ("compute1:qvo of blue.1", 50),
        ("network:eth1", 1),
    ]


def test_without_a_valid_trial_it_says_why() -> None:
    found = point(100, [trial(0, valid=False)], record("b"))
    assert (found.trials, found.shares, found.why) == (0, [], "The host took the cores.")


def disturbed(one: Trial) -> Trial:
    """Stretched to four seconds, of which one counts: the first lost nothing in it, the second half."""
    streams = [
        each.model_copy(
            update={"offered": 260, "delivered": 250, "counted_offered": 100, "counted_lost": lost}
        )
        for each, lost in zip(one.streams, (0, 50), strict=True)
    ]
    counted = Counted(seconds=1.0, recovering_s=0, offered=200, lost=50, short=0, backlog=0)
    return one.model_copy(update={"duration_s": 4.0, "streams": streams, "counted": counted})


def test_of_a_stretched_trial_only_the_time_counts_in_which_the_cores_were_there() -> None:
    found = point(100, [disturbed(trial(100, 100))], record("b", "r"))
    assert found.counted_share == 0.25
    assert [(one.offered_pps, one.delivered_pps, one.loss_ratio) for one in found.shares] == [
        (100, 100, 0),
        (100, 50, 0.5),
    ]


def test_of_a_tenant_that_lost_all_nothing_arrives() -> None:
    lost = trial(100, 100)
    streams = [one.model_copy(update={"counted_offered": 100, "counted_lost": 100}) for one in lost.streams]
    (share, _) = point(100, [lost.model_copy(update={"streams": streams})], record("b", "r")).shares
    assert (share.delivered_pps, share.loss_ratio) == (0, 1)


def test_of_both_directions_each_tenant_has_a_share_for_each() -> None:
    both = record("b", "r", directions=("left-to-right", "right-to-left"))
    found = point(100, [trial(100, 90, 80, 70)], both)
    assert [(one.tenant, one.direction, one.delivered_pps) for one in found.shares] == [
        ("b", "left-to-right", 100),
        ("b", "right-to-left", 90),
        ("r", "left-to-right", 80),
        ("r", "right-to-left", 70),
    ]


@pytest.mark.parametrize(("capacity_pps", "queue"), [(826, 187), (2_000, 1_000), (10_000, 1_277)])
def test_the_search_takes_a_queue_that_holds_what_a_trial_sends_too_much_for_no_rate(
    capacity_pps: float, queue: int
) -> None:
    """A shaper's queue holds some hundred milliseconds: all of a trial far above its rate arrives."""
    measure = TenantsMeasure(repeats=1).of_searches()
    dut = SimulatedDut(
        Response(capacity_pps, capacity_pps, buffer_packets=queue), tester_max_pps=4 * capacity_pps
    )
    (found,) = Rig(dut, measure).throughputs()
    assert found.load_pps == pytest.approx(capacity_pps, rel=0.02)


def test_nothing_far_above_a_load_that_was_far_too_much_is_sent_before_the_search() -> None:
    """A cloud of programs would work off a flood for minutes."""
    dut = SimulatedDut(Response(500.0, 500.0, buffer_packets=1000), tester_max_pps=5e6)
    chain = OnChain(dut, no_counters, lambda _: None, timing=Time(dut.clock, dut.sleep))
    wanted = TenantsMeasure(repeats=1, loads=(100, 1000, 3000))
    case = TenantsCase(wanted, simulated_traffic(), chain, record("blue", "red"))
    case.measure()
    assert 0 not in dut.asked_pps  # as fast as it can
    assert max(dut.asked_pps) == 6000  # 3,000 of each: the highest that the file names
    assert [one.load_pps for one in case.throughput] == [pytest.approx(500, rel=0.1)]
