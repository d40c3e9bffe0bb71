# SPDX-License-Identifier: Apache-2.0
"""Latency of several trials as one."""

from __future__ import annotations

import random
import statistics

import pytest

from weir.measure.delay_figures import merged_latency
from weir.results.delay import Latency
from weir.results.trial import StreamCount


def trial(delays_us: list[float], *, kept: bool = True) -> StreamCount:
    """Of these packets, in buckets of 1 us."""
    found = sorted(delays_us)

    def at(share: float) -> float:
        return found[min(len(found) - 1, int(share * len(found)))]

    latency = Latency(
        packets=len(found),
        min_us=found[0],
        mean_us=statistics.mean(found),
        p50_us=at(0.5),
        p90_us=at(0.9),
        p99_us=at(0.99),
        p999_us=at(0.999),
        p9999_us=at(0.9999),
        max_us=found[-1],
    )
    counts: dict[int, int] = {}
    for delay in found:
        counts[int(delay)] = counts.get(int(delay), 0) + 1
    return StreamCount(
        stream=0,
        direction="left-to-right",
        intended=len(found),
        offered=len(found),
        delivered=len(found),
        duplicates=0,
        reordered=0,
        latency=latency,
        histogram=[(float(at), at + 1.0, n) for at, n in sorted(counts.items())] if kept else [],
    )


def test_quantiles_are_those_of_all_packets_and_not_of_the_worst_trial() -> None:
    drawn = random.Random(4)
    calm = [10 + drawn.expovariate(0.5) for _ in range(90_000)]
    slow = [500 + drawn.expovariate(0.01) for _ in range(1_000)]
    every = sorted(calm + slow)
    found = merged_latency([trial(calm), trial(slow)])
    assert found is not None
    assert found.packets == 91_000
    assert found.mean_us == pytest.approx(statistics.mean(every))
    assert (found.min_us, found.max_us) == (every[0], every[-1])
    for name, share in (("p50_us", 0.5), ("p90_us", 0.9), ("p99_us", 0.99), ("p999_us", 0.999)):
        assert getattr(found, name) == pytest.approx(every[int(share * len(every))], abs=2), name
    worst = trial(slow).latency
    assert worst is not None
    assert found.p90_us < 20 < worst.p50_us


def test_a_trial_counts_by_its_packets() -> None:
    found = merged_latency([trial([1.0] * 999), trial([100.0])])
    assert found is not None
    assert found.p99_us == pytest.approx(1.5)
    assert found.p9999_us == pytest.approx(100)
    assert found.mean_us == pytest.approx((999 + 100) / 1000)


def test_one_trial_is_itself() -> None:
    one = trial([float(delay) for delay in range(100, 200)])
    found = merged_latency([one])
    assert found is not None
    assert one.latency is not None
    assert found.mean_us == one.latency.mean_us
    assert found.p50_us == pytest.approx(149.5)


def test_trials_without_a_histogram_have_no_quantiles_together() -> None:
    assert merged_latency([trial([1.0]), trial([2.0], kept=False)]) is None
    assert merged_latency([]) is None
