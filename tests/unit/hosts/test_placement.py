# SPDX-License-Identifier: Apache-2.0
"""Which host gets which point."""

from __future__ import annotations

from weir.hosts.placement import Placement, Point
from weir.results.host_offer import HostOffer

OVS, BRIDGE = ("ovs", "PVP"), ("bridge", "PVP")


def offer(boot_id: str, *cpus: int) -> HostOffer:
    return HostOffer(
        node=boot_id, boot_id=boot_id, architecture="x86_64", weir="1", cpus=cpus or (0, 1),
        hugepages_2m_free=0, technologies={},
    )  # fmt: skip


def points(rounds: int) -> list[Point]:
    return [Point(*setup, "64", number) for number in range(rounds) for setup in (OVS, BRIDGE)]


def measure(placement: Placement, host: str) -> Point | None:
    point = placement.next(host)
    if point is not None:
        placement.finished(host)
        placement.free(host)
    return point


def test_what_is_compared_in_a_round_stays_on_one_host() -> None:
    placement = Placement(points(2))
    placement.offered("a", offer("a"), {})
    placement.offered("b", offer("b"), {})
    first, second = measure(placement, "a"), measure(placement, "b")
    assert (first, second) == (Point(*OVS, "64", 0), Point(*OVS, "64", 1))
    assert (measure(placement, "a"), measure(placement, "b")) == (
        Point(*BRIDGE, "64", 0),
        Point(*BRIDGE, "64", 1),
    )


def test_a_host_that_lacks_a_technology_gets_none_of_it_and_another_one_does() -> None:
    placement = Placement(points(1))
    placement.offered("a", offer("a"), {OVS: "no ovs"})
    placement.offered("b", offer("b"), {})
    assert measure(placement, "a") == Point(*BRIDGE, "64", 0)
    assert measure(placement, "b") == Point(*OVS, "64", 0)


def test_what_no_host_can_build_is_named_with_what_each_lacks() -> None:
    placement = Placement(points(1))
    placement.offered("a", offer("a"), {OVS: "no ovs"})
    placement.offered("b", offer("b"), {OVS: "no root"})
    assert placement.impossible() == {OVS: {"a": "no ovs", "b": "no root"}}
    assert placement.give_up([OVS]) == 1
    assert [point.setup for point in placement.waiting] == [BRIDGE]


def test_a_point_of_a_host_that_is_gone_is_measured_by_another_and_a_finished_one_is_not() -> None:
    placement = Placement(points(1))
    placement.offered("a", offer("a"), {})
    placement.offered("b", offer("b"), {})
    assert measure(placement, "a") == Point(*OVS, "64", 0)
    under_way = placement.next("a")
    assert placement.next("b") is None
    assert placement.gone("a") == under_way
    assert measure(placement, "b") == under_way
    assert not placement.waiting


def test_two_hosts_on_the_same_cores_of_one_machine_take_turns() -> None:
    placement = Placement(points(2))
    for name, cpus in (("a", (0, 1)), ("b", (1, 2)), ("c", (3, 4))):
        placement.offered(name, offer("one", *cpus), {})
    assert placement.next("a") is not None
    assert placement.next("b") is None
    assert placement.next("c") is not None
    placement.finished("a")
    assert placement.next("b") is None
    placement.free("a")
    assert placement.may_work("b")
