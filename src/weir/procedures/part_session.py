# SPDX-License-Identifier: Apache-2.0
"""Parts of a chain that spans hosts, in the programs that run there: the one that builds its part and counts
it as it is told, and the tester's, which tells it. The head is between them."""

from __future__ import annotations

import dataclasses
import time
from collections import defaultdict, deque
from collections.abc import Sequence
from typing import Protocol

from pydantic import BaseModel

from weir.base.error import ChainError
from weir.base.started import boot_id
from weir.hosts.messages import Order
from weir.hosts.parts import (
    BuildPart,
    Count,
    CountPart,
    FromPart,
    PartAnswer,
    PartCounted,
    PartDown,
    PartError,
    PartFailed,
    PartOrder,
    PartStands,
    Place,
    TakeDownPart,
    ToPart,
)
from weir.lab import Chain
from weir.lab.ways import Way
from weir.measure.accounting import seen
from weir.measure.spans import part_counts
from weir.procedures.driver import RunningChain, planned, running


class Channel(Protocol):
    """Lines to the head and back."""

    def say(self, message: BaseModel) -> None:
        """Without effect once the head is gone."""

    def next(self) -> Order:
        """KeyboardInterrupt when the head is gone, or this was stopped."""

    def within(self, seconds: float, *, ending: bool = False) -> Order | None:
        """None: nothing was said in that time."""


class RelayedTalk:
    """Of the tester's host."""

    def __init__(self, channel: Channel, place: Place) -> None:
        self._channel = channel
        self.place = place
        self._answers: defaultdict[str, deque[PartAnswer]] = defaultdict(deque)
        """That were heard while another host's was waited for."""

    def tell(self, host: str, order: PartOrder) -> None:
        self._channel.say(ToPart(host=host, order=order))

    def hear(self, host: str, within_s: float, *, ending: bool = False) -> PartAnswer:
        until_s = time.monotonic() + within_s
        while not self._answers[host] and (left_s := until_s - time.monotonic()) > 0:
            said = self._channel.within(left_s, ending=ending)
            if isinstance(said, FromPart):
                self._answers[said.host].append(said.answer)
            elif said is None and ending:
                break
        if self._answers[host]:
            return self._answers[host].popleft()
        raise PartError(f"{host} has not answered within {within_s:g} s")


def serve_part(channel: Channel, compared: Sequence[Way], host: str, order: Order) -> None:
    """Builds that host's part, counts it and takes it down, as often as it is told, until it is told
    something else. `order`: the first."""
    while isinstance(order, BuildPart | CountPart | TakeDownPart):
        if isinstance(order, BuildPart):
            order = _stood(channel, compared, host, order)
            continue
        nothing = PartDown() if isinstance(order, TakeDownPart) else PartFailed(why="nothing stands there")
        channel.say(nothing)
        order = channel.next()


def _stood(channel: Channel, compared: Sequence[Way], host: str, asked: BuildPart) -> Order:
    """From being built to what comes after the last count."""
    order: Order = asked
    try:
        way, chain = _named(compared, asked)
        topology = planned(way.lab, way.technology, chain, host, asked.deployment)
        with running(way.lab, topology) as part:
            stands = PartStands(
                fingerprint=part.fingerprint(), boot_id=boot_id(), fidelity=tuple(part.fidelity())
            )
            channel.say(stands)
            while isinstance(order := channel.next(), CountPart):
                channel.say(_counted(part))
    except ChainError as error:
        down = isinstance(order, TakeDownPart)
        channel.say(PartDown(left=str(error)) if down else PartFailed(why=str(error)))
        return channel.next()
    return order


def _named(compared: Sequence[Way], asked: BuildPart) -> tuple[Way, Chain]:
    """ChainError for what the lab does not have."""
    for way in compared:
        for chain in way.lab.chains():
            if (way.name, chain.name) == (asked.name, asked.chain):
                return way, chain
    raise ChainError(f"the head asks for {asked.name} {asked.chain}, which is not in its lab")


def _counted(part: RunningChain) -> PartCounted:
    counters = part.counters()
    found = part_counts(seen(part.client.ledger(), counters), counters)
    return PartCounted(counts=tuple(Count(**dataclasses.asdict(one)) for one in found))
