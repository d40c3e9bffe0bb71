# SPDX-License-Identifier: Apache-2.0
"""The control protocol: its commands and its JSON Schema.

Committed as schema/dataplane.schema.json. A contract test compares the commands with those that the built
weir-dp describes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict
from pydantic.json_schema import models_json_schema

from weir.lab.document_schema import SCHEMA_ID, as_text
from weir.protocol import messages, requests

PROTOCOL_VERSION = 1


class _Shape(BaseModel):
    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)


class Configured(_Shape):
    """The ports that are open now."""

    ports: tuple[messages.ConfiguredPort, ...]


class Taught(_Shape):
    """Frames that were sent."""

    sent: int


class Traced(_Shape):
    """What became of each frame, in their order."""

    outcomes: tuple[messages.Outcome, ...]


class Exchanged(_Shape):
    """What arrived at each port, in its order."""

    frames: dict[str, tuple[str, ...]]


class Started(_Shape):
    """The run that has begun."""

    run: int


class RunState(_Shape):
    """Still running, stopped by `stop` before its end, or done with the counts of `TrafficResult`."""

    model_config = ConfigDict(extra="allow")

    state: Literal["running", "stopped", "done"]


class Failure(_Shape):
    """Why a command was not done."""

    code: Literal["bad_request", "bad_argument", "bad_rule", "bad_state", "port_failed", "no_memory"]
    """For programs."""
    message: str
    """What happened."""
    where: str | None = None
    """Which part of the request, such as "areas[2].core"."""
    expected: str | None = None
    """What would have been right."""
    fix: str | None = None
    """What to do."""


class Answer(_Shape):
    """One line for each request, in order."""

    id: int | None
    """The request's; null if the request could not be read."""
    ok: bool
    result: dict[str, Any] | None = None
    error: Failure | None = None


@dataclass(frozen=True)
class Command:
    """A command with the shapes of its arguments and its result; None: a result without content."""

    name: str
    arguments: type[BaseModel]
    result: type[BaseModel] | None


COMMANDS = (
    Command("hello", requests.Nothing, messages.Hello),
    Command("describe", requests.Nothing, None),
    Command("configure", requests.Configure, Configured),
    Command("nf.command", requests.NfCommand, None),
    Command("nf.report", requests.NfReportAsked, messages.NfReport),
    Command("trace", requests.Trace, Traced),
    Command("exchange", requests.Exchange, Exchanged),
    Command("start", requests.Nothing, None),
    Command("stop", requests.Nothing, None),
    Command("reset", requests.Nothing, None),
    Command("teach", requests.Teach, Taught),
    Command("traffic.configure", requests.TrafficConfigure, None),
    Command("traffic.start", requests.TrafficStart, Started),
    Command("traffic.result", requests.TrafficWait, RunState),
    Command("traffic.so_far", requests.Nothing, messages.TrafficSoFar),
    Command("traffic.interval", requests.Nothing, messages.TrafficInterval),
    Command("traffic.finish", requests.Nothing, None),
    Command("traffic.delays", requests.DelaysAsked, messages.DelayHistogram),
    Command("ledger", requests.Nothing, messages.Ledger),
    Command("quit", requests.Nothing, None),
)


def protocol_schema() -> dict[str, Any]:
    """JSON Schema (2020-12) of a request; answers and results are in its `$defs`."""
    shapes: list[type[BaseModel]] = [command.arguments for command in COMMANDS]
    shapes += [command.result for command in COMMANDS if command.result is not None]
    shapes += [messages.TrafficResult, Answer]
    _, body = models_json_schema([(shape, "validation") for shape in dict.fromkeys(shapes)])
    return {
        "$schema": SCHEMA_ID,
        "title": f"Request to weir-dp, protocol {PROTOCOL_VERSION}",
        "oneOf": [_request(command) for command in COMMANDS],
        "$defs": body["$defs"],
    }


def schema_text() -> str:
    """The schema as it is committed."""
    return as_text(protocol_schema())


def _request(command: Command) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {
            "id": {"type": "integer"},
            "cmd": {"const": command.name},
            "args": {"$ref": f"#/$defs/{command.arguments.__name__}"},
        },
        "required": ["id", "cmd"],
        "additionalProperties": False,
    }
