# SPDX-License-Identifier: Apache-2.0
"""Frame sizes: fixed, or a mix written as an IMIX genome (RFC 6985). Sizes are L2 bytes with FCS.

The smallest frame has room for the headers and for Weir's 18-byte stamp at the start of the L4 payload.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import PlainValidator, WithJsonSchema

MAX_FRAME_BYTES = 1518
VLAN_TAG_BYTES = 4
FRAME_OVERHEAD_BYTES = 20
"""Preamble (7), start of frame delimiter (1) and gap (12): on the link, not in the frame."""
BITS_PER_BYTE = 8
IMIX_PREFIX = "imix:"
IMIX_MAX_LETTERS = 64
# RFC 6985, table 1; z is the MTU's frame. h (2112), i (9000) and j (16000) are larger than what Weir sends.
IMIX_BYTES = {"a": 64, "b": 128, "c": 256, "d": 512, "e": 1024, "f": 1280, "g": 1518, "z": 1518}
IMIX_JUMBO_BYTES = {"h": 2112, "i": 9000, "j": 16000}
_MIN_FRAME_BYTES = {(4, "udp"): 64, (4, "tcp"): 76, (6, "udp"): 84, (6, "tcp"): 96}


def min_frame_bytes(ip: int, l4: str, vlan: bool) -> int:
    """The smallest frame that the template's headers and the stamp fit into."""
    return _MIN_FRAME_BYTES[ip, l4] + (VLAN_TAG_BYTES if vlan else 0)


def max_frame_bytes(vlan: bool) -> int:
    """The largest standard frame."""
    return MAX_FRAME_BYTES + (VLAN_TAG_BYTES if vlan else 0)


def frame_sizes_bytes(frame: str) -> tuple[int, ...]:
    """The sizes that `frame` ("64" or "imix:aaaaaaaddddg") sends, in order."""
    if frame.startswith(IMIX_PREFIX):
        return tuple(IMIX_BYTES[letter] for letter in frame.removeprefix(IMIX_PREFIX))
    return (int(frame),)


def mean_frame_bytes(frame: str) -> float:
    """The mean size of what `frame` sends."""
    sizes_bytes = frame_sizes_bytes(frame)
    return sum(sizes_bytes) / len(sizes_bytes)


def _fixed(size_bytes: int) -> str:
    least, most = min(_MIN_FRAME_BYTES.values()), max_frame_bytes(vlan=True)
    if not least <= size_bytes <= most:
        sizes = f"{least} to {MAX_FRAME_BYTES}, with a VLAN tag to {most}"
        raise ValueError(f"is a frame of {size_bytes} bytes; expected {sizes}")
    return str(size_bytes)


def _genome(text: str) -> str:
    for letter in text:
        if letter in IMIX_JUMBO_BYTES:
            size = IMIX_JUMBO_BYTES[letter]
            raise ValueError(
                f"IMIX letter {letter} is a frame of {size} bytes; expected at most {MAX_FRAME_BYTES}"
            )
        if letter not in IMIX_BYTES:
            known = ", ".join(f"{name}={size}" for name, size in IMIX_BYTES.items())
            raise ValueError(f"unknown IMIX letter {letter!r}; expected letters of RFC 6985: {known}")
    if not 1 <= len(text) <= IMIX_MAX_LETTERS:
        raise ValueError(f"IMIX genome of {len(text)} letters; expected 1 to {IMIX_MAX_LETTERS}")
    return IMIX_PREFIX + text


def _frame(value: Any) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return _fixed(value)
    if isinstance(value, str) and value.startswith(IMIX_PREFIX):
        return _genome(value.removeprefix(IMIX_PREFIX))
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= 9:
        return _fixed(int(value))
    raise ValueError(
        f'is {value!r}; expected a frame size in bytes, such as 64, or a mix, such as "imix:aaaaaaaddddg"'
    )


Frame = Annotated[
    str,
    PlainValidator(_frame),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "integer", "minimum": 64, "maximum": max_frame_bytes(vlan=True)},
                {"type": "string", "pattern": "^(imix:[a-gz]{1,64}|[0-9]+)$"},
            ]
        }
    ),
]


def l1_bps(pps: float, frame_bytes: float) -> float:
    """What packets of that size, with FCS, take on a link, with preamble and gap."""
    return pps * (frame_bytes + FRAME_OVERHEAD_BYTES) * BITS_PER_BYTE


def link_pps(link_bps: float, frame_bytes: float) -> float:
    """Frames of that size, with FCS, that fit on a link back to back."""
    return link_bps / l1_bps(1, frame_bytes)
