# SPDX-License-Identifier: Apache-2.0
"""`traffic.capture` of a lab: frames of files in place of generated ones, at searched rates or replayed."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import (
    BeforeValidator,
    Field,
    GetJsonSchemaHandler,
    PlainValidator,
    WithJsonSchema,
    field_validator,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from weir.base.record import LabSection
from weir.lab.delay import load_of
from weir.lab.frames import BITS_PER_BYTE

MAX_CAPTURE_ADDRESSES = 16
Side = Literal["left", "right"]
SIDES: tuple[Side, ...] = ("left", "right")


class CaptureFile(LabSection):
    """What one end sends."""

    file: str = Field(
        min_length=1,
        max_length=1023,
        description="pcap or pcapng of Ethernet frames, captured whole; relative to the lab file",
    )
    filter: str = Field(
        default="",
        max_length=255,
        pattern=r"^[^\x00-\x1f\x7f]*$",
        description="only the frames that pass, as tcpdump says it (pcap-filter(7)): `src net 192.0.2.0/24` "
        "takes one direction out of a capture of both",
    )
    addresses: dict[str, str] = Field(
        default={},
        max_length=MAX_CAPTURE_ADDRESSES,
        description="prefixes of IP addresses and what to write in their place, of the same length; the "
        "first that has an address counts. Checksums follow. Absent: addresses as captured",
    )

    @field_validator("addresses")
    @classmethod
    def _exchangeable(cls, value: dict[str, str]) -> dict[str, str]:
        return dict(_exchange(one, other) for one, other in value.items())


def _exchange(one: str, other: str) -> tuple[str, str]:
    networks = []
    for text in (one, other):
        try:
            networks.append(ipaddress.ip_network(text))
        except ValueError:
            raise ValueError(
                f"{text!r} is no prefix; expected one without host bits, such as 192.0.2.0/24"
            ) from None
    before, after = networks
    if before.version != after.version or before.prefixlen != after.prefixlen:
        raise ValueError(f"{one} cannot become {other}; expected prefixes of one IP version and length")
    return str(before), str(after)


def _said(value: Any) -> Any:
    return {"file": value} if isinstance(value, str) else value


class _OrItsName:
    """A file of which the lab may also just say the name."""

    @classmethod
    def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return {"anyOf": [{"type": "string"}, handler(core)]}


_Sent = Annotated[CaptureFile, _OrItsName, BeforeValidator(_said)]


RECORDED = "recorded"
FACTOR_MAX = 1e6
_FACTOR = re.compile(r"([0-9]{1,7}(?:\.[0-9]{1,6})?)\s*x", re.ASCII)


@dataclass(frozen=True)
class Replay:
    """A capture once through, its frames at their recorded times or all times shrunk by one factor."""

    text: str
    factor: float | None = None
    pps: float | None = None
    bps: float | None = None

    def factor_of(self, own_pps: float, mean_frame_bytes: float) -> float:
        """How many times as fast as it was captured; of a file whose own rate that is, both directions
        together."""
        if self.factor is not None:
            return self.factor
        wanted_pps = self.pps or (self.bps or 0.0) / (mean_frame_bytes * BITS_PER_BYTE)
        return wanted_pps / own_pps


def replay_of(text: str) -> Replay:
    """Reads "recorded", "2x", "5kpps" or "100Mbit/s". ValueError says what was expected."""
    match = _FACTOR.fullmatch(text.strip())
    if text.strip() == RECORDED or match is not None:
        factor = float(match[1]) if match is not None else 1.0
        if not 0 < factor <= FACTOR_MAX:
            raise ValueError(f"is {text}; expected a factor above 0, {FACTOR_MAX:,.0f} at most")
        return Replay(text.strip(), factor=factor)
    try:
        load = load_of(text)
    except ValueError:
        load = None
    if load is None or load.share is not None:
        raise ValueError(
            f"is {text!r}; expected recorded, a factor such as 2x, or a rate such as 5kpps or 100Mbit/s"
        )
    return Replay(load.text, pps=load.pps, bps=load.bps)


def _replay_text(value: Any) -> str:
    return replay_of(str(value)).text


_ReplayText = Annotated[
    str,
    PlainValidator(_replay_text),
    WithJsonSchema({"type": "string", "examples": [RECORDED, "2x", "5kpps", "100Mbit/s"]}),
]


class Capture(LabSection):
    """Frames of files, each in its order, and again from its beginning until the trial ends. A trial begins
    with the first."""

    left: _Sent | None = Field(default=None, description="what the left end sends: a file, or its options")
    right: _Sent | None = Field(
        default=None, description="likewise the right end, where traffic is bidirectional"
    )
    rate: _ReplayText | None = Field(
        default=None,
        description="replayed, once through, in place of a search: at `recorded` times; at a factor of the "
        "file's own rate, such as `2x` or `0.5x`; or at a rate of both directions together, such as 5kpps or "
        "100Mbit/s (L2): then one factor makes it of all times. Absent: at the rates that are searched",
    )
    macs: Literal["chain", "file"] = Field(
        default="chain",
        description="MAC addresses: `chain`, those of the ports, as a switch needs them; `file`, as captured",
    )
    stamp: bool = Field(
        default=False,
        description="Weir's stamp over the first 18 bytes of each payload, for delays, order and when frames "
        "were lost: every frame needs room for it. Without it frames stay whole, and are just counted",
    )

    @property
    def replay(self) -> Replay | None:
        """How it is replayed; None: its rate is searched for."""
        return None if self.rate is None else replay_of(self.rate)

    def files(self) -> dict[Side, CaptureFile]:
        """By the end that sends it."""
        found = {"left": self.left, "right": self.right}
        return {side: one for side in SIDES if (one := found[side]) is not None}
