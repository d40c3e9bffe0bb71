# SPDX-License-Identifier: Apache-2.0
"""When to stop: time is up, or somebody pressed Ctrl-C. The clock is given: tests have their own."""

from __future__ import annotations

from collections.abc import Callable

import highspy


class Stop:
    """Asked between steps; HiGHS is given what is left."""

    def __init__(self, limit_s: float, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._start = clock()
        self._limit_s = limit_s
        self.asked = False
        """Set by whoever catches Ctrl-C."""

    def ask(self) -> None:
        """Ends the search at its next step."""
        self.asked = True

    def passed_s(self) -> float:
        """Since the start."""
        return self._clock() - self._start

    def left_s(self, share: float = 1.0) -> float:
        """Until `share` of the limit, at least a little: HiGHS takes 0 for no time at all."""
        return max(0.01, share * self._limit_s - self.passed_s())

    def now(self, share: float = 1.0) -> bool:
        """Whether to end."""
        return self.asked or self.passed_s() >= share * self._limit_s


def empty_model(stop: Stop) -> highspy.Highs:
    """A model that prints nothing, is always solved the same way, and ends early when `stop` asks.

    Its best solution is kept then.
    """
    model: highspy.Highs = highspy.Highs()  # type: ignore[no-untyped-call]
    model.setOptionValue("output_flag", False)
    model.setOptionValue("threads", 1)
    model.setOptionValue("random_seed", 0)

    def check(event: highspy.highs.HighsCallbackEvent) -> None:
        event.interrupt(stop.asked)

    model.cbMipInterrupt.subscribe(check)
    model.cbSimplexInterrupt.subscribe(check)
    return model
