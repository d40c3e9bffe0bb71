# SPDX-License-Identifier: Apache-2.0
"""CPU time a packet of functions outside weir-dp, from trials that never were."""

from __future__ import annotations

import pytest

from weir.procedures.lean.outside import costs
from weir.results.loads import AreaLoad, CoreLoad
from weir.results.trial import Trial

HZ = 2e9


def trial(offered: int, *, window_s: float = 1.0, **busy: int) -> Trial:
    """`busy`: cycles of areas by name, with __ for a dot."""
    areas = [
        AreaLoad(
            name=name.replace("__", "."),
            core=1,
            kind="softirq" if name.startswith("softirq") else "generator" if name == "tester" else "guest",
            busy_cycles=cycles,
            idle_cycles=0,
        )
        for name, cycles in busy.items()
    ]
    core = CoreLoad.model_construct(core=1, window_s=window_s)
    return Trial(
        purpose="curve", intended_load_pps=1, intended_duration_s=1, duration_s=1, intended=offered,
        offered=offered, delivered=offered, loss_ratio=0, valid=True, areas=areas, cores=[core], streams=[],
    )  # fmt: skip


def test_what_it_has_without_load_is_not_the_packets() -> None:
    pairs = [
        (trial(20, f1__main=100_000), trial(100_000, f1__main=50_100_000)),
        (trial(20, f1__main=100_000), trial(100_000, window_s=2.0, f1__main=70_200_000)),
        (trial(20, f1__main=100_000), trial(100_000, f1__main=60_100_000)),
    ]
    (one,) = costs(pairs, HZ)
    assert one.tsc_cycles_per_packet is not None
    assert one.tsc_cycles_per_packet.median == pytest.approx(600)
    assert (one.tsc_cycles_per_packet.min, one.tsc_cycles_per_packet.max) == pytest.approx((500, 700))
    assert one.most_tsc_cycles_per_packet == pytest.approx(601)
    assert one.busy_without_load == pytest.approx(0.00005)


def test_one_that_polls_has_an_upper_bound_alone() -> None:
    polling = round(0.99 * HZ)
    (one,) = costs([(trial(20, f1__lcore=polling), trial(1_000_000, f1__lcore=polling))], HZ)
    assert one.tsc_cycles_per_packet is None
    assert one.most_tsc_cycles_per_packet == pytest.approx(1980)


def test_one_that_polls_on_a_part_of_its_core_has_an_upper_bound_too() -> None:
    half = round(0.5 * HZ)
    pairs = [
        (trial(20, f1__lcore=half), trial(50_000, f1__lcore=round(of * half))) for of in (0.99, 1.0, 1.01)
    ]
    (one,) = costs(pairs, HZ)
    assert one.tsc_cycles_per_packet is None
    assert one.most_tsc_cycles_per_packet == pytest.approx(20_000)


def test_one_that_has_half_of_its_work_without_load_does_not_poll() -> None:
    (one,) = costs([(trial(20, f1__main=round(0.3 * HZ)), trial(50_000, f1__main=round(0.6 * HZ)))], HZ)
    assert one.tsc_cycles_per_packet is not None
    assert one.tsc_cycles_per_packet.median == pytest.approx(12_000)


def test_a_trial_in_which_the_tester_sent_nothing_tells_no_cost_of_a_packet() -> None:
    sent = (trial(20, f1__main=100_000), trial(100_000, f1__main=50_100_000))
    (one,) = costs([(trial(20, f1__main=100_000), trial(0, f1__main=100_000)), sent], HZ)
    assert one == costs([sent], HZ)[0]
    assert costs([(trial(20), trial(0, f1__main=100_000))], HZ) == []


def test_the_dearest_comes_first_and_the_tester_not_at_all() -> None:
    pair = (trial(20), trial(1000, tester=10**9, softirq__1=500_000, f1__main=900_000))
    assert [(one.name, one.kind) for one in costs([pair], HZ)] == [
        ("f1.main", "guest"),
        ("softirq.1", "softirq"),
    ]
