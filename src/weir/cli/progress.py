# SPDX-License-Identifier: Apache-2.0
"""Progress of a run, one line a setup in a log, and a moving line in a terminal."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from rich.console import Console
from rich.status import Status

from weir.measure.one_case import Event, GoalFound, PhaseStarted, TrialFinished
from weir.report import rates
from weir.results.result import Case


class Progress:
    """Shows where a run is. Costs next to nothing: the cores are the measurement's."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._status = Status("", console=console, refresh_per_second=2) if console.is_terminal else None
        self._setup = ""
        self._trials = 0

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
        self._console.print(text, markup=False)

    def setup(self, name: str) -> None:
        """What is measured from now on."""
        self._setup = name
        self._show("building")

    def event(self, event: Event) -> None:
        """An event of the measurement."""
        if isinstance(event, PhaseStarted):
            self._show(f"{event.frame}: {event.phase} {event.step} of {event.steps}")
        elif isinstance(event, TrialFinished):
            self._trials += 1
        elif isinstance(event, GoalFound):
            self._show(f"{event.frame}: {event.throughput.goal} {event.throughput.status}")

    def case(self, case: Case) -> None:
        """A finished case."""
        found = "  ".join(
            f"{one.goal} {rates.mpps(one, ' to ')} Mpps" if one.load_pps else f"{one.goal} {one.status}"
            for one in case.throughput
        )
        self.say(f"{self._setup}  {case.frame:>5}  {found or case.problem or ''}  ({case.seconds:.0f} s)")

    def _show(self, what: str) -> None:
        if self._status is not None:
            self._status.update(f"{self._setup}  {what}  ({self._trials} trials)")
