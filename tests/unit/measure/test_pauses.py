# SPDX-License-Identifier: Apache-2.0
"""Loss for lack of capacity, and loss in pauses."""

from __future__ import annotations

import random

import pytest

from weir.measure.overload import in_pauses

SLICES = 100


def spread(lost: dict[int, int]) -> list[int]:
    return [lost.get(at, 0) for at in range(SLICES)]


def test_loss_in_a_few_milliseconds_of_a_system_with_empty_queues_is_in_pauses() -> None:
    lost = spread({40: 300, 41: 2000, 42: 700, 80: 1})
    calm = [at not in range(38, 48) for at in range(SLICES)]
    assert in_pauses(lost, calm)


def test_loss_all_the_time_is_lack_of_capacity() -> None:
    assert not in_pauses([40] * SLICES, [True] * SLICES)


@pytest.mark.parametrize("a_slice", [0.1, 0.5, 2.0])
def test_little_loss_at_random_is_no_pause(a_slice: float) -> None:
    draw = random.Random(3)
    for _ in range(20):
        lost = [sum(draw.random() < a_slice / 20 for _ in range(20)) for _ in range(SLICES)]
        assert not in_pauses(lost, [True] * SLICES)


def test_a_queue_that_grows_until_it_overflows_at_the_end_is_lack_of_capacity() -> None:
    assert not in_pauses(spread({98: 50, 99: 400}), [at < 31 for at in range(SLICES)])


def test_bursts_that_a_full_queue_drops_are_lack_of_capacity() -> None:
    """Of 1,000 slices 31 lose 32 packets each, and delays are as ever: the queue is always full."""
    assert not in_pauses([32 if at % 32 == 0 else 0 for at in range(1000)], [True] * 1000)


def test_without_loss_there_is_none() -> None:
    assert not in_pauses([0] * SLICES, [True] * SLICES)
    assert not in_pauses([], [])
