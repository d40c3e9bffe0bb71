# SPDX-License-Identifier: Apache-2.0
"""Frame sizes: fixed, or a mix written as an IMIX genome (RFC 6985). Sizes are L2 bytes with FCS.

A genome is a letter a frame, in the order of sending: small letters are sizes of the RFC's table, capital
ones custom sizes that are said behind it, "imix:aaaaaaaAAAAg:A=570". The smallest frame has room for the
headers and for Weir's 18-byte stamp at the start of the L4 payload.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from itertools import groupby
from typing import Annotated, Any

from pydantic import PlainValidator, WithJsonSchema

from weir.base.node import MAX_FRAME_BYTES, STANDARD_FRAME_BYTES

VLAN_TAG_BYTES = 4
FRAME_OVERHEAD_BYTES = 20
"""Preamble (7), start of frame delimiter (1) and gap (12): on the link, not in the frame."""
BITS_PER_BYTE = 8
IMIX_PREFIX = "imix:"
IMIX_MAX_LETTERS = 64
# RFC 6985, table 1; z is the frame of the MTU: of 1500 bytes. j (16000) is larger than what Weir sends.
IMIX_BYTES = {
    "a": 64, "b": 128, "c": 256, "d": 512, "e": 1024, "f": 1280, "g": 1518, "h": 2112, "i": 9000, "z": 1518,
}  # fmt: skip
SIMPLE_IMIX = "imix:aaaaaaaAAAAg:A=570"
"""7 : 4 : 1 of 64, 570 and 1518 bytes, as FD.io CSIT's IMIX_v4_1."""
JUMBO = "9018"
"""Of an MTU of 9000 bytes: Ethernet's header is 14 bytes, the FCS 4."""
CAPTURE = "capture"
"""The frames of traffic.capture."""
CONNECTIONS = "connections"
"""The packets of traffic.connections."""
NAMED = {"imix": SIMPLE_IMIX, "jumbo": JUMBO, CAPTURE: CAPTURE, CONNECTIONS: CONNECTIONS}
_MIN_FRAME_BYTES = {(4, "udp"): 64, (4, "tcp"): 76, (6, "udp"): 84, (6, "tcp"): 96}


def frame_label(frame: str) -> str:
    """ "64", "IMIX" for the mix that has a name, or "IMIX a7d4g": a genome (RFC 6985), its runs counted, so
    that it is short enough for a column."""
    if frame == SIMPLE_IMIX:
        return "IMIX"
    kind, *words = frame.split(":")
    if kind != "imix":
        return frame
    genome, *custom = words
    runs = ((letter, len(list(same))) for letter, same in groupby(genome))
    counted = "".join(letter + (str(count) if count > 1 else "") for letter, count in runs)
    return " ".join(["IMIX", counted, *custom])


def min_frame_bytes(ip: int, l4: str, vlan: bool) -> int:
    """The smallest frame that the template's headers and the stamp fit into."""
    return _MIN_FRAME_BYTES[ip, l4] + (VLAN_TAG_BYTES if vlan else 0)


def smallest_usual_frame(ip: int, l4: str, vlan: bool) -> str:
    """The smallest of RFC 2544's sizes that they fit into: 64, or 128."""
    return "64" if min_frame_bytes(ip, l4, vlan) <= 64 else "128"


def max_frame_bytes(vlan: bool) -> int:
    """The largest frame that Weir sends."""
    return MAX_FRAME_BYTES + (VLAN_TAG_BYTES if vlan else 0)


def untagged_max_bytes(frames: Iterable[str], *, vlan: bool) -> int:
    """The largest of them without its VLAN tag; a standard frame at least, which every port carries."""
    tag_bytes = VLAN_TAG_BYTES if vlan else 0
    largest = max((max(frame_sizes_bytes(frame)) for frame in frames), default=STANDARD_FRAME_BYTES)
    return max(STANDARD_FRAME_BYTES, largest - tag_bytes)


def frame_sizes_bytes(frame: str) -> tuple[int, ...]:
    """The sizes that `frame` ("64" or "imix:aaaaaaaddddg") sends, in order. Of a capture, whose file no lab
    reads, and of connections, the largest that it may have."""
    if frame in (CAPTURE, CONNECTIONS):
        return (STANDARD_FRAME_BYTES,)
    if not frame.startswith(IMIX_PREFIX):
        return (int(frame),)
    letters, *custom = frame.removeprefix(IMIX_PREFIX).split(":")
    bytes_of = IMIX_BYTES | {one[0]: int(one[2:]) for one in custom}
    return tuple(bytes_of[letter] for letter in letters)


