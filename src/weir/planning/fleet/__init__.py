# SPDX-License-Identifier: Apache-2.0
"""Many chains on many hosts: who stands where at the least cost, and how far that is from the least possible.

`Search` does it; `instance` says of what. HiGHS solves the linear and integer programs.
"""

from __future__ import annotations

from weir.planning.fleet.answer import placement_of
from weir.planning.fleet.from_file import fleet_of
from weir.planning.fleet.instance import ChainClass, Fleet, HostClass, Rule
from weir.planning.fleet.room import Room
from weir.planning.fleet.search import Answer, Search, Standing
from weir.planning.fleet.stop import Stop

__all__ = [
    "Answer",
    "ChainClass",
    "Fleet",
    "HostClass",
    "Room",
    "Rule",
    "Search",
    "Standing",
    "Stop",
    "fleet_of",
    "placement_of",
]
