# SPDX-License-Identifier: Apache-2.0
"""Progress of a run, one line a case in a log, and a moving line in a terminal. How long it will take yet is
said from how long the finished cases took."""

from __future__ import annotations

import time
from collections.abc import Callable
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.status import Status

from weir.base.packet_rate import unit_of
from weir.lab.frames import frame_label
from weir.measure.one_case import Event, GoalFound, PhaseStarted, TrialFinished
from weir.report import rates
from weir.report.blocks import new_console
from weir.results.result import Case
from weir.results.rounds import INTERRUPTED
from weir.results.trial import left_out_share

BUSY_SHARE = 0.5
"""Of a case's time: where others had so much of it, a case without a rate says nothing about the system."""
BUSY_CASES = 3
"""After so many such cases in a row it is said that a run may be ended."""
LOG_S = 60.0
"""After so long without a line, a log gets one: nobody could tell a long case from one that hangs."""
LONGER_SHARE = 0.1
"""Of a case's usual time: what one that takes longer than that is expected to take yet."""


class Progress:
    """Shows where a run is. Costs next to nothing: the cores are the measurement's."""

    def __init__(self, console: Console | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        """`console`: absent: standard error."""
        console = console or new_console(stderr=True)
        self._console = console
        self._clock = clock
        self._status = Status("", console=console, refresh_per_second=2) if console.is_terminal else None
        self._setup = ""
        self._what = ""
        self._trials = 0
        self._case_trials = self._invalid = 0  # of the case under way
        self._said_s = clock()
        self._cases = self._finished = self._busy = 0
        self._began_s = self._last_s = 0.0
        self._until_s: float | None = None

    def __enter__(self) -> Self:
        if self._status is not None:
            self._status.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._status is not None:
            self._status.stop()

    def say(self, text: str) -> None:
        """A line that stays."""
        self._console.print(text, markup=False, soft_wrap=not self._console.is_terminal)
        self._said_s = self._clock()

    def planned(self, cases: int, budget_s: float | None = None) -> None:
        """So many begin, each round's counted by itself, and perhaps with a limit: of a run, and of what is
        measured again in the end."""
        self._cases, self._finished = cases, 0
        self._until_s = None if budget_s is None else self._clock() + budget_s
        self._began_s = self._last_s = self._clock()

    def skipped(self, cases: int) -> None:
        """So many of them will not be measured."""
        self._cases -= cases

    def setup(self, name: str) -> None:
        """What is measured from now on."""
        self._setup = name
        self._show("building")

    def event(self, event: Event) -> None:
        """An event of the measurement."""
        if isinstance(event, PhaseStarted):
            self._show(f"{frame_label(event.frame)}: {event.phase} {event.step} of {event.steps}")
        elif isinstance(event, TrialFinished):
            self._trials += 1
            self._case_trials += 1
            self._invalid += not event.trial.valid
            self._show(self._what)
        elif isinstance(event, GoalFound):
            self._show(f"{frame_label(event.frame)}: {event.throughput.goal} {event.throughput.status}")

    def case(self, case: Case) -> None:
        """A finished case."""
        self._finished += 1
        self._case_trials = self._invalid = 0
        self._last_s = self._clock()
        rates_found = [one for one in case.throughput if one.load_pps]
        unit = unit_of(rates.greatest_pps(rates_found))
        each = f" {unit.label}" if len(rates_found) < len(case.throughput) else ""
        found = ", ".join(
            f"{one.goal} {rates.bounded_mpps(one, ' to ', unit)}{each}"
            if one.load_pps
            else f"{one.goal} {one.status}"
            for one in case.throughput
        ) + ("" if each or not rates_found else f" {unit.label}")
        place = self._place(self._finished)
        before = f"[{place}] " if place and case.problem != INTERRUPTED else ""
        because = "" if rates_found else _because(case)
        loads = len(case.delays)
        delays = f"delays at {loads} {'load' if loads == 1 else 'loads'}" if loads else ""
        what = found or case.problem or delays or "measured"
        self.say(f"{before}{self._setup}, {frame_label(case.frame)}: {what}{because}")
        in_vain = bool(found) and not rates_found and left_out_share(case.trials) > BUSY_SHARE
        self._busy = self._busy + 1 if in_vain else 0
        if self._busy == BUSY_CASES:
            self.say(
                f"{BUSY_CASES} cases in a row have no rate, since others had the cores: Ctrl-C ends the run,"
                " keeps what there is, and says how to go on with it; `weir doctor` names who has the cores"
            )

    def _show(self, what: str) -> None:
        self._what = what
        if self._status is None:
            if self._clock() - self._said_s >= LOG_S:
                self.say(self._still())
        else:
            trials = _trials(self._trials)
            counts = "; ".join(part for part in (trials, self._place(self._finished + 1)) if part)
            self._status.update(f"{self._setup}, {what} ({counts})")

    def _still(self) -> str:
        """Where a case is that takes long, and how many of its trials are of no use."""
        place = self._place(self._finished + 1)
        trials = _trials(self._case_trials)
        of_no_use = f", {self._invalid} of them invalid" if self._invalid else ""
        before = f"[{place}] " if place else ""
        return f"{before}{self._setup}, still at {self._what} ({trials}{of_no_use})"

    def _place(self, number: int) -> str:
        """ "3/32, ~5 min left": no estimate before the first is finished; nothing of what nobody planned. The
        case under way takes as long as those before it, or a little longer than it took so far."""
        if number > self._cases:
            return ""
        said = f"{number}/{self._cases}"
        left = self._cases - self._finished
        if not self._finished or not left:
            return said
        each_s = (self._last_s - self._began_s) / self._finished
        this_s = max(each_s - (self._clock() - self._last_s), LONGER_SHARE * each_s)
        left_s = (left - 1) * each_s + this_s
        if self._until_s is not None and self._until_s < self._clock() + left_s:
            return f"{said}, time is up in ~{rough(self._until_s - self._clock())}"
        return f"{said}, ~{rough(left_s)} left"


def _trials(count: int) -> str:
    return f"{count} {'trial' if count == 1 else 'trials'}"


def _because(case: Case) -> str:
    """In short; the report has all of it."""
    why = next((one.why for one in case.throughput if one.why and one.load_pps is None), None)
    if why is None:
        return ""
    if (share := left_out_share(case.trials)) > BUSY_SHARE:
        return f" (others had the cores for {share:.0%} of the time)"
    return f" ({why.rstrip('.')})"


def rough(seconds: float) -> str:
    """ "5 s", "40 s", "5 min", "2 h 10 min": an estimate, with no digit that it has not."""
    if seconds < 7.5:
        return "5 s"
    if seconds < 55:
        return f"{max(10, round(seconds, -1)):.0f} s"
    minutes = max(1, round(seconds / 60))
    if minutes < 100:
        return f"{minutes} min"
    return f"{minutes // 60} h {minutes % 60 // 10 * 10} min"


def span(shortest_s: float, longest_s: float) -> str:
    """ "3 to 7 min", "40 s to 2 min"; one of both where they are the same in such words."""
    (*first, unit), (*last, last_unit) = rough(shortest_s).split(), rough(longest_s).split()
    if (first, unit) == (last, last_unit):
        return f"about {rough(longest_s)}"
    if len(first) == len(last) == 1 and unit == last_unit:
        return f"{first[0]} to {rough(longest_s)}"
    return f"{rough(shortest_s)} to {rough(longest_s)}"
