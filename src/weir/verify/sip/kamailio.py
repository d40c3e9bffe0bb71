# SPDX-License-Identifier: Apache-2.0
"""Kamailio: how it is run, and what it counts."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

PROGRAM, ASK = "/usr/sbin/kamailio", "/usr/sbin/kamcmd"
CONTROL = "ctl"
"""Its socket, in its directory."""
_SHARED_MB, _OWN_MB = "1024", "16"
"""Calls have some of the former for seconds after their end. Seen with 128 MB: after 1,300 calls through the
IMS it refused what came, whatever the rate. None of it is taken before it is used."""
_COUNTER = re.compile(r"^\s*(?P<name>[\w:]+) = (?P<value>\d+)\s*$", re.MULTILINE)
_PEER_STATE = re.compile(r"^\s*State: (?P<state>\w+)", re.MULTILINE)
OPEN = frozenset({"I_Open", "R_Open"})


@dataclass(frozen=True)
class Counters:
    """Of one function since its start. Calls: each once."""

    registered: int
    invited: int
    """Calls that came to it."""
    answered: int
    """And these three: how each ended first, as it saw it."""
    refused: int
    cancelled: int
    active: int
    """Transactions that have not ended."""

    def since(self, before: Counters) -> Counters:
        """What was counted meanwhile; `active` as it is."""
        return Counters(
            self.registered - before.registered,
            self.invited - before.invited,
            self.answered - before.answered,
            self.refused - before.refused,
            self.cancelled - before.cancelled,
            self.active,
        )


def words(file: str) -> list[str]:
    """With its configuration."""
    return [PROGRAM, "-DD", "-E", "-m", _SHARED_MB, "-M", _OWN_MB, "-f", file]


def asked(directory: str, *command: str) -> list[str]:
    """Words that ask it."""
    return [ASK, "-s", f"unix:{directory}/{CONTROL}", *command]


STATISTICS = ("stats.get_statistics", "all")
PEERS = ("cdp.list_peers",)


def counters(text: str) -> Counters:
    """From the answer to STATISTICS. KeyError if one is missing."""
    found: Mapping[str, int] = {one["name"]: int(one["value"]) for one in _COUNTER.finditer(text)}
    return Counters(
        registered=found["script:registered"],
        invited=found["script:invited"],
        answered=found["script:answered"],
        refused=found["script:refused"],
        cancelled=found["script:cancelled"],
        active=found["tmx:active_transactions"],
    )


def peers_open(text: str) -> bool:
    """From the answer to PEERS: whether it has one, and all are open."""
    states = [one["state"] for one in _PEER_STATE.finditer(text)]
    return bool(states) and all(state in OPEN for state in states)
