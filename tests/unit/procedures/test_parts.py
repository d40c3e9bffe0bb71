# SPDX-License-Identifier: Apache-2.0
"""Parts of a chain on other hosts, as the tester's host has them built, counted and taken down."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tests.unit.plan.test_spanning import spanning_lab, whole
from tests.unit.store.made import fingerprint
from weir.base.error import ChainError
from weir.base.topology import Topology
from weir.hosts.parts import (
    BuildPart,
    Count,
    CountPart,
    PartAnswer,
    PartCounted,
    PartDown,
    PartError,
    PartFailed,
    PartOrder,
    PartStands,
    Place,
    TakeDownPart,
)
from weir.measure import Counter
from weir.measure.spans import LOST_BETWEEN
from weir.plan.spanning import part
from weir.procedures.elsewhere import ALONE
from weir.procedures.parts import READS, Parts

STANDS = PartStands(fingerprint=fingerprint(), boot_id="other", fidelity=("No hugepages were used.",))
PLACE = Place(host="edge", machines={}, addresses={})


class Answering:
    """Hosts whose answers are given, host by host, in their order."""

    place = PLACE

    def __init__(self, **answers: Sequence[PartAnswer]) -> None:
        self.told: list[tuple[str, PartOrder]] = []
        self._answers = {host: list(those) for host, those in answers.items()}

    def tell(self, host: str, order: PartOrder) -> None:
        self.told.append((host, order))

    def hear(self, host: str, within_s: float, *, ending: bool = False) -> PartAnswer:  # noqa: ARG002
        if not self._answers[host]:
            raise PartError(f"{host} has not answered")
        return self._answers[host].pop(0)

    def orders(self, host: str) -> list[type[PartOrder]]:
        return [type(order) for told, order in self.told if told == host]


@pytest.fixture
def topology() -> Topology:
    """The tester's part; others are on core and far."""
    return part(whole("direct", spanning_lab()), "edge")


def parts(talk: Answering) -> Parts:
    return Parts(talk, "direct", "a-b-c")


def wire1(edge_tx: int, core_rx: int) -> tuple[list[Counter], PartCounted]:
    """What both ends of a wire counted."""
    here: list[Counter] = [Count(place="wire1:edge tx", kind="packets", value=edge_tx)]
    return here, PartCounted(counts=(Count(place="wire1:core rx", kind="packets", value=core_rx),))


NONE = PartCounted(counts=())


def lost(counters: Sequence[Counter]) -> dict[str, int]:
    return {one.place: one.value for one in counters if one.reason == LOST_BETWEEN and one.value}


def test_every_other_host_builds_its_part_of_the_deployment_and_takes_it_down(topology: Topology) -> None:
    talk = Answering(core=[STANDS, PartDown()], far=[STANDS, PartDown()])
    with parts(talk).standing(topology) as standing:
        assert talk.told == [
            (host, BuildPart(name="direct", chain="a-b-c", deployment=topology.deployment))
            for host in ("core", "far")
        ]
        assert [(one.host, one.nodes) for one in standing.other_hosts()] == [
            ("core", ["f2"]),
            ("far", ["f3"]),
        ]
        assert "On far: No hugepages were used." in standing.fidelity()
    assert talk.orders("core") == talk.orders("far") == [BuildPart, TakeDownPart]


def test_where_one_cannot_build_its_part_none_is_left(topology: Topology) -> None:
    talk = Answering(core=[STANDS, PartDown()], far=[PartFailed(why="no hugepages"), PartDown()])
    with pytest.raises(PartError, match="far: no hugepages"), parts(talk).standing(topology):
        pytest.fail("it does not stand")
    assert talk.orders("core") == talk.orders("far") == [BuildPart, TakeDownPart]


def test_what_could_not_be_taken_down_is_said_and_late_answers_are_not_taken_for_it(
    topology: Topology,
) -> None:
    talk = Answering(core=[STANDS, NONE, PartDown(left="a namespace")], far=[STANDS, PartDown()])
    with pytest.raises(PartError, match="core: a namespace"), parts(talk).standing(topology):
        pass


def test_a_packet_that_came_between_two_readings_is_not_lost(topology: Topology) -> None:
    """The far end is read a little later, while the last packets arrive."""
    readings = [wire1(100, 90), wire1(100, 100), wire1(100, 100)]
    talk = Answering(
        core=[STANDS, *(there for _, there in readings), PartDown()], far=[STANDS, *[NONE] * 3, PartDown()]
    )
    own = iter([here for here, _ in readings])
    with parts(talk).standing(topology) as standing:
        assert lost(standing.counters(lambda: next(own))) == {}


def test_what_is_missing_when_nothing_moves_any_more_is_lost_between_the_hosts(topology: Topology) -> None:
    readings = [wire1(100, 90), wire1(100, 93), wire1(100, 93)]
    talk = Answering(
        core=[STANDS, *(there for _, there in readings), PartDown()], far=[STANDS, *[NONE] * 3, PartDown()]
    )
    own = iter([here for here, _ in readings])
    with parts(talk).standing(topology) as standing:
        assert lost(standing.counters(lambda: next(own))) == {"wire1:edge-core": 7}
    assert talk.orders("core").count(CountPart) == 3


def test_while_packets_keep_moving_nothing_more_is_called_lost(topology: Topology) -> None:
    readings = [wire1(100, 97)] * 2 + [wire1(200 + at, 150 + at) for at in range(READS)]
    talk = Answering(
        core=[STANDS, *(there for _, there in readings), PartDown()],
        far=[STANDS, *[NONE] * len(readings), PartDown()],
    )
    own = iter([here for here, _ in readings])
    with parts(talk).standing(topology) as standing:
        assert lost(standing.counters(lambda: next(own))) == {"wire1:edge-core": 3}
        assert lost(standing.counters(lambda: next(own))) == {"wire1:edge-core": 3}


def test_a_part_that_cannot_be_counted_is_an_error_with_its_reason(topology: Topology) -> None:
    talk = Answering(
        core=[STANDS, PartFailed(why="weir-dp has ended"), PartDown()], far=[STANDS, NONE, PartDown()]
    )
    with (
        pytest.raises(PartError, match="core: weir-dp has ended"),
        parts(talk).standing(topology) as standing,
    ):
        standing.counters(list)


def test_a_chain_that_spans_hosts_is_not_measured_by_one_machine(topology: Topology) -> None:
    with pytest.raises(ChainError, match="edge, core, far"), ALONE.standing(topology):
        pytest.fail("it does not stand")
    here = part(whole("direct", spanning_lab()), "core")
    with ALONE.standing(here) as standing:  # a host that builds what it is told
        assert not standing.other_hosts()
