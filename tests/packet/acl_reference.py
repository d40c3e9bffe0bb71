# SPDX-License-Identifier: Apache-2.0
"""`acl` once more, slow and obvious, to compare with packet by packet."""

from __future__ import annotations

from .replay import Dropped, Forwarded
from .rules_reference import Rules, Waiting, cut_first, datagram_of, flow_of, parsed


class Acl:
    """Rules that may change."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.fragments: dict[tuple[int, ...], str | None] = {}  # why the first was dropped
        self.waiting = Waiting()

    def handle(self, frame: bytes, _direction: str = "outbound") -> Forwarded | Dropped:
        """What becomes of a frame, whichever way it goes."""
        packet = parsed(frame)
        if isinstance(packet, str):
            if packet == "truncated" and (first := cut_first(frame)) is not None:
                self.fragments[first] = packet
            return Dropped(packet, "acl")
        reason = None if self.rules.permit(flow_of(packet)) else "denied"
        if packet.is_fragment:
            datagram = datagram_of(packet)
            if not packet.is_later_fragment:
                self.fragments[datagram] = reason
            elif datagram in self.fragments:
                reason = self.fragments[datagram]
            elif self.rules.name_ports():
                reason = self.waiting.reason()
        return Forwarded(frame) if reason is None else Dropped(reason, "acl")
