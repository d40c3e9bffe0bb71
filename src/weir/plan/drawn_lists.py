# SPDX-License-Identifier: Apache-2.0
"""Lists that random labs give to functions, so long that what they cost shows. None of their rules is for
the tester's packets, so that each packet is held against all."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random


@dataclass(frozen=True)
class DrawnList:
    """The list of one function."""

    option: str
    file_option: str
    """In place of which it stands."""
    least: int
    """Entries without which the function does nothing."""
    entry: Callable[[Random, int], str]
    """By its number."""

    def text(self, entries: int, random: Random) -> str:
        """So many of them, each another one."""
        found: dict[str, None] = {}
        while len(found) < entries:
            found[self.entry(random, len(found))] = None
        return ", ".join(found)


def _prefix(random: Random) -> str:
    """Of 10.0.0.0/8, from which the tester sends nothing."""
    length = random.randint(9, 32)
    address = (10 << 24 | random.getrandbits(24)) >> 32 - length << 32 - length
    return f"{'.'.join(str(address >> shift & 255) for shift in (24, 16, 8, 0))}/{length}"


def _rule(random: Random, number: int) -> str:
    del number
    return f"deny udp {_prefix(random)} any"


def _route(random: Random, number: int) -> str:
    """The first one is the tester's packets' own."""
    return f"{_prefix(random) if number else '0.0.0.0/0'} default"


def _back_end(random: Random, number: int) -> str:
    """Of the one service, to which the tester sends."""
    del random
    return f"198.19.0.1:1024/udp 198.19.{1 + number // 250}.{1 + number % 250}:1024"


LISTS: Mapping[str, DrawnList] = {
    "acl": DrawnList("rule_list", "rules", 0, _rule),
    "l3fwd": DrawnList("route_list", "routes", 0, _route),
    "lb": DrawnList("services", "services_file", 1, _back_end),
}
