# SPDX-License-Identifier: Apache-2.0
"""Who else had the cores that take part in a trial, as measuring asks for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol


class Taken(Protocol):
    """A thread's time on a core that takes part, by CLOCK_MONOTONIC_RAW."""

    @property
    def core(self) -> int: ...

    @property
    def from_raw_ns(self) -> int: ...

    @property
    def to_raw_ns(self) -> int: ...

    @property
    def by(self) -> str:
        """Who had it."""

    @property
    def takes_part(self) -> bool:
        """Whether it did the system under test's work there."""


class CoreWatch(Protocol):
    """Looks at the cores during a trial; costs nothing while nobody else has them."""

    def begin(self) -> None:
        """Just before."""

    def end(self) -> Sequence[Taken]:
        """Just after."""


class Unwatched:
    """Where polling loops alone tell."""

    def begin(self) -> None:
        """Looks at nothing."""

    def end(self) -> Sequence[Taken]:
        """Saw nobody."""
        return []
