# SPDX-License-Identifier: Apache-2.0
"""The program that measures on a host of a campaign: `python -m weir.procedures.host_session`.

It reads from its standard input what to measure (`weir.hosts.messages`), and writes what it finds to its
standard output, for the store of the head. It takes down what it has built and ends when it is told to, when
it is stopped, and when its standard input ends: then nobody is there any more.
"""

from __future__ import annotations

import os
import queue
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import IO

from pydantic import BaseModel

from weir import fabric
from weir.base.error import INTERRUPTED, OK, WeirError
from weir.base.record import spec_sha256
from weir.fabric import inherited, stop_signals
from weir.fabric.host.cpus import nodes
from weir.fabric.host.tree import Tree
from weir.fabric.offer import cpus_of_parent, measuring_cpus, offer
from weir.hosts.messages import (
    Begin,
    CaseKept,
    CaseRemoved,
    End,
    Failed,
    Measure,
    Offered,
    Possible,
    RunBegun,
    RunKnown,
    SetupKnown,
    Showed,
    TrialKept,
    Visited,
    to_host,
)
from weir.lab import Lab
from weir.lab.on_machine import LabHereError, on_machine, opened
from weir.lab.ways import Way, ways
from weir.measure.one_case import Event, GoalFound, PhaseStarted
from weir.procedures.campaign import campaign_class
from weir.procedures.driver import all_planned, impossible
from weir.procedures.order import Asked, HandedOut
from weir.procedures.resuming import ResumeError, require_same_machine
from weir.results.result import Case, MachineBest, Result, Setup, Trial

_LOOK_S = 0.2
_READ_BYTES = 1 << 16
LINE_BYTES = 16 << 20
"""A longer line is none of a head's: what is read ends there."""


class Channel:
    """Lines from the head and back."""

    def __init__(self, source: int, target: IO[bytes]) -> None:
        """`source`: a descriptor: a buffered file would be locked by its reader when Python ends."""
        self._source = source
        self._target = target
        self._read: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._over = False
        threading.Thread(target=self._reading, daemon=True).start()

    def say(self, message: BaseModel) -> None:
        """Nobody hears it once the head is gone: that must not keep anything from being taken down."""
        with suppress(OSError, ValueError):
            self._target.write(message.model_dump_json().encode() + b"\n")
            self._target.flush()

    def next(self) -> Begin | Measure | End:
        """What the head says next. MessageError; KeyboardInterrupt when it is gone, or this was stopped."""
        while True:
            stop_signals.check()
            with suppress(queue.Empty):
                line = self._read.get(timeout=_LOOK_S)
                if line is None:
                    raise KeyboardInterrupt
                return to_host(line)

    def over(self) -> None:
        """The end of what is read stops nobody from now on."""
        self._over = True

    def _reading(self) -> None:
        rest = b""
        with suppress(OSError):  # a source that is closed is at its end
            while (read := os.read(self._source, _READ_BYTES)) and len(rest) < LINE_BYTES:
                *whole, rest = (rest + read).split(b"\n")
                for line in whole:
                    self._read.put(line.decode(errors="replace"))
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


def serve(channel: Channel) -> None:
    """Measures what the head says. WeirError for what keeps this host from doing so."""
    begin = channel.next()
    if not isinstance(begin, Begin):
        raise LabHereError("the head did not begin with a lab")
    fabric.require_to_measure()
    here = {node.number: node.cpus for node in nodes(Tree())} or None
    lab = on_machine(opened(begin.shared.spec), measuring_cpus(), here)
    compared = ways(lab, measuring_cpus(), here)
    cores = {core for one in all_planned(compared) for core in fabric.taking_part(one)}

    def waiting(holder: str) -> None:
        channel.say(Showed(text=f"waits: {holder}", stays=True))

    with fabric.claimed(cores, waiting):  # what a killed campaign had here is taken down just now
        setups = [
            Possible(name=way.name, chain=chain.name, refused=impossible(way, chain))
            for way in compared
            for chain in way.lab.chains()
        ]
        channel.say(Offered(offer=offer(cpus_of_parent()), setups=tuple(setups)))
        first = channel.next()
        if isinstance(first, Measure):
            _measure(channel, begin, lab, compared, first)
    channel.over()


def _measure(channel: Channel, begin: Begin, lab: Lab, compared: Sequence[Way], first: Measure) -> None:
    resumed = _goes_on(channel, begin.resumed, lab)

    def points() -> Iterator[tuple[tuple[str, str], str]]:
        order: Begin | Measure | End = first
        while isinstance(order, Measure):
            yield (order.name, order.chain), order.frame
            channel.say(Visited())
            order = channel.next()

    handed_out = HandedOut(begin.shared, points())
    campaign_class(lab)(
        lab,
        compared,
        quick=begin.quick,
        store=HeadStore(channel, resumed),
        progress=Shown(channel),
        asked=Asked(begin.seed, None, resumed.id if resumed is not None else None, handed_out),
    ).run()


def _goes_on(channel: Channel, resumed: Result | None, lab: Lab) -> Result | None:
    """This host's run of before; None where there is none, or new rounds would not belong to it."""
    if resumed is None:
        return None
    try:
        require_same_machine(resumed)
        if resumed.spec_sha256 != spec_sha256(lab):
            raise ResumeError(f"run {resumed.id} was measured on other cores; begin a new run")
    except ResumeError as error:
        channel.say(Showed(text=f"begins a new run here: {error}", stays=True))
        return None
    return resumed


def _bare(result: Result) -> Result:
    return result.model_copy(update={"setups": []})


def main() -> int:
    """Talks to the head by this process's standard input and output."""
    inherited.undo()
    target = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever else is printed must not stand between the lines
    channel = Channel(0, target)
    try:
        with stop_signals.held():
            serve(channel)
    except KeyboardInterrupt:
        return INTERRUPTED
    except WeirError as error:
        channel.over()
        channel.say(Failed(why=str(error)))
    return OK


if __name__ == "__main__":
    sys.exit(main())
