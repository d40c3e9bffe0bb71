# SPDX-License-Identifier: Apache-2.0
"""The machine's state in the trials of a run, against its best: how fast its cores were, and how far from
each other.

A hypervisor moves virtual cores and lets others work on the second thread of theirs. Rates that were measured
in different states do not compare. So each core's best is remembered: not the best ever, which is luck of a
moment, but the best that came often enough, in this run or in an earlier one since the machine booted.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Mapping

from weir.results.result import MachineBest

OFTEN_SHARE = 0.1
"""Of all slices: a speed that came less often is not waited for."""
REMEMBERED = 3000
"""Slices of a core: by those it is told whether its best still comes."""
SLICES_MIN = 50
SLICES_TO_KEEP = 2000
"""Timed slices of a core from which its best is no luck of a moment: later runs hold on to it."""
NEAR_TIMES = 1.5
"""Distances that differ by less are the same."""
NEAR_TRIALS = 10
"""So many trials with near cores show that they come, however long they were far in all: states last for
minutes."""


class MachineState:
    """What all trials of a run saw so far. `known`: what earlier runs saw."""

    def __init__(self, known: MachineBest | None = None) -> None:
        self._known = known or MachineBest(boot_id="")
        self._paces: dict[int, Counter[int]] = {}
        self._lately: dict[int, deque[int]] = {}
        self._distances: dict[str, list[float]] = {}

    def saw(self, piece_cycles: Mapping[int, Iterable[int]], distances_cycles: Mapping[str, float]) -> None:
        """One trial: pieces of slices by core, 0 where none was timed; distances by core."""
        for core, pieces in piece_cycles.items():
            timed = [cycles for cycles in pieces if cycles]
            self._paces.setdefault(core, Counter()).update(timed)
            self._lately.setdefault(core, deque(maxlen=REMEMBERED)).extend(timed)
        for pair, cycles in distances_cycles.items():
            self._distances.setdefault(pair, []).append(cycles)

    def best_piece_cycles(self) -> dict[int, float]:
        """Of each core that timed enough, or that is known of earlier runs; the speed that a tenth of its
        slices reached."""
        return self.best().piece_cycles

    def best(self) -> MachineBest:
        """Of this run and earlier ones."""
        return self._known.with_better(self.seen(SLICES_MIN, 1))

    def seen(self, slices: int = SLICES_TO_KEEP, trials: int = NEAR_TRIALS) -> MachineBest:
        """Of this run alone, of cores with so many timed slices and trials: what later runs hold on to."""
        pieces = {
            core: float(_quantile(pieces, OFTEN_SHARE))
            for core, pieces in self._paces.items()
            if pieces.total() >= slices
        }
        distances = {
            core: sorted(seen)[min(NEAR_TRIALS - 1, int(OFTEN_SHARE * len(seen)))]
            for core, seen in self._distances.items()
            if len(seen) >= trials
        }
        return MachineBest(boot_id=self._known.boot_id, piece_cycles=pieces, distances_cycles=distances)

    def comes(self, times: float) -> bool:
        """Whether all cores were at most so many times slower than at their best in some of what was seen
        lately: it is worth waiting for."""
        best = self.best_piece_cycles()
        return all(
            sum(cycles <= times * best[core] for cycles in lately) >= OFTEN_SHARE * len(lately)
            for core, lately in self._lately.items()
            if core in best
        )

    def best_distances_cycles(self) -> dict[str, float]:
        """The distance that came in enough trials."""
        return self.best().distances_cycles

    def farther_times(self, distances_cycles: Mapping[str, float]) -> float | None:
        """How many times as far the cores were from each other as at their best; None: as near."""
        best = self.best_distances_cycles()
        times = [cycles / best[core] for core, cycles in distances_cycles.items() if best.get(core)]
        farthest = max(times, default=1.0)
        return round(farthest, 3) if farthest > NEAR_TIMES else None


def _quantile(counts: Counter[int], share: float) -> int:
    left = share * counts.total()
    for value in sorted(counts):
        left -= counts[value]
        if left <= 0:
            return value
    return max(counts)
