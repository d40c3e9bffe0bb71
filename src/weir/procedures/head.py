# SPDX-License-Identifier: Apache-2.0
"""The head of a campaign, as the program that measures on a host has it: lines there and back, its store, and
what it shows."""

from __future__ import annotations

import math
import os
import queue
import threading
import time
from contextlib import suppress
from typing import IO

from pydantic import BaseModel

from weir.fabric import stop_signals
from weir.hosts.messages import (
    LINE_BYTES,
    CaseKept,
    CaseRemoved,
    Order,
    RunBegun,
    RunKnown,
    SetupKnown,
    Showed,
    TrialKept,
    to_host,
)
from weir.measure.one_case import Event, GoalFound, PhaseStarted
from weir.results.result import Case, MachineBest, Result, Setup, Trial

_LOOK_S = 0.2
_READ_BYTES = 1 << 16


class Channel:
    """Lines from the head and back."""

    def __init__(self, source: int, target: IO[bytes]) -> None:
        """`source`: a descriptor: a buffered file would be locked by its reader when Python ends."""
        self._source = source
        self._target = target
        self._read: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._over = False
        self.fault: str | None = None
        """Why nothing more is read, where it is the head's."""
        threading.Thread(target=self._reading, daemon=True).start()

    def say(self, message: BaseModel) -> None:
        """Nobody hears it once the head is gone: that must not keep anything from being taken down."""
        with suppress(OSError, ValueError):
            self._target.write(message.model_dump_json().encode() + b"\n")
            self._target.flush()

    def next(self) -> Order:
        """What the head says next. MessageError; KeyboardInterrupt when it is gone, or this was stopped."""
        while True:
            said = self.within(math.inf)
            if said is not None:
                return said

    def within(self, seconds: float, *, ending: bool = False) -> Order | None:
        """The same; None: nothing in that time. `ending`: whoever stops this is not heard any more, and a
        head that is gone says nothing."""
        until_s = time.monotonic() + seconds
        while (left_s := until_s - time.monotonic()) > 0:
            if not ending:
                stop_signals.check()
            with suppress(queue.Empty):
                line = self._read.get(timeout=min(_LOOK_S, left_s))
                if line is not None:
                    return to_host(line)
                self._read.put(None)  # whoever asks again is told again
                if ending:
                    return None
                raise KeyboardInterrupt
        return None

    def over(self) -> None:
        """The end of what is read stops nobody from now on."""
        self._over = True

    def _reading(self) -> None:
        rest = b""
        with suppress(OSError):  # a source that is closed is at its end
            while self.fault is None and (read := os.read(self._source, _READ_BYTES)):
                *lines, rest = (rest + read).split(b"\n")
                for line in lines:
                    self._read.put(line.decode(errors="replace"))
                if len(rest) >= LINE_BYTES:
                    said = f"a line from the head is too long: {LINE_BYTES:,} bytes, and it goes on"
                    self.fault = f"{said}; install the same Weir on all hosts"
        self._read.put(None)
        if not self._over:
            stop_signals.come()


class HeadStore:
    """The store of the head. What it answers it has said before; it numbers no setups, so this does."""

    name = "the store of the host that runs `weir run`"

    def __init__(self, channel: Channel, resumed: Result | None) -> None:
        self._channel = channel
        self._resumed = resumed
        self._setups = len(resumed.setups) if resumed is not None else 0

    def begin(self, result: Result) -> None:
        self._channel.say(RunBegun(result=_bare(result)))

    def update(self, result: Result) -> None:
        self._channel.say(RunKnown(result=_bare(result)))

    def add_setup(self, run_id: str, setup: Setup) -> int:  # noqa: ARG002 - there is one run
        number, self._setups = self._setups, self._setups + 1
        self.update_setup(number, setup)
        return number

    def update_setup(self, number: int, setup: Setup) -> None:
        self._channel.say(SetupKnown(number=number, setup=setup.model_copy(update={"cases": []})))

    def add_trial(self, setup: int, frame: str, mean_frame_bytes: float, trial: Trial) -> None:
        self._channel.say(
            TrialKept(number=setup, frame=frame, mean_frame_bytes=mean_frame_bytes, trial=trial)
        )

    def add_case(self, setup: int, case: Case) -> None:
        self._channel.say(CaseKept(number=setup, case=case))

    def remove_case(self, setup: int, frame: str) -> None:
        self._channel.say(CaseRemoved(number=setup, frame=frame))

    def reopen_run(self, run_id: str) -> tuple[Result, list[int]]:
        assert self._resumed is not None
        assert self._resumed.id == run_id
        return self._resumed, list(range(len(self._resumed.setups)))

    def machine_best(self, boot_id: str, version: str) -> MachineBest:  # noqa: ARG002 - this run's own alone
        return MachineBest(boot_id=boot_id)


class Shown:
    """Where this host is, told to the head."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._setup = ""

    def say(self, text: str) -> None:
        self._channel.say(Showed(text=text, stays=True))

    def setup(self, name: str) -> None:
        self._setup = name
        self._channel.say(Showed(text=f"{name}, building"))

    def event(self, event: Event) -> None:
        if isinstance(event, PhaseStarted):
            what = f"{event.frame}: {event.phase} {event.step} of {event.steps}"
            self._channel.say(Showed(text=f"{self._setup}, {what}"))
        elif isinstance(event, GoalFound):
            found = event.throughput
            self._channel.say(Showed(text=f"{self._setup}, {event.frame}: {found.goal} {found.status}"))

    def planned(self, cases: int, budget_s: float | None = None) -> None: ...
    def skipped(self, cases: int) -> None: ...
    def case(self, case: Case) -> None: ...


def _bare(result: Result) -> Result:
    return result.model_copy(update={"setups": []})
