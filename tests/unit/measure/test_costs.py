# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from tests.unit.measure.clocked import CALM, ledger
from weir.measure.core_speed import Slowing
from weir.measure.costs import costs
from weir.measure.windows import Window
from weir.protocol.ledger import Ledger, OffloadLedger


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


def test_what_a_slow_core_costs_is_corrected() -> None:
    pieces = (150, 100)
    slow = Window(ledger(0, 0, piece_cycles=pieces), ledger(1, 700_000, stretch=1.5, piece_cycles=pieces))
    found = costs([slow] * 16, Slowing(best_cycles=100, slope=1.0))
    assert found.pps == pytest.approx(1.05e6)
    assert found.areas[0].paths[0].stages[0].cycles == pytest.approx(100)
    assert found.areas[0].rest_cycles == pytest.approx(30)


def test_the_calmest_windows_are_used_and_of_them_the_middle() -> None:
    slow = Window(ledger(0, 0), ledger(1, 100_000, piece_cycles=(130, 100)))
    stalled = Window(ledger(0, 0), ledger(1, 10_000))
    lucky = Window(ledger(0, 0), ledger(1, 1_500_000))
    found = costs([slow] * 20 + [CALM] * 12 + [stalled] * 2 + [lucky] * 2, Slowing(100, 0.0))
    assert found.pps == pytest.approx(1e6)


def test_packets_that_functions_drop_are_told() -> None:
    found = costs([Window(ledger(0, 0), ledger(1, 1_000_000, dropped=10_000))])
    assert found.lost_in_functions == pytest.approx(0.01)


def with_offloaded(one: Ledger, packets: int) -> Ledger:
    """The same, and so many more that an entry below the function forwarded."""
    area, *others = one.areas
    (path,) = area.paths
    below = {"kind": "xdp", "packets": packets, "bytes": 60 * packets, "flows": 1, "put": 1, "revoked": 0}
    path = path.model_copy(
        update={
            "rx_packets": path.rx_packets + packets,
            "offload": OffloadLedger.model_validate(below | {"refused": {}}),
        }
    )
    return one.model_copy(update={"areas": (area.model_copy(update={"paths": (path,)}), *others)})


def test_packets_that_were_offloaded_are_none_of_the_core_s() -> None:
    before, after = with_offloaded(CALM.before, 0), with_offloaded(CALM.after, 9_000_000)
    area = costs([Window(before, after)]).areas[0]
    assert area.packets == 1_000_000
    assert area.paths[0].stages[0].cycles == pytest.approx(100)
    assert area.rest_cycles == pytest.approx(30)


def test_no_packet_at_all_is_an_error() -> None:
    with pytest.raises(ValueError, match="no packet came back"):
        costs([Window(ledger(0, 0), ledger(1, 0))])
