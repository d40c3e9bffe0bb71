# SPDX-License-Identifier: Apache-2.0
"""What interfaces counted, as the kernel writes it down."""

from __future__ import annotations

from weir.fabric.counters import interfaces

TABLE = """Inter-| Receive | Transmit
 face | bytes packets errs drop ...
    lo: 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
tester.left:12345678901234 200 3 4 5 6 7 8 9000 100 11 12 13 14 15 16
"""


def test_each_interface_has_its_packets_drops_and_errors() -> None:
    found = interfaces(TABLE, {"lo": 1, "tester.left": 7})
    assert set(found) == {"lo", "tester.left"}
    left = found["tester.left"]
    assert (left["index"], left["rx_bytes"]) == (7, 12345678901234)
    assert (left["rx_packets"], left["rx_errors"], left["rx_dropped"]) == (200, 3, 4)
    assert (left["tx_packets"], left["tx_errors"], left["tx_dropped"]) == (100, 11, 12)


def test_one_that_came_or_went_between_both_looks_is_left_out() -> None:
    assert set(interfaces(TABLE, {"lo": 1, "new": 8})) == {"lo"}
