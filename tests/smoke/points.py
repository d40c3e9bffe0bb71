# SPDX-License-Identifier: Apache-2.0
"""Which system calls of a command do not happen, and what happens in their place."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tests.part import Part

from .system_calls import Call

KILL, TERM, HUP = "signal=KILL", "signal=TERM", "signal=HUP"
ERRORS = tuple(f"error={name}" for name in ("ENOSPC", "EIO", "ENOMEM", "EINTR", "EACCES"))
SHORT = "retval=1"
"""strace writes nothing then, not even that byte: only where Weir takes back what is not written whole.
SQLite goes on behind a byte that is not there, which no kernel would have said was."""


@dataclass(frozen=True)
class Point:
    """One call, and what happens in its place."""

    call: Call
    what: str

    @property
    def name(self) -> str:
        """ "write 17 error=EIO": the same in every run of the command."""
        return f"{self.call.name} {self.call.number} {self.what}"


@dataclass(frozen=True)
class Choice:
    """Which of all points of a command: `most`, evenly, from a place that `seed` gives; all, where there are
    not more. Of these the ones that are in `part`."""

    most: int
    seed: int
    part: Part

    def points(self, command: str, calls: Sequence[Call]) -> list[Point]:
        """In the order of the calls."""
        every = [Point(call, what) for call in calls for what in injections(call)]
        count, at = min(self.most, len(every)), random.Random(self.seed).random()
        spread = [every[int((number + at) * len(every) / count)] for number in range(count)]
        return [one for one in spread if self.part.has(f"{command}: {one.name}")]


def injections(call: Call) -> Iterator[str]:
    """All that may happen in the place of a call."""
    yield from (KILL, TERM, HUP)
    if not call.waits:
        yield from ERRORS
        if call.name == "write" and ".journal" in call.text:
            yield SHORT
