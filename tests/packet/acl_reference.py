# SPDX-License-Identifier: Apache-2.0
"""`acl` once more, slow and obvious, to compare with packet by packet."""

from __future__ import annotations

from .replay import Dropped, Forwarded
from .rules_reference import Rules, datagram_of, flow_of, parsed


class Acl:
    """Rules that may change."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.fragments: dict[tuple[int, ...], bool] = {}

    def handle(self, frame: bytes, _direction: str = "outbound") -> Forwarded | Dropped:
        """What becomes of a frame, whichever way it goes."""
        packet = parsed(frame)
        if isinstance(packet, str):
            return Dropped(packet, "acl")
        permits = self.rules.permit(flow_of(packet))
        if packet.is_fragment:
            datagram = datagram_of(packet)
            if packet.is_later_fragment:
                permits = self.fragments.get(datagram, permits)
            else:
                self.fragments[datagram] = permits
        return Forwarded(frame) if permits else Dropped("denied", "acl")
