# SPDX-License-Identifier: Apache-2.0
"""What the head of a campaign and the program that measures on a host say to each other: JSON lines.

The host writes down what it measures as a store would be told it; the head writes that into its store.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, Literal

from pydantic import Field, TypeAdapter, ValidationError

from weir.base.error import WeirError
from weir.base.record import FixedRecord, fault_text
from weir.hosts.parts import FromPart, PartAnswer, PartOrder, Place, ToPart
from weir.results.campaign import SharedCampaign
from weir.results.host_offer import HostOffer
from weir.results.result import Case, Result, Setup, Trial

LINE_BYTES = 16 << 20
"""A longer line is none of a head's: no host reads on."""
PIECE_CHARACTERS = 1 << 20
"""Of a run of before in one line. JSON within JSON is a few times as long."""


class MessageError(WeirError):
    """A line is none of these: the other side is another program, or another Weir."""


class Begin(FixedRecord):
    """To a host, first: of which lab."""

    kind: Literal["begin"] = "begin"
    shared: SharedCampaign
    quick: bool
    seed: int | None = None
    """Of the order of the campaign; the head has it."""
    budget_s: float | None = None
    """Of the campaign with all its parts; the head keeps it."""
    earlier_pieces: int = 0
    """So many `Earlier` follow: this host's run of before, if it may go on. It has its setups from 0 on."""
    place: Place | None = None
    """Of a lab whose chains span hosts."""


class Earlier(FixedRecord):
    """To a host, after `Begin`: a piece of its run of before, as JSON. Whole it is longer than a line may be,
    since it has all trials."""

    kind: Literal["earlier"] = "earlier"
    text: str


class Measure(FixedRecord):
    """To a host: one frame size of one set-up, once."""

    kind: Literal["measure"] = "measure"
    name: str
    """Of the technology or variant."""
    chain: str
    frame: str
    round: int
    """From 0."""


class End(FixedRecord):
    """To a host: nothing comes any more but what it measures once more by itself."""

    kind: Literal["end"] = "end"
    left_s: float | None = None
    """Of the budget, for that; None: no limit."""


class Possible(FixedRecord):
    """Whether a host can measure a set-up."""

    name: str
    chain: str
    refused: str | None = None
    """Why not."""


class Offered(FixedRecord):
    """From a host, first."""

    kind: Literal["offered"] = "offered"
    offer: HostOffer
    setups: tuple[Possible, ...]
    """Of the lab."""


class RunBegun(FixedRecord):
    """A run of this host begins; without setups."""

    kind: Literal["run-begun"] = "run-begun"
    result: Result


class RunKnown(FixedRecord):
    """What is known of the run by now; without setups."""

    kind: Literal["run"] = "run"
    result: Result


class SetupKnown(FixedRecord):
    """A new setup, or what is known of it by now; without cases."""

    kind: Literal["setup"] = "setup"
    number: int
    """On that host, from 0."""
    setup: Setup


class TrialKept(FixedRecord):
    """A finished trial of the case that is measured."""

    kind: Literal["trial"] = "trial"
    number: int
    """The setup's."""
    frame: str
    mean_frame_bytes: float
    trial: Trial


class CaseKept(FixedRecord):
    """A case with one more round, or judged again."""

    kind: Literal["case"] = "case"
    number: int
    case: Case


class CaseRemoved(FixedRecord):
    """Nothing of it counts."""

    kind: Literal["case-removed"] = "case-removed"
    number: int
    frame: str


class Showed(FixedRecord):
    """What the host is at, for whoever shows it; or a line that stays."""

    kind: Literal["showed"] = "showed"
    text: str
    stays: bool = False


class Visited(FixedRecord):
    """What was asked for has come to its end, whatever it found."""

    kind: Literal["visited"] = "visited"


class Failed(FixedRecord):
    """The last word of a host that can do nothing: why."""

    kind: Literal["failed"] = "failed"
    why: str


Order = Begin | Earlier | Measure | End | FromPart | PartOrder
"""What a host may be told."""
ToHost = Annotated[Order, Field(discriminator="kind")]
ToKeep = RunBegun | RunKnown | SetupKnown | TrialKept | CaseKept | CaseRemoved
"""What a host tells its store."""
Word = Offered | ToKeep | Showed | Visited | Failed | ToPart | PartAnswer
"""What a host may say."""
FromHost = Annotated[Word, Field(discriminator="kind")]
_RUN: TypeAdapter[Any] = TypeAdapter(Result)
_TO: TypeAdapter[Any] = TypeAdapter(ToHost)
_FROM: TypeAdapter[Any] = TypeAdapter(FromHost)


def to_host(line: str) -> Order:
    """What the head says. MessageError."""
    return _read(_TO, line)  # type: ignore[no-any-return]


def from_host(line: str) -> Word:
    """What a host says. MessageError."""
    return _read(_FROM, line)  # type: ignore[no-any-return]


def pieces(before: Result) -> list[Earlier]:
    """A run of before, as its host gets it."""
    text, size = before.model_dump_json(), PIECE_CHARACTERS
    return [Earlier(text=text[at : at + size]) for at in range(0, len(text), size)]


def whole(earlier: Iterable[Earlier]) -> Result:
    """The run that these are pieces of. MessageError."""
    return _read(_RUN, "".join(one.text for one in earlier))  # type: ignore[no-any-return]


def _read(adapter: TypeAdapter[Any], line: str) -> Any:
    try:
        return adapter.validate_json(line)
    except ValidationError as error:
        raise MessageError(
            f"{line[:80]!r} is no message of a campaign: {fault_text(error)}; install the same Weir on all "
            "hosts, and on the one that runs `weir run`"
        ) from error
