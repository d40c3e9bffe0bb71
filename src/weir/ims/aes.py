# SPDX-License-Identifier: Apache-2.0
"""AES-128 of single blocks (FIPS 197), for Milenage alone: six blocks for a subscriber's vector.

It takes its time by the data, and keeps no secret from who measures that: the keys here are of made-up
subscribers.
"""

from __future__ import annotations

BLOCK_BYTES = 16
_ROUNDS = 10
_COLUMNS = 4


def _doubled(value: int) -> int:
    """In the field of AES."""
    return (value << 1) ^ (0x11B if value & 0x80 else 0)


def _s_box() -> bytes:
    box = bytearray(256)
    power, inverse = 1, 1
    while True:
        power ^= _doubled(power)  # times 3, which generates the field
        inverse ^= inverse << 1  # divided by 3
        inverse ^= inverse << 2
        inverse ^= inverse << 4
        inverse &= 0xFF
        if inverse & 0x80:
            inverse ^= 0x09
        turned = inverse | inverse << 8
        box[power] = (inverse ^ turned >> 7 ^ turned >> 6 ^ turned >> 5 ^ turned >> 4 ^ 0x63) & 0xFF
        if power == 1:
            break
    box[0] = 0x63
    return bytes(box)


_BOX = _s_box()
_DOUBLED = bytes(_doubled(value) for value in range(256))
_SHIFTED = tuple((index + _COLUMNS * (index % _COLUMNS)) % BLOCK_BYTES for index in range(BLOCK_BYTES))
"""Where each byte comes from: row R of the state is rotated by R columns."""


class Aes128:
    """`key`: 16 bytes."""

    def __init__(self, key: bytes) -> None:
        if len(key) != BLOCK_BYTES:
            raise ValueError(f"a key of {len(key)} bytes, expected {BLOCK_BYTES}")
        words = [key[at : at + 4] for at in range(0, BLOCK_BYTES, 4)]
        constant = 1
        for index in range(_COLUMNS, _COLUMNS * (_ROUNDS + 1)):
            last = words[-1]
            if index % _COLUMNS == 0:
                last = bytes(_BOX[value] for value in last[1:] + last[:1])
                last = bytes([last[0] ^ constant]) + last[1:]
                constant = _DOUBLED[constant]
            words.append(bytes(one ^ other for one, other in zip(words[-_COLUMNS], last, strict=True)))
        joined = b"".join(words)
        self._keys = [joined[at : at + BLOCK_BYTES] for at in range(0, len(joined), BLOCK_BYTES)]

    def encrypted(self, block: bytes) -> bytes:
        """16 bytes of 16."""
        state = xored(block, self._keys[0])
        for key in self._keys[1:-1]:
            state = xored(_mixed(_substituted(state)), key)
        return xored(_substituted(state), self._keys[-1])


def xored(one: bytes, other: bytes) -> bytes:
    """Bit by bit; both are as long."""
    return bytes(left ^ right for left, right in zip(one, other, strict=True))


def _substituted(state: bytes) -> bytes:
    return bytes(_BOX[state[at]] for at in _SHIFTED)


def _mixed(state: bytes) -> bytes:
    out = bytearray()
    for at in range(0, BLOCK_BYTES, _COLUMNS):
        column = state[at : at + _COLUMNS]
        every = column[0] ^ column[1] ^ column[2] ^ column[3]
        for row in range(_COLUMNS):
            out.append(column[row] ^ every ^ _DOUBLED[column[row] ^ column[(row + 1) % _COLUMNS]])
    return bytes(out)
