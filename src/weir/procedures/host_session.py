# SPDX-License-Identifier: Apache-2.0
"""The program that measures on a host of a campaign: `python -m weir.procedures.host_session`.

It reads from its standard input what to measure (`weir.hosts.messages`), and writes what it finds to its
standard output, for the store of the head. It takes down what it has built and ends when it is told to, when
it is stopped, and when its standard input ends: then nobody is there any more.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any

from weir import fabric
from weir.base.error import INTERRUPTED, OK, WeirError
from weir.base.record import spec_sha256
from weir.fabric import inherited, stop_signals
from weir.fabric.host.cpus import nodes
from weir.fabric.host.isolated import measuring_cpus
from weir.fabric.host.tree import Tree
from weir.fabric.offer import cpus_of_parent, offer
from weir.hosts.messages import (
    Begin,
    Earlier,
    End,
    Failed,
    Measure,
    Offered,
    Order,
    Possible,
    Showed,
    Visited,
    whole,
)
from weir.hosts.parts import Talk
from weir.lab import Chain, Lab
from weir.lab.load import stored_lab
from weir.lab.on_machine import LabHereError, on_machine
from weir.lab.ways import Key, Way, ways
from weir.plan.spanning import with_addresses
from weir.procedures.campaign import campaign_class
from weir.procedures.driver import all_planned, impossible
from weir.procedures.elsewhere import Elsewhere
from weir.procedures.head import Channel, HeadStore, Shown
from weir.procedures.order import Asked, HandedOut
from weir.procedures.part_session import RelayedTalk, serve_part
from weir.procedures.parts import Parts
from weir.procedures.resuming import ResumeError, require_same_machine
from weir.results.result import Result


def serve(channel: Channel) -> None:
    """Measures what the head says. WeirError for what keeps this host from doing so."""
    begin = channel.next()
    if not isinstance(begin, Begin):
        raise LabHereError("the head did not begin with a lab")
    resumed = _earlier(channel, begin.earlier_pieces)
    fabric.require_to_measure()
    here = {node.number: node.cpus for node in nodes(Tree())} or None
    asked, place = stored_lab(begin.shared.spec), begin.place
    if place is not None:
        asked = with_addresses(asked, place.addresses)
    lab = on_machine(asked, measuring_cpus(), here)
    compared = ways(lab, measuring_cpus(), here)
    host = place.host if place is not None else None
    cores = {core for one in all_planned(compared, host) for core in fabric.taking_part(one)}

    def waiting(holder: str) -> None:
        channel.say(Showed(text=f"waits: {holder}", stays=True))

    with fabric.claimed(cores, waiting):  # what a killed campaign had here is taken down just now
        setups = [
            Possible(name=way.name, chain=chain.name, refused=impossible(way, chain, host))
            for way in compared
            for chain in way.lab.chains()
        ]
        channel.say(Offered(offer=offer(cpus_of_parent()), setups=tuple(setups)))
        first = channel.next()
        if isinstance(first, Measure):
            resumed = _goes_on(channel, resumed, lab)
            orders = _Orders(channel, first, [(one.name, one.chain) for one in setups])
            handed_out = HandedOut(begin.shared, orders.points(), begin.budget_s, orders.left_s)
            run = resumed.id if resumed is not None else None
            store = HeadStore(channel, resumed)
            _measure(channel, begin, compared, store, Asked(begin.seed, None, run, handed_out), lab=lab)
        elif place is not None and not isinstance(first, End):
            serve_part(channel, compared, place.host, first)
    channel.over()


def _earlier(channel: Channel, pieces: int) -> Result | None:
    """This host's run of before. MessageError."""
    found = [one for one in (channel.next() for _ in range(pieces)) if isinstance(one, Earlier)]
    return whole(found) if found else None


class _Orders:
    """Points that the head asks for, as a campaign gets them."""

    def __init__(self, channel: Channel, first: Order, known: Collection[Key]) -> None:
        """`known`: set-ups of the lab."""
        self._channel = channel
        self._order = first
        self._known = known

    def points(self) -> Iterator[tuple[Key, str, int]]:
        """LabHereError for a set-up that is not in the lab."""
        while isinstance(order := self._order, Measure):
            key = order.name, order.chain
            if key not in self._known:
                raise LabHereError(f"the head asks for {' '.join(key)}, which is not in its lab")
            yield key, order.frame, order.round
            self._channel.say(Visited())
            self._order = self._channel.next()

    def left_s(self) -> float | None:
        """Of the budget, once it asks for nothing more."""
        return self._order.left_s if isinstance(self._order, End) else None


def _measure(
    channel: Channel, begin: Begin, compared: Sequence[Way], store: HeadStore, asked: Asked, *, lab: Lab
) -> None:
    """KeyboardInterrupt if it was stopped: what was finished is kept."""
    spanning: dict[str, Any] = {}
    if begin.place is not None:  # campaigns of procedures that cannot span hosts do not know of it
        spanning["elsewhere"] = _parts(RelayedTalk(channel, begin.place))
    result = campaign_class(lab)(
        lab, compared, quick=begin.quick, store=store, progress=Shown(channel), asked=asked, **spanning
    ).run()
    if result.interrupted:
        raise KeyboardInterrupt


def _parts(talk: Talk) -> Callable[[Way, Chain], Elsewhere]:
    return lambda way, chain: Parts(talk, way.name, chain.name)


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


def main() -> int:
    """Talks to the head by this process's standard input and output."""
    inherited.undo()
    target = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever else is printed must not stand between the lines
    channel: Channel | None = None
    try:
        with stop_signals.held():  # first: the end of what the channel reads stops this
            channel = Channel(0, target)
            serve(channel)
    except KeyboardInterrupt:
        if channel is not None and channel.fault is not None:
            channel.say(Failed(why=channel.fault))
        print("it was stopped, or its head is gone", file=sys.stderr)
        return INTERRUPTED
    except WeirError as error:
        assert channel is not None
        channel.over()
        channel.say(Failed(why=str(error)))
    return OK


if __name__ == "__main__":
    sys.exit(main())
