# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import pytest

from weir.dataplane.messages import Ledger
from weir.measure.costs import HostPace, Window, costs, settle, windows

HZ = 1_000_000_000


def ledger(at_s: float, packets: int, *, dropped: int = 0, stretch: float = 1.0) -> Ledger:
    """`packets` so far: 100 cycles each in one stage, 30 around it, a fifth of the core idle."""
    stage = {"nf": "nat", "in": packets, "out": packets - dropped, "cycles": int(100 * packets * stretch)}
    path = {
        "name": "right",
        "rx_packets": packets,
        "tx_packets": packets,
        "stages": [stage | {"drops": {"no_mapping": dropped}}],
    }
    time = {"busy_cycles": int(130 * packets * stretch), "idle_cycles": int(at_s * HZ / 5)}
    areas: list[dict[str, Any]] = [
        {"name": "f1", "core": 0, "kind": "chain", "paths": [path], **time},
        {"name": "receiver.right", "core": 0, "kind": "receiver", "busy_cycles": 50 * packets},
    ]
    ports = [{"name": "tester.left", "tx_packets": packets}, {"name": "tester.right", "rx_packets": packets}]
    return Ledger.model_validate({"tsc": int(at_s * HZ), "tsc_hz": HZ, "areas": areas, "ports": ports})


def window(
    before: Ledger,
    after: Ledger,
    *,
    paces: tuple[float, float] = (100, 100),
    near: float = 80,
    far: float = 80,
) -> Window:
    """In which the second of two cores had these paces, and the cores these distances, before and after."""
    hosts = (HostPace((100, paces[0]), near), HostPace((100, paces[1]), far))
    return Window(before, after, hosts)


CALM = window(ledger(0, 0), ledger(1, 1_000_000))


class Played:
    """Answers with one ledger after another."""

    def __init__(self, ledgers: list[Ledger]) -> None:
        self._left = ledgers

    def ledger(self) -> Ledger:
        return self._left.pop(0) if len(self._left) > 1 else self._left[0]


def test_costs_are_cycles_of_stages_and_of_the_area_around_them() -> None:
    found = costs([CALM])
    area = found.areas[0]
    assert found.pps == pytest.approx(1e6)
    assert area.paths[0].stages[0].cycles == pytest.approx(100)
    assert area.rest_cycles == pytest.approx(30)
    assert area.idle_share == pytest.approx(0.2)


def test_what_the_tester_received_is_what_its_areas_cost_is_of() -> None:
    found = costs([CALM])
    assert found.areas[1].rest_cycles == pytest.approx(50)


def test_the_fastest_windows_are_used() -> None:
    disturbed = window(ledger(0, 0, stretch=2), ledger(1, 500_000, stretch=2))
    found = costs([*[CALM] * 4, *[disturbed] * 12])
    assert found.pps == pytest.approx(1e6)
    assert found.areas[0].paths[0].stages[0].cycles == pytest.approx(100)


@pytest.mark.parametrize("paces", [(160, 100), (100, 160)])
def test_a_window_is_not_clean_when_a_core_was_slow_before_or_after(paces: tuple[float, float]) -> None:
    assert window(CALM.before, CALM.after).clean(100)
    assert not window(CALM.before, CALM.after, paces=paces).clean(100)


def test_a_window_is_not_clean_when_a_core_was_moved_in_it() -> None:
    assert window(CALM.before, CALM.after, near=320, far=330).clean(100)
    assert not window(CALM.before, CALM.after, near=80, far=330).clean(100)


def test_one_core_alone_has_no_distance() -> None:
    alone = Window(CALM.before, CALM.after, (HostPace((100,), None), HostPace((101,), None)))
    assert alone.clean(100)
    assert alone.distance_cycles() is None


def test_each_window_begins_with_the_host_as_the_one_before_ended() -> None:
    looks = iter(HostPace((100.0 + number,), None) for number in range(100))
    found = list(windows(Played([ledger(0, 0)]), lambda _: None, lambda: next(looks)))
    assert [one.hosts[1] for one in found[:-1]] == [one.hosts[0] for one in found[1:]]
    assert (found[0].fastest(), found[0].slowest()) == (100, 101)


def test_packets_that_functions_drop_are_told() -> None:
    found = costs([window(ledger(0, 0), ledger(1, 1_000_000, dropped=10_000))])
    assert found.lost_in_functions == pytest.approx(0.01)


def test_no_packet_at_all_is_an_error() -> None:
    with pytest.raises(ValueError, match="no packet came back"):
        costs([window(ledger(0, 0), ledger(1, 0))])


def test_it_has_settled_when_rates_stand_still_and_nothing_is_dropped() -> None:
    steady = [ledger(n, n * 1000) for n in range(6)]
    assert settle(Played(steady), lambda _: None)


def test_rates_that_never_stand_still_are_told() -> None:
    restless = [ledger(n, n * n * 1000) for n in range(70)]
    assert not settle(Played(restless[:6] + [ledger(n, 0) for n in range(6, 70)]), lambda _: None)
