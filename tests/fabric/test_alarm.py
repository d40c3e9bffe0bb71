# SPDX-License-Identifier: Apache-2.0
"""What waits ends in time, whichever of several limits is nearer."""

from __future__ import annotations

import signal
import time

import pytest

from weir.fabric.alarm import TookTooLongError, ended_after


def test_what_takes_longer_is_ended() -> None:
    with pytest.raises(TookTooLongError), ended_after(0.05):
        time.sleep(5)
    assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)


@pytest.mark.parametrize(("outer_s", "inner_s"), [(0.1, 60.0), (60.0, 0.1)])
def test_of_two_limits_the_nearer_one_ends_it(outer_s: float, inner_s: float) -> None:
    with pytest.raises(TookTooLongError), ended_after(outer_s), ended_after(inner_s):
        time.sleep(5)
    assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)


def test_a_limit_goes_on_behind_a_shorter_one_within_it() -> None:
    with pytest.raises(TookTooLongError), ended_after(0.2):  # noqa: PT012
        with ended_after(0.1):
            pass
        time.sleep(5)
