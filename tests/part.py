# SPDX-License-Identifier: Apache-2.0
"""A part of what takes many hours to try: WEIR_PART=3/12 is the third of twelve that add up to the whole."""

from __future__ import annotations

import hashlib
import os
import re
from dataclasses import dataclass

VARIABLE = "WEIR_PART"


@dataclass(frozen=True)
class Part:
    """The `number`th of `parts`, from one."""

    number: int = 1
    parts: int = 1

    @classmethod
    def asked(cls) -> Part:
        """What the environment asks for; nothing: the whole. ValueError says what was expected."""
        text = os.environ.get(VARIABLE) or "1/1"
        found = re.fullmatch(r"(\d+)/(\d+)", text)
        number, parts = map(int, found.groups()) if found else (0, 0)
        if not 1 <= number <= parts:
            raise ValueError(f"{VARIABLE}={text}: expected PART/PARTS, as 3/12, with a part from 1 to PARTS")
        return cls(number, parts)

    def __str__(self) -> str:
        return f"{self.number}/{self.parts}"

    def has(self, name: str) -> bool:
        """Whether what is called so is in it. By the name alone: what else there is may vary from run to run,
        as the system calls of a command do, and still nothing is in two parts or in none."""
        hashed = int.from_bytes(hashlib.sha256(name.encode()).digest()[:8])
        return hashed % self.parts == self.number - 1

    def share(self, count: int) -> int:
        """So many of `count` things that have no names: all parts together have all of them."""
        return count * self.number // self.parts - count * (self.number - 1) // self.parts
