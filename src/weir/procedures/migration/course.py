# SPDX-License-Identifier: Apache-2.0
"""What happens to a machine while traffic runs through it: nothing, the migration, nothing; and when."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Literal

from weir.base.si import NS_PER_S
from weir.fabric import FabricError, stop_signals
from weir.fabric.vm.migration import Limits, Migration, Moment
from weir.procedures.migration.phases import Cut
from weir.protocol import DataPlaneClient
from weir.protocol.traffic_results import TrafficInterval
from weir.results.migration import PhaseName, Status

STEP_S = 0.05
REPLUG_S = 120.0
"""Longest wait for the primaries: an emulated guest is slow."""
PATIENCE_S = 5.0
_UP = "up"
SAID: dict[PhaseName, str] = {
    "unplugging": "migrating: QEMU takes the primaries from the guest",
    "stand-by": "the stand-bys carry the traffic; QEMU copies memory",
    "switchover": "the guest stands still",
    "replugging": "the guest goes on in the second QEMU, and gets its primaries",
    "primary again": "the primaries carry the traffic again",
    "back": "the guest goes on where it was",
}


def wait_for_primaries(machine: Migration) -> None:
    """Returns when they are up. FabricError of a guest that has no failover, or whose primaries stay away."""
    deadline = time.monotonic() + REPLUG_S
    while (pairs := machine.pairs()) and time.monotonic() < deadline:
        if _up(pairs):
            return
        stop_signals.check()
        time.sleep(STEP_S)
    if not pairs:
        raise FabricError(
            "the guest's image knows no failover pairs: an earlier Weir made it",
            "make it anew: weir image build --forwarder kernel",
        )
    states = ", ".join(f"{side} {pair['primary']}" for side, pair in pairs.items())
    raise FabricError(
        f"the guest has not brought its primaries up within {REPLUG_S:g} s ({states})",
        "does its image have the card's driver? weir image build --forwarder kernel",
    )


class Course:
    """Drives one migration from within the waiting of a tester that looks at its run meanwhile."""

    def __init__(
        self,
        machine: Migration,
        client: DataPlaneClient,
        limits: Limits,
        *,
        settle_s: float,
        time_limit_s: float,
        say: Callable[[str], None],
    ) -> None:
        self._machine = machine
        self._client = client
        self._limits = limits
        self._settle_s = settle_s
        self._time_limit_s = time_limit_s
        self._say = say
        self._step: Callable[[], bool] = self._before
        self._deadline_s = 0.0
        self._start_wall_s = float("inf")
        self._cuts: list[tuple[PhaseName, float]] = []
        self.looks: list[TrafficInterval] = []
        self.status: Status = "not begun"
        self.why: str | None = None
        self.restored = False
        self.interrupted = False

    @property
    def longest_s(self) -> float:
        """More than all of it can take."""
        return 2 * self._settle_s + 2 * self._time_limit_s + REPLUG_S

    def cuts(self) -> list[Cut]:
        """When each phase began."""
        return [
            Cut("primary", 0.0),
            *(Cut(name, (wall_s - self._start_wall_s) * NS_PER_S) for name, wall_s in self._cuts),
        ]

    def look(self) -> None:
        """At the run so far."""
        seen = self._client.traffic_interval()
        # The answer takes a moment to come: the shortest one says best when the run began.
        self._start_wall_s = min(self._start_wall_s, time.time() - seen.now_ns / NS_PER_S)
        self.looks.append(seen)

    def wait(self, seconds: float) -> bool:
        """That long, or until the course is over, or Ctrl-C: then True."""
        end_s = time.monotonic() + seconds
        try:
            with stop_signals.allowed():
                while (left_s := end_s - time.monotonic()) > 0:
                    for moment in self._machine.wait(min(left_s, STEP_S)):
                        self._take(moment)
                    if self._step():
                        return True
        except KeyboardInterrupt:
            self.interrupted = True
            if self.status == "running":
                self.status = "interrupted"
            return True
        except FabricError as error:  # a QEMU that has ended, or answers no more
            if self.status == "running":
                self.status, self.why = "unknown", f"{self.why}: {error}" if self.why else str(error)
            self.look()
            return True
        return False

    def _cut(self, name: PhaseName, wall_s: float | None = None) -> None:
        self.look()
        self._cuts.append((name, time.time() if wall_s is None else wall_s))
        self._say(f"  {SAID[name]}")

    def _within(self, seconds: float, step: Callable[[], bool]) -> None:
        self._deadline_s, self._step = time.monotonic() + seconds, step

    def _late(self) -> bool:
        return time.monotonic() >= self._deadline_s

    def _before(self) -> bool:
        if not self._deadline_s:
            self._within(self._settle_s, self._before)
        elif self._late():
            self._cut("unplugging")
            self._within(self._time_limit_s, self._moving)
            self.status = "running"
            try:
                self._machine.begin(self._limits)
            except FabricError as error:
                self._fail("failed", str(error), time.time())
        return False

    def _moving(self) -> bool:
        if self._late():
            self.why = f"it was not over after {self._time_limit_s:g} s"
            self._machine.cancel()
            self._within(self._time_limit_s, self._cancelling)
        return False

    def _cancelling(self) -> bool:
        if self._late():
            self.status, self.why = "unknown", f"{self.why}, and to be cancelled it took as long"
        return self._late()

    def _take(self, moment: Moment) -> None:
        if moment.what == "unplugged":
            self._cut("stand-by", moment.wall_s)
        elif moment.what == "stopped":
            self._cut("switchover", moment.wall_s)
        elif moment.what == "resumed":
            self._cut("replugging", moment.wall_s)
            self._within(REPLUG_S, self._replugging)
        elif moment.what == "completed":
            self.status = "completed"
        else:
            said = self._machine.figures().get("error-desc") or self.why or f"QEMU says: {moment.what}"
            self._fail(moment.what, str(said), moment.wall_s)

    def _fail(self, status: Literal["failed", "cancelled"], why: str, wall_s: float) -> None:
        self.status, self.why = status, why
        self._cut("back", wall_s)
        self._within(REPLUG_S, self._replugging)

    def _replugging(self) -> bool:
        try:
            up = _up(self._machine.pairs(PATIENCE_S))
        except FabricError:  # a guest that has just moved may be slow, or have lost the question
            self._machine.hang_up()
            up = False
        if up:
            self._machine.announce(primaries=True)
            self.restored = True
            self._cut("primary again")
        if up or self._late():
            self._within(self._settle_s, self._after)
        return False

    def _after(self) -> bool:
        return self._late()


def _up(pairs: dict[str, dict[str, str]]) -> bool:
    """Whether every port of the guest is; one that lists none has not come back yet."""
    return bool(pairs) and all(pair["primary"] == _UP for pair in pairs.values())
