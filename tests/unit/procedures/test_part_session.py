# SPDX-License-Identifier: Apache-2.0
"""What the tester's host and the others, which have parts of its chain, make of the lines of the head."""

from __future__ import annotations

import pytest
from pydantic import BaseModel

from weir.hosts.messages import End, Order
from weir.hosts.parts import (
    Count,
    CountPart,
    FromPart,
    PartCounted,
    PartDown,
    PartError,
    PartFailed,
    Place,
    TakeDownPart,
    ToPart,
)
from weir.procedures.part_session import RelayedTalk, serve_part

PLACE = Place(host="edge", machines={}, addresses={})


class Lines:
    """A channel whose lines are given; without any it is silent."""

    def __init__(self, *orders: Order) -> None:
        self.said: list[BaseModel] = []
        self._orders = list(orders)

    def say(self, message: BaseModel) -> None:
        self.said.append(message)

    def next(self) -> Order:
        return self._orders.pop(0)

    def within(self, seconds: float, *, ending: bool = False) -> Order | None:  # noqa: ARG002
        return self._orders.pop(0) if self._orders else None


def counted(packets: int) -> PartCounted:
    return PartCounted(counts=(Count(place="wire0:core rx", kind="packets", value=packets),))


def test_answers_are_told_apart_by_their_hosts_in_whichever_order_they_come() -> None:
    lines = Lines(FromPart(host="far", answer=counted(2)), FromPart(host="core", answer=counted(1)))
    talk = RelayedTalk(lines, PLACE)
    for host in ("core", "far"):
        talk.tell(host, CountPart())
    assert lines.said == [ToPart(host="core", order=CountPart()), ToPart(host="far", order=CountPart())]
    assert [talk.hear(host, 1) for host in ("core", "far")] == [counted(1), counted(2)]


def test_a_host_that_does_not_answer_in_time_is_named() -> None:
    with pytest.raises(PartError, match=r"core has not answered within 0\.01 s"):
        RelayedTalk(Lines(), PLACE).hear("core", 0.01)
    with pytest.raises(PartError, match="core has not answered"):  # where all ends, it waits for nobody
        RelayedTalk(Lines(), PLACE).hear("core", 3600, ending=True)


def test_who_has_built_nothing_counts_nothing_and_has_nothing_to_take_down() -> None:
    lines = Lines(TakeDownPart(), End())
    serve_part(lines, (), "core", CountPart())
    assert lines.said == [PartFailed(why="nothing stands there"), PartDown()]
