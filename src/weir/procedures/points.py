# SPDX-License-Identifier: Apache-2.0
"""The account of a campaign's points: planned, refused, measured, left out. A point is one frame size of one
set-up in one round."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from weir.lab.ways import Key
from weir.procedures.order import relative_width
from weir.procedures.rounds import MeasuredSetup
from weir.results.campaign import LeftOutRounds


class Points:
    """Of one campaign, as far as it is."""

    def __init__(
        self, setups: Sequence[Key], frames: Sequence[str], rounds: int, visited: Mapping[Key, MeasuredSetup]
    ) -> None:
        """`visited`: what was begun of the set-ups; whoever measures adds to it."""
        self._setups = setups
        self._frames = frames
        self._rounds = rounds
        self._visited = visited

    @property
    def planned(self) -> int:
        """Each frame size of each set-up, in each round."""
        return len(self._setups) * len(self._frames) * self._rounds

    @property
    def refused(self) -> int:
        """Of what this machine cannot measure."""
        refused_here = sum(one.setup.refused is not None for one in self._visited.values())
        return refused_here * len(self._frames) * self._rounds

    @property
    def measured(self) -> int:
        """What came to its end; what was measured once more does not count."""
        return self.planned - sum(one.left_out for one in self.left_out(refused_too=True))

    def left_out(self, *, refused_too: bool = False) -> Iterator[LeftOutRounds]:
        """What was not measured; without what this machine cannot measure."""
        visited = self._visited
        setups = [
            key
            for key in self._setups
            if refused_too or key not in visited or visited[key].setup.refused is None
        ]
        yield from left_out_rounds(setups, self._frames, self._rounds, self._finished)

    def wanted(self, setup: Key, round_number: int) -> list[str]:
        """Frame sizes that it lacks of the rounds up to that one, from 0."""
        return [one for one in self._frames if self._finished(setup, one) <= round_number]

    def done(self) -> dict[Key, int]:
        """Rounds that are whole, of what was begun."""
        return {key: min(self._finished(key, frame) for frame in self._frames) for key in self._visited}

    def _finished(self, setup: Key, frame: str) -> int:
        """How many of its planned rounds; what was measured once more is none."""
        visited = self._visited.get(setup)
        return sum(one < self._rounds for one in visited.finished(frame)) if visited is not None else 0

    def width(self, setup: Key) -> float:
        """Of its rate or delay that is known least exactly."""
        visited = self._visited.get(setup)
        cases = visited.setup.cases if visited is not None else []
        rates = [found.samples_pps for case in cases for found in case.throughput]
        delays = [point.samples_us for case in cases for point in case.delays]
        return max(map(relative_width, [*rates, *delays]), default=0.0)


def left_out_rounds(
    setups: Iterable[Key], frames: Sequence[str], rounds: int, had: Callable[[Key, str], int]
) -> Iterator[LeftOutRounds]:
    """Of those cases. `had`: how many of its planned rounds one has."""
    for name, chain in setups:
        for frame in frames:
            measured = had((name, chain), frame)
            if measured < rounds:
                left = rounds - measured
                yield LeftOutRounds(name=name, chain=chain, frame=frame, measured=measured, left_out=left)
