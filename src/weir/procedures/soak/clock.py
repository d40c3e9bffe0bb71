# SPDX-License-Identifier: Apache-2.0
"""Time of day in a segment of a soak, which may last for days in which somebody sets the clock."""

from __future__ import annotations

import time

STEP_S = 1.0
"""By less than that NTP may have moved it."""


class SegmentClock:
    """The wall clock as it was at the beginning, and from then on the monotonic one, which nobody sets."""

    def __init__(self) -> None:
        self._wall_s, self._began_s = time.time(), time.monotonic()

    def now(self) -> float:
        """Seconds since 1970."""
        return self._wall_s + time.monotonic() - self._began_s

    def was_set(self) -> str | None:
        """In a sentence; None: it was not."""
        step_s = time.time() - self.now()
        if abs(step_s) < STEP_S:
            return None
        return f"the clock was set by {step_s:+,.0f} s meanwhile: times of day are by the one before."
