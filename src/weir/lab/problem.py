# SPDX-License-Identifier: Apache-2.0
"""What is wrong with a lab file, and where."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from weir.base.error import USAGE, WeirError


@dataclass(frozen=True)
class Problem:
    """One thing to mend. `line` and `column` count from 1; 0 where the file itself is the problem."""

    file: str
    line: int
    column: int
    key: str  # dotted: "traffic.frames[1]"; empty for the whole file
    message: str
    expected: str | None = None
    nearest: str | None = None

    def __str__(self) -> str:
        place = self.file if not self.line else f"{self.file}:{self.line}:{self.column}"
        text = f"{place}: {self.key}: {self.message}" if self.key else f"{place}: {self.message}"
        if self.expected:
            text += f"; expected {self.expected}"
        if self.nearest:
            text += f" (did you mean {self.nearest}?)"
        return text


class LabFileError(WeirError):
    """A lab or fleet that cannot be used. `problems` is all that is wrong, in the order of the file."""

    exit_code = USAGE
    located = True

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(sorted(problems, key=lambda problem: (problem.line, problem.column)))
        super().__init__("\n".join(str(problem) for problem in self.problems))


def did_you_mean(name: object, known: Sequence[str]) -> str:
    """The end of an error about an unknown name: " (did you mean ovs?)"; empty if no known one is near."""
    near = nearest(name, known)
    return f" (did you mean {near}?)" if near else ""


def nearest(name: object, known: Sequence[str]) -> str | None:
    """The known name that `name` most likely stands for, or None."""
    text = str(name)
    by_lower = {item.lower(): item for item in known}
    found = difflib.get_close_matches(text.lower().replace("_", "-"), list(by_lower), n=1, cutoff=0.6)
    found = found or difflib.get_close_matches(text.lower(), list(by_lower), n=1, cutoff=0.6)
    return by_lower[found[0]] if found else None