def mean_frame_bytes(frame: str) -> float:
    """The mean size of what `frame` sends."""
    sizes_bytes = frame_sizes_bytes(frame)
    return sum(sizes_bytes) / len(sizes_bytes)


def _size(size_bytes: int, what: str = "is a frame") -> int:
    least, most = min(_MIN_FRAME_BYTES.values()), max_frame_bytes(vlan=True)
    if not least <= size_bytes <= most:
        sizes = f"{least} to {MAX_FRAME_BYTES}, with a VLAN tag to {most}"
        raise ValueError(f"{what} of {size_bytes} bytes; expected {sizes}")
    return size_bytes


def _genome(text: str) -> str:
    letters, *custom = text.split(":")
    bytes_of = _custom_sizes(custom)
    if not 1 <= len(letters) <= IMIX_MAX_LETTERS:
        raise ValueError(f"IMIX genome of {len(letters)} letters; expected 1 to {IMIX_MAX_LETTERS}")
    for letter in letters:
        if letter in bytes_of or letter in IMIX_BYTES:
            continue
        if "A" <= letter <= "Z":
            raise ValueError(
                f"IMIX letter {letter} has no size; expected {text}:{letter}=570, or another size"
            )
        if letter == "j":
            raise ValueError(f"IMIX letter j is a frame of 16000 bytes; expected at most {MAX_FRAME_BYTES}")
        known = ", ".join(f"{name}={size}" for name, size in IMIX_BYTES.items())
        raise ValueError(
            f"unknown IMIX letter {letter!r}; expected letters of RFC 6985: {known}, or capital ones with "
            "their sizes behind: imix:aaA:A=570"
        )
    if unused := [letter for letter in bytes_of if letter not in letters]:
        raise ValueError(f"IMIX letter {unused[0]} has a size and is not in the genome {letters}")
    return IMIX_PREFIX + ":".join([letters, *(f"{letter}={size}" for letter, size in bytes_of.items())])


def _custom_sizes(said: list[str]) -> Mapping[str, int]:
    bytes_of: dict[str, int] = {}
    for one in said:
        found = re.fullmatch(r"([A-Z])=([0-9]{1,5})", one, re.ASCII)
        if found is None:
            raise ValueError(f"custom size {one!r} of an IMIX; expected a capital letter and bytes: A=570")
        letter, size_bytes = found[1], _size(int(found[2]), f"IMIX letter {found[1]} is a frame")
        if letter in bytes_of:
            raise ValueError(f"IMIX letter {letter} has two sizes; expected one")
        bytes_of[letter] = size_bytes
    return dict(sorted(bytes_of.items()))


def _mix(text: str) -> str | None:
    """The genome in "imix:aaA:A=570" or "IMIX(aaA, A=570)"; None: it is neither."""
    if text.startswith(IMIX_PREFIX):
        return text.removeprefix(IMIX_PREFIX)
    found = re.fullmatch(r"IMIX\((.*)\)", text, re.IGNORECASE)
    return ":".join(part.strip() for part in found[1].split(",")) if found else None


def _frame(value: Any) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return str(_size(value))
    if isinstance(value, str) and value.lower() in NAMED:
        return NAMED[value.lower()]
    if isinstance(value, str) and (genome := _mix(value)) is not None:
        return _genome(genome)
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= 9:
        return str(_size(int(value)))
    raise ValueError(
        f"is {value!r}; expected a frame size in bytes, such as 64, a name (IMIX, jumbo, capture, "
        'connections), or a mix, such as "imix:aaaaaaaddddg"'
    )


def canonical(text: str) -> str:
    """As a lab keeps it: "imix:aaA:A=570" for "IMIX(aaA, A=570)". What is no frame stays as it is."""
    try:
        return _frame(text)
    except ValueError:
        return text


def _in_any_case(name: str) -> str:
    return "".join(f"[{letter.upper()}{letter}]" for letter in name)


_GENOME = "[a-izA-Z]{1,64}"
_CUSTOM = "[A-Z]=[0-9]{1,5}"
Frame = Annotated[
    str,
    PlainValidator(_frame),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "integer", "minimum": 64, "maximum": max_frame_bytes(vlan=True)},
                {
                    "type": "string",
                    "pattern": f"^(imix:{_GENOME}(:{_CUSTOM})*"
                    f"|{_in_any_case('imix')}\\({_GENOME}(, *{_CUSTOM})*\\)"
                    f"|{'|'.join(map(_in_any_case, NAMED))}|[0-9]+)$",
                },
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
