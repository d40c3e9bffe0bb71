# SPDX-License-Identifier: Apache-2.0
"""The policer once more, slow and obvious: RFC 2697, RFC 2698 and RFC 4115 word for word.

Tokens come as DPDK's rte_meter gives them: one byte each `period` cycles of the time-stamp counter, or, where
that would be less than 100 cycles, as many bytes at once as make it 100 or more; periods are rounded down.
"""

from __future__ import annotations

import ipaddress
import math
from dataclasses import dataclass, field

from .ipv4 import ip_at, ipv4_end
from .replay import Dropped, Forwarded

GREEN, YELLOW, RED = "green", "yellow", "red"
PERIOD_CYCLES_MIN = 100


@dataclass
class Tokens:
    """Comes at a rate; full at first."""

    rate_bps: int
    size_bytes: int
    tsc_hz: int
    level: int = field(init=False)
    since_tsc: int | None = None

    def __post_init__(self) -> None:
        self.level = self.size_bytes
        bytes_a_s = self.rate_bps // 8
        self.step_bytes, self.period = 1, int(self.tsc_hz / bytes_a_s)
        if self.tsc_hz / bytes_a_s < PERIOD_CYCLES_MIN:
            self.step_bytes = math.ceil(PERIOD_CYCLES_MIN / (self.tsc_hz / bytes_a_s))
            self.period = self.tsc_hz * self.step_bytes // bytes_a_s

    def come(self, now_tsc: int) -> int:
        """Fills the bucket; what does not fit into it."""
        if self.since_tsc is None:
            self.since_tsc = now_tsc
        periods = (now_tsc - self.since_tsc) // self.period
        self.since_tsc += periods * self.period
        self.level += periods * self.step_bytes
        over = max(0, self.level - self.size_bytes)
        self.level -= over
        return over


class SrTcm:
    """RFC 2697, section 3."""

    def __init__(self, tsc_hz: int, *, cir_bps: int, cbs_bytes: int, ebs_bytes: int) -> None:
        self.committed = Tokens(cir_bps, cbs_bytes, tsc_hz)
        self.excess = Tokens(cir_bps, ebs_bytes, tsc_hz)

    def colour(self, now_tsc: int, size: int, before: str) -> str:
        """Of a packet of so many bytes that comes with that colour."""
        over = self.committed.come(now_tsc)
        self.excess.level = min(self.excess.size_bytes, self.excess.level + over)
        if before == GREEN and self.committed.level >= size:
            self.committed.level -= size
            return GREEN
        if before in (GREEN, YELLOW) and self.excess.level >= size:
            self.excess.level -= size
            return YELLOW
        return RED


class TrTcm:
    """RFC 2698, section 3."""

    def __init__(self, tsc_hz: int, *, cir_bps: int, pir_bps: int, cbs_bytes: int, pbs_bytes: int) -> None:
        self.committed = Tokens(cir_bps, cbs_bytes, tsc_hz)
        self.peak = Tokens(pir_bps, pbs_bytes, tsc_hz)

    def colour(self, now_tsc: int, size: int, before: str) -> str:
        """Of a packet of so many bytes that comes with that colour."""
        self.committed.come(now_tsc)
        self.peak.come(now_tsc)
        if before == RED or self.peak.level < size:
            return RED
        self.peak.level -= size
        if before == YELLOW or self.committed.level < size:
            return YELLOW
        self.committed.level -= size
        return GREEN


class TrTcm4115:
    """RFC 4115, section 2.2, whose coupling flag is 0 here."""

    def __init__(self, tsc_hz: int, *, cir_bps: int, eir_bps: int, cbs_bytes: int, ebs_bytes: int) -> None:
        self.committed = Tokens(cir_bps, cbs_bytes, tsc_hz)
        self.excess = Tokens(eir_bps, ebs_bytes, tsc_hz)

    def colour(self, now_tsc: int, size: int, before: str) -> str:
        """Of a packet of so many bytes that comes with that colour."""
        self.committed.come(now_tsc)
        self.excess.come(now_tsc)
        if before == GREEN and self.committed.level >= size:
            self.committed.level -= size
            return GREEN
        if before != RED and self.excess.level >= size:
            self.excess.level -= size
            return YELLOW
        return RED


Meter = SrTcm | TrTcm | TrTcm4115


class Policer:
    """Tenants by prefix, "vlan:N" or "default", each with a meter for each direction."""

    def __init__(
        self, meters: dict[str, dict[str, Meter]], *, drop: tuple[str, ...], colour_aware: bool
    ) -> None:
        self.meters, self.drop, self.colour_aware = meters, drop, colour_aware

    def handle(self, frame: bytes, direction: str, now_tsc: int) -> Forwarded | Dropped:
        """What becomes of a frame."""
        kind, at = ip_at(frame)
        ipv4 = kind == 0x0800 and ipv4_end(frame, at) is not None
        tenant = self._tenant(frame, at if ipv4 else None, direction)
        if tenant is None:
            return Forwarded(frame)
        size, dscp = max(0, len(frame) - 14), 0
        if ipv4:
            size, dscp = int.from_bytes(frame[at + 2 : at + 4], "big"), frame[at + 1] >> 2
        elif kind == 0x86DD and len(frame) >= at + 40 + int.from_bytes(frame[at + 4 : at + 6], "big"):
            size = 40 + int.from_bytes(frame[at + 4 : at + 6], "big")
            dscp = int.from_bytes(frame[at : at + 2], "big") >> 6 & 0x3F
        colour = self.meters[tenant][direction].colour(now_tsc, size, self._before(dscp))
        return Dropped(colour, "policer") if colour in self.drop else Forwarded(frame)

    def _before(self, dscp: int) -> str:
        named = {10 + 8 * i: GREEN for i in range(4)}  # RFC 2597, section 6: AFx1, AFx2, AFx3
        named |= {12 + 8 * i: YELLOW for i in range(4)} | {14 + 8 * i: RED for i in range(4)}
        return named.get(dscp, GREEN) if self.colour_aware else GREEN

    def _tenant(self, frame: bytes, at: int | None, direction: str) -> str | None:
        if len(frame) >= 16 and frame[12:14] in (b"\x81\x00", b"\x88\xa8"):
            vlan = f"vlan:{int.from_bytes(frame[14:16], 'big') & 0xFFF}"
            if vlan in self.meters:
                return vlan
        if at is not None:
            inside = at + (12 if direction == "outbound" else 16)
            address = ipaddress.IPv4Address(frame[inside : inside + 4])
            nets = [ipaddress.IPv4Network(name) for name in self.meters if "/" in name]
            for net in sorted(nets, key=lambda net: -net.prefixlen):
                if address in net:
                    return str(net)
        return "default" if "default" in self.meters else None
