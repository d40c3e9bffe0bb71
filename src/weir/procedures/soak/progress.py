# SPDX-License-Identifier: Apache-2.0
"""Progress of a soak: one moving line in a terminal; in a log a line a minute, and one for each event."""

from __future__ import annotations

import time
from datetime import datetime, timedelta

from rich.console import Console

from weir.cli.progress import Progress
from weir.procedures.soak.section_events import event_text
from weir.procedures.soak.section_listed import is_lost, is_stall
from weir.procedures.soak.section_rows import greatest_us, load_text, lost_text
from weir.results.soak import Soak, SoakInterval

LOGGED_EVERY_S = 60.0


class SoakProgress(Progress):
    """Says how far it is, when it will end, what was lost, which interval was the worst."""

    def __init__(self, console: Console | None = None) -> None:
        super().__init__(console)
        self._logged_s: float | None = None
        self._overtaken = False
        """That packets came out of order was said."""
        self._worst: SoakInterval | None = None

    def say(self, text: str) -> None:
        """A line that stays, in one piece."""
        self._console.print(text, markup=False, soft_wrap=True)

    def soak(self, soak: Soak, interval: SoakInterval | None) -> None:
        """After each interval; None: a segment begins."""
        if interval is None:
            self.say(
                f"{self._setup}: {load_text(soak)} until about {_end(soak)},"
                f" an interval every {soak.interval_s:g} s"
            )
            return
        losses = [event for event in interval.events if event.kind == "loss"]
        if all(event.out_of_order for event in losses) and self._overtaken:
            losses = []  # said once: it goes on so
        self._overtaken = self._overtaken or any(event.out_of_order for event in losses)
        if losses:
            worst = max(losses, key=lambda event: (not event.out_of_order, event.packets or 0))
            lost, overtaken = _losses_of(interval)
            number, what = (overtaken, "times") if worst.out_of_order else (lost, "losses")
            or_more = " or more" if interval.losses_unseen and not worst.out_of_order else ""
            more = f" (the worst of {number}{or_more} {what})" if number > 1 else ""
            self.say(f"  {event_text(worst)}{more}")
        if self._worst is None or (greatest_us(interval) or 0) > (greatest_us(self._worst) or 0):
            self._worst = interval
        line = self._line(soak)
        if self._status is not None:
            self._status.update(line)
            return
        now_s = time.monotonic()
        if self._logged_s is None or now_s - self._logged_s >= LOGGED_EVERY_S:
            self._logged_s = now_s
            self.say(line)

    def _line(self, soak: Soak) -> str:
        worst = self._worst
        slowest = greatest_us(worst) if worst is not None else None
        text = (
            f"{_hours(soak.measured_s)} of {_hours(soak.duration_s)}, end about {_end(soak)};"
            f" {soak.offered:,} packets, {lost_text(soak.lost)}"
        )
        if worst is not None and slowest is not None:
            text += f"; worst interval {worst.number}: {slowest:.0f} µs"
        return text


def _losses_of(interval: SoakInterval) -> tuple[int, int]:
    """How often packets were lost in it, listed or not; and how often they only came out of order."""
    lost = sum(map(is_lost, interval.events)) + (interval.losses_left_out or 0)
    stalls = sum(map(is_stall, interval.events)) + (interval.stalls_left_out or 0)
    return lost, len(interval.events) + interval.events_left_out - lost - stalls


def _end(soak: Soak) -> str:
    left = timedelta(seconds=max(0.0, soak.duration_s - soak.measured_s))
    end = datetime.now().astimezone() + left
    far = left > timedelta(hours=12)
    return f"{end:%Y-%m-%d %H:%M}" if far else f"{end:%H:%M:%S}"


def _hours(seconds: float) -> str:
    return str(timedelta(seconds=round(seconds)))
