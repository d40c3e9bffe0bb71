# SPDX-License-Identifier: Apache-2.0
"""A chain that spans hosts: what the tester's host and the others, which build their parts of it, say to each
other. The head hands their lines on.
"""

from __future__ import annotations

from typing import Annotated, Literal, Protocol

from pydantic import Field

from weir.base.error import ChainError
from weir.base.record import FixedRecord
from weir.results.fingerprint import Fingerprint


class PartError(ChainError):
    """Another host could not build its part, or cannot say what that counts."""


class Place(FixedRecord):
    """Which of the lab's hosts a machine is, and how the others are reached."""

    host: str
    """As the lab calls it."""
    machines: dict[str, str]
    """Of every host: the machine, as the cluster calls it."""
    addresses: dict[str, str]
    """Of every host: its address in the cluster."""


class BuildPart(FixedRecord):
    """Build your part of that deployment."""

    kind: Literal["build-part"] = "build-part"
    name: str
    """Of the technology or variant."""
    chain: str
    deployment: str


class CountPart(FixedRecord):
    """Say what your part has counted."""

    kind: Literal["count-part"] = "count-part"


class TakeDownPart(FixedRecord):
    """Take your part down, as far as it stands."""

    kind: Literal["take-down-part"] = "take-down-part"


class PartStands(FixedRecord):
    """It is built, its ports are open and its loops poll."""

    kind: Literal["part-stands"] = "part-stands"
    fingerprint: Fingerprint
    boot_id: str
    fidelity: tuple[str, ...]
    """What is said of this part, in sentences."""


class Count(FixedRecord):
    """One counter of a part; only differences of two readings mean something."""

    place: str
    reason: str | None = None
    """A symbol; None for packets, and for what a function made."""
    kind: Literal["drop", "packets", "originated"]
    value: int


class PartCounted(FixedRecord):
    """Drops, packets at the wires between hosts, and what functions made."""

    kind: Literal["part-counted"] = "part-counted"
    counts: tuple[Count, ...]


class PartDown(FixedRecord):
    """The answer to being taken down, whatever came before."""

    kind: Literal["part-down"] = "part-down"
    left: str | None = None
    """What could not be taken down, and why; None: nothing is left of it."""


class PartFailed(FixedRecord):
    """It could not be built or counted, and does not stand any more."""

    kind: Literal["part-failed"] = "part-failed"
    why: str


PartOrder = BuildPart | CountPart | TakeDownPart
PartAnswer = PartStands | PartCounted | PartDown | PartFailed


class ToPart(FixedRecord):
    """From the tester's host, for another one."""

    kind: Literal["to-part"] = "to-part"
    host: str
    """As the lab calls it."""
    order: Annotated[PartOrder, Field(discriminator="kind")]


class FromPart(FixedRecord):
    """To the tester's host, from another one."""

    kind: Literal["from-part"] = "from-part"
    host: str
    answer: Annotated[PartAnswer, Field(discriminator="kind")]


class Talk(Protocol):
    """How the tester's host reaches the others."""

    @property
    def place(self) -> Place:
        """Which host this is, and who the others are."""

    def tell(self, host: str, order: PartOrder) -> None:
        """Orders are answered one by one."""

    def hear(self, host: str, within_s: float, *, ending: bool = False) -> PartAnswer:
        """Its next answer. PartError if none comes in time; KeyboardInterrupt when this was stopped, unless
        all is `ending` anyway."""
