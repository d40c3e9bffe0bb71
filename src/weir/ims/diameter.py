# SPDX-License-Identifier: Apache-2.0
"""Diameter messages (RFC 6733, sections 3 and 4) as bytes, and from them."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

VERSION = 1
HEADER_BYTES = 20
REQUEST, PROXIABLE, ERROR = 0x80, 0x40, 0x20
_VENDOR, _MANDATORY = 0x80, 0x40
_AVP_HEADER_BYTES, _VENDOR_BYTES, _ALIGNED_BYTES = 8, 4, 4
MOST_BYTES = 1 << 16
"""Of a message. What says more is no message of Cx."""


class DiameterError(ValueError):
    """What was received is no Diameter message."""


@dataclass(frozen=True)
class Avp:
    """An attribute and its value. `vendor`: 0: IETF's."""

    code: int
    data: bytes
    vendor: int = 0
    mandatory: bool = True

    @classmethod
    def number(cls, code: int, value: int, vendor: int = 0) -> Avp:
        """Unsigned32, or an enumeration."""
        return cls(code, struct.pack(">I", value), vendor)

    @classmethod
    def text(cls, code: int, value: str, vendor: int = 0) -> Avp:
        """UTF8String, or an identity."""
        return cls(code, value.encode(), vendor)

    @classmethod
    def group(cls, code: int, members: Iterable[Avp], vendor: int = 0) -> Avp:
        """Of others."""
        return cls(code, b"".join(one.encoded() for one in members), vendor)

    def encoded(self) -> bytes:
        """Padded."""
        flags = (_VENDOR if self.vendor else 0) | (_MANDATORY if self.mandatory else 0)
        vendor = struct.pack(">I", self.vendor) if self.vendor else b""
        length = _AVP_HEADER_BYTES + len(vendor) + len(self.data)
        return struct.pack(">II", self.code, flags << 24 | length) + vendor + self.data + bytes(-length % 4)

    @property
    def value(self) -> int:
        """Of a number. DiameterError if it is none."""
        if len(self.data) != 4:
            raise DiameterError(f"attribute {self.code} has {len(self.data)} bytes, expected 4")
        return int.from_bytes(self.data, "big")

    @property
    def words(self) -> str:
        """Of a text. DiameterError if it is none."""
        try:
            return self.data.decode()
        except UnicodeDecodeError as error:
            raise DiameterError(f"attribute {self.code} is no UTF-8") from error

    @property
    def members(self) -> tuple[Avp, ...]:
        """Of a group. DiameterError if it is none."""
        return tuple(_avps(self.data))


@dataclass(frozen=True)
class Message:
    """A request or an answer. `hop`, `end`: its identifiers, hop by hop and end to end."""

    command: int
    application: int
    flags: int
    hop: int
    end: int
    avps: tuple[Avp, ...] = field(default=())

    @property
    def request(self) -> bool:
        """Else an answer."""
        return bool(self.flags & REQUEST)

    def first(self, code: int, vendor: int = 0) -> Avp | None:
        """None if there is none."""
        return next((one for one in self.avps if one.code == code and one.vendor == vendor), None)

    def answer(self, avps: Iterable[Avp], *, error: bool = False) -> Message:
        """To this request. `error`: of the protocol."""
        flags = self.flags & PROXIABLE | (ERROR if error else 0)
        return Message(self.command, self.application, flags, self.hop, self.end, tuple(avps))

    def encoded(self) -> bytes:
        """As it is sent."""
        body = b"".join(one.encoded() for one in self.avps)
        length = HEADER_BYTES + len(body)
        first, second = VERSION << 24 | length, self.flags << 24 | self.command
        return struct.pack(">IIIII", first, second, self.application, self.hop, self.end) + body

    @classmethod
    def decoded(cls, data: bytes) -> Message:
        """Of a whole message. DiameterError if it is none."""
        if len(data) < HEADER_BYTES or length_of(data) != len(data):
            raise DiameterError(f"{len(data)} bytes are no message")
        _, second, application, hop, end = struct.unpack(">IIIII", data[:HEADER_BYTES])
        return cls(second & 0xFFFFFF, application, second >> 24, hop, end, tuple(_avps(data[HEADER_BYTES:])))


def length_of(header: bytes) -> int:
    """Of a message, with its header, from the first four bytes. DiameterError if they begin none."""
    (word,) = struct.unpack(">I", header[:4])
    length = int(word) & 0xFFFFFF
    if word >> 24 != VERSION or length < HEADER_BYTES or length % _ALIGNED_BYTES or length > MOST_BYTES:
        raise DiameterError(f"{header[:4].hex()} begins no message of Diameter")
    return length


def _avps(data: bytes) -> Iterator[Avp]:
    at = 0
    while at < len(data):
        if len(data) - at < _AVP_HEADER_BYTES:
            raise DiameterError(f"{len(data) - at} bytes are no attribute")
        code, word = struct.unpack_from(">II", data, at)
        flags, length = word >> 24, word & 0xFFFFFF
        begin = at + _AVP_HEADER_BYTES + (_VENDOR_BYTES if flags & _VENDOR else 0)
        if begin > at + length or at + length > len(data):
            raise DiameterError(f"attribute {code} says it has {length} bytes, of {len(data) - at}")
        vendor = struct.unpack_from(">I", data, at + _AVP_HEADER_BYTES)[0] if flags & _VENDOR else 0
        yield Avp(code, data[begin : at + length], vendor, bool(flags & _MANDATORY))
        at += length + -length % _ALIGNED_BYTES
