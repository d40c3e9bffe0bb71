# SPDX-License-Identifier: Apache-2.0
"""firewall-500k-rules: 500,000 rules, built within 5 s, and looked up in at most twice the time of 40,000.

build/native/classifier-bench builds the large set anew each round and looks packets up in both. Two lines
for each kind of rule set: `…-build` against the limit, and the look-up against 40,000 rules, where 1 means as
fast as those. A packet that gets another rule than by looking through all in turn fails the bench.
"""

from __future__ import annotations

from collections.abc import Iterator

from bench.firewall import KINDS, MANY
from bench.native_program import Answer, answers
from bench.pairs import Line, line

NAME = "firewall-500k-rules"
RULES = 500_000
BUILD_LIMIT_S = 5.0
LOOK_UP_TARGET = 0.5
ROUNDS = 5
MEMORY_MB = 64  # EAL's own: rules are in ordinary memory


def run() -> list[Line]:
    """Two ratios for each kind of rule set."""
    return [found for kind in KINDS for found in _lines(kind)]


def _lines(kind: str) -> Iterator[Line]:
    rounds = answers("classifier-bench", kind, RULES, MANY, ROUNDS, memory_mb=MEMORY_MB)
    _agree(kind, rounds)
    built = [(float(one["build_s"]), BUILD_LIMIT_S) for one in rounds]
    yield line(f"{NAME}-{kind}-build", built, target=1.0, unit="s", less_is_better=True)
    looked_up = [(float(one["many"]), float(one["few"])) for one in rounds]
    yield line(f"{NAME}-{kind}", looked_up, target=LOOK_UP_TARGET, unit="ns", less_is_better=True)


def _agree(kind: str, rounds: list[Answer]) -> None:
    differing = sum(int(one["disagreements"]) for one in rounds)
    if differing:
        raise RuntimeError(f"{kind}: {differing} packets got another rule than the first that they match")
