# SPDX-License-Identifier: Apache-2.0
"""What the regimes that take many hours have tried: a line for each part in docs/design/regime.jsonl, from
which `python -m tools.docs` makes the tables of docs/design/regime.md.

Where WEIR_RECORD is set, tests write their lines, and tools/fuzz writes one a target by
`python -m tools.regime TARGET EXECUTIONS FAULTS SECONDS`.
"""

from __future__ import annotations

import dataclasses
import datetime
import json
import os
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from bench import conditions

ROOT = Path(__file__).resolve().parents[1]
LINES = "docs/design/regime.jsonl"
VARIABLE = "WEIR_RECORD"
WATCHED = ("meson.build", "native", "src", "tests")
"""What a line depends on: with other changes a commit is as it is."""

What = Literal["points", "sequences", "executions"]
TARGETS: dict[What, int] = {"points": 10_000, "sequences": 100_000, "executions": 1_000_000_000}
"""Asked for, in all."""


class RegimeError(Exception):
    """What is wrong with a line, where, and what was expected."""


@dataclass(frozen=True)
class Tried:
    """One part of one regime, as it was tried once."""

    what: What
    of: str
    """The command, the state machine or the fuzz target."""
    commit: str
    """`-dirty` at its end: with changes that are not committed."""
    date: str
    """UTC."""
    part: str
    """ "3/12"."""
    seed: int
    asked: int
    """So many were to be tried."""
    tried: int
    not_come_to: int
    """Points that the command did not reach in that run."""
    faults: int
    seconds: float

    @classmethod
    def now(
        cls,
        what: What,
        of: str,
        *,
        asked: int,
        tried: int,
        faults: int,
        seconds: float,
        part: str = "1/1",
        seed: int = 0,
        not_come_to: int = 0,
    ) -> Tried:
        """Of this tree, at this time."""
        return cls(
            what=what,
            of=of,
            commit=conditions.commit(ROOT, WATCHED),
            date=datetime.datetime.now(datetime.UTC).date().isoformat(),
            part=part,
            seed=seed,
            asked=asked,
            tried=tried,
            not_come_to=not_come_to,
            faults=faults,
            seconds=round(seconds, 1),
        )


def wanted() -> bool:
    """Whether what is tried is to be written down."""
    return bool(os.environ.get(VARIABLE))


def record(tried: Tried, path: Path = ROOT / LINES) -> None:
    """Adds its line. OSError."""
    with path.open("a", encoding="utf-8") as lines:
        lines.write(json.dumps(dataclasses.asdict(tried)) + "\n")


def read(path: Path = ROOT / LINES) -> list[Tried]:
    """All lines, in their order. RegimeError names the first one that is none."""
    found = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        try:
            found.append(Tried(**json.loads(line)))
        except (TypeError, ValueError) as error:
            message = f"{path}:{number}: expected the fields of tools/regime.py's Tried: {error}"
            raise RegimeError(message) from error
        if found[-1].what not in TARGETS:
            expected = ", ".join(get_args(What))
            raise RegimeError(f"{path}:{number}: tried {found[-1].what!r}; expected one of {expected}")
    return found


def counting(lines: Iterable[Tried]) -> list[Tried]:
    """Those that add up, with nothing in two of them. What was tried again, as on a later commit, counts
    once, by the line that tried most; what was divided in several ways by the division that has most.
    Executions are random: all of them count."""
    found: list[Tried] = []
    divided: dict[tuple[What, str], dict[tuple[str, int], dict[str, Tried]]] = {}
    for one in lines:
        if one.what == "executions":
            found.append(one)
            continue
        _, _, parts = one.part.partition("/")
        same = divided.setdefault((one.what, one.of), {}).setdefault((parts, one.seed), {})
        if one.part not in same or same[one.part].tried <= one.tried:
            same[one.part] = one
    for ways in divided.values():
        found += max(ways.values(), key=lambda parts: sum(one.tried for one in parts.values())).values()
    return found


def main(words: Sequence[str]) -> int:
    """Writes the line of a fuzz target; exit code 2 for wrong usage."""
    try:
        target, executions, faults, seconds = words
        tried = int(executions)
        line = Tried.now(
            "executions", target, asked=tried, tried=tried, faults=int(faults), seconds=float(seconds)
        )
    except ValueError:
        print(__doc__, file=sys.stderr)
        return 2
    record(line)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
