# SPDX-License-Identifier: Apache-2.0
"""l2fwd on single frames."""

from __future__ import annotations

from .replay import Dropped, Forwarded, replay

FRAME = bytes.fromhex("0257000000aa 0257000000bb 0800") + bytes(range(46))


def test_mac_swap_exchanges_the_addresses_and_leaves_the_rest() -> None:
    with replay(("l2fwd", {"mode": "mac-swap"})) as chain:
        assert chain.send(FRAME) == Forwarded(FRAME[6:12] + FRAME[:6] + FRAME[12:])
        assert chain.send(FRAME, "inbound") == Forwarded(FRAME[6:12] + FRAME[:6] + FRAME[12:])


def test_mac_rewrite_writes_both_addresses() -> None:
    with replay(("l2fwd", {"src_mac": "02:00:00:00:00:01", "dst_mac": "02:00:00:00:00:02"})) as chain:
        assert chain.send(FRAME) == Forwarded(bytes.fromhex("020000000002 020000000001") + FRAME[12:])


def test_a_frame_without_a_whole_ethernet_header_is_dropped_as_truncated() -> None:
    with replay(("l2fwd", {"mode": "mac-swap"})) as chain:
        assert chain.send(FRAME[:13]) == Dropped("truncated", "l2fwd")
        assert chain.send(FRAME[:14]) == Forwarded(FRAME[6:12] + FRAME[:6] + FRAME[12:14])
