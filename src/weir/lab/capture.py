# SPDX-License-Identifier: Apache-2.0
"""`traffic.capture` of a lab: frames of files in place of generated ones."""

from __future__ import annotations

import ipaddress
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, GetJsonSchemaHandler, field_validator
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from weir.base.record import LabSection

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


class Capture(LabSection):
    """Frames of files, each in its order, and again from its beginning until the trial ends. A trial begins
    with the first."""

    left: _Sent | None = Field(default=None, description="what the left end sends: a file, or its options")
    right: _Sent | None = Field(
        default=None, description="likewise the right end, where traffic is bidirectional"
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

    def files(self) -> dict[Side, CaptureFile]:
        """By the end that sends it."""
        found = {"left": self.left, "right": self.right}
        return {side: one for side in SIDES if (one := found[side]) is not None}
