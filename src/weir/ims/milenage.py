# SPDX-License-Identifier: Apache-2.0
"""Milenage (3GPP TS 35.206): what a network and a subscriber compute from the key that both know."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from weir.ims.aes import BLOCK_BYTES, Aes128, xored

SQN_BYTES, AUTS_BYTES = 6, 14
_NO_AMF = bytes(2)
_C1, _C2, _C3, _C4, _C5 = (bytes(15) + bytes([value]) for value in (0, 1, 2, 4, 8))
_R1, _R2, _R3, _R4, _R5 = (bits // 8 for bits in (64, 0, 32, 64, 96))


@dataclass(frozen=True)
class Milenage:
    """Of a subscriber. `key`: K; `operator`: OPc, which is the operator's, encrypted by K; 16 bytes each."""

    key: bytes
    operator: bytes

    @classmethod
    def of(cls, key: bytes, op: bytes) -> Milenage:
        """`op`: OP, as operators choose it."""
        return cls(key, xored(Aes128(key).encrypted(op), op))

    @cached_property
    def _cipher(self) -> Aes128:
        return Aes128(self.key)

    def f1(self, rand: bytes, sqn: bytes, amf: bytes) -> tuple[bytes, bytes]:
        """MAC-A, by which the network is known, and MAC-S, for synchronization; 8 bytes each."""
        temp = self._cipher.encrypted(xored(rand, self.operator))
        said = (sqn + amf) * 2
        whole = self._out(xored(temp, _rotated(xored(said, self.operator), _R1)), _C1, 0)
        return whole[:8], whole[8:]

    def f2345(self, rand: bytes) -> tuple[bytes, bytes, bytes, bytes]:
        """RES (8 bytes), CK, IK (16 each), AK (6)."""
        known = self._known(rand)
        second = self._out(known, _C2, _R2)
        ck, ik = self._out(known, _C3, _R3), self._out(known, _C4, _R4)
        return second[8:], ck, ik, second[:6]

    def f5_star(self, rand: bytes) -> bytes:
        """AK for synchronization (6 bytes)."""
        return self._out(self._known(rand), _C5, _R5)[:6]

    def _known(self, rand: bytes) -> bytes:
        """Which all of them but f1 begin with."""
        return xored(self._cipher.encrypted(xored(rand, self.operator)), self.operator)

    def _out(self, known: bytes, constant: bytes, rotation: int) -> bytes:
        return xored(self._cipher.encrypted(xored(_rotated(known, rotation), constant)), self.operator)


@dataclass(frozen=True)
class Vector:
    """What the network keeps for one authentication."""

    rand: bytes
    autn: bytes
    xres: bytes
    ck: bytes
    ik: bytes


def vector(milenage: Milenage, rand: bytes, sqn: int, amf: bytes) -> Vector:
    """`sqn`: 48 bits, larger than all before; `amf`: 2 bytes."""
    number = sqn.to_bytes(SQN_BYTES, "big")
    mac, _ = milenage.f1(rand, number, amf)
    res, ck, ik, ak = milenage.f2345(rand)
    return Vector(rand, xored(number, ak) + amf + mac, res, ck, ik)


def synchronized(milenage: Milenage, rand: bytes, auts: bytes) -> int | None:
    """The number up to which a subscriber has counted, of `auts`, with which it refused that `rand` (14
    bytes; 3GPP TS 33.102, 6.3.3). None: it is none of its."""
    number = xored(auts[:SQN_BYTES], milenage.f5_star(rand))
    _, mac = milenage.f1(rand, number, _NO_AMF)
    return int.from_bytes(number, "big") if mac == auts[SQN_BYTES:] else None


def _rotated(block: bytes, count: int) -> bytes:
    """To the left."""
    assert len(block) == BLOCK_BYTES
    return block[count:] + block[:count]
