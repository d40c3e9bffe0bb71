# SPDX-License-Identifier: Apache-2.0
"""weir-dp's control protocol: a table of commands and a JSON Schema, from the types of plans and client.

Committed as schema/dataplane.schema.json. A contract test compares the commands with those that the built
weir-dp describes, and the keys with those that it accepts.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import ModuleType
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict
from pydantic.json_schema import models_json_schema

from weir.base.record import SCHEMA_ID
from weir.protocol import configuration, connections, ledger, traffic, traffic_results
from weir.protocol.client import PROTOCOL_VERSION
from weir.protocol.configuration import Request

MODULES = (configuration, traffic, connections, ledger, traffic_results)


class _Shape(BaseModel):
    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)


class Answer(_Shape):
    """One line for each request, in order."""

    id: int | None
    """The request's; null if the request could not be read."""
    ok: bool
    result: dict[str, Any] | None = None
    error: Failure | None = None


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


@dataclass(frozen=True)
class Command:
    """A command with the shapes of its arguments and its result; None: a result without content."""

    name: str
    arguments: type[Request]
    result: type[BaseModel] | None


COMMANDS = (
    Command("hello", configuration.Nothing, ledger.Hello),
    Command("describe", configuration.Nothing, None),
    Command("configure", configuration.Configure, ledger.Configured),
    Command("nf.command", configuration.NfCommand, None),
    Command("nf.report", configuration.NfReportAsked, ledger.NfReport),
    Command("nf.listen", configuration.NfListen, None),
    Command("trace", configuration.Trace, ledger.Traced),
    Command("exchange", configuration.Exchange, ledger.Exchanged),
    Command("start", configuration.Nothing, None),
    Command("stop", configuration.Nothing, None),
    Command("reset", configuration.Nothing, None),
    Command("announce", configuration.Announce, ledger.Announced),
    Command("traffic.configure", traffic.TrafficConfigure, traffic_results.TrafficConfigured),
    Command("traffic.start", traffic.TrafficStart, traffic_results.Started),
    Command("traffic.result", traffic.TrafficWait, traffic_results.RunState),
    Command("traffic.so_far", configuration.Nothing, traffic_results.TrafficSoFar),
    Command("traffic.interval", configuration.Nothing, traffic_results.TrafficInterval),
    Command("traffic.finish", configuration.Nothing, None),
    Command("traffic.delays", traffic.DelaysAsked, traffic_results.DelayHistogram),
    Command("connections.configure", connections.ConnectionsConfigure, None),
    Command("connections.start", connections.ConnectionsStart, None),
    Command("connections.result", connections.ConnectionsWait, connections.ConnectionsResult),
    Command("ledger", configuration.Nothing, ledger.Ledger),
    Command("quit", configuration.Nothing, None),
)


def protocol_schema() -> dict[str, Any]:
    """JSON Schema (2020-12) of a request; answers and results are in its `$defs`."""
    shapes: list[type[BaseModel]] = [command.arguments for command in COMMANDS]
    shapes += [command.result for command in COMMANDS if command.result is not None]
    shapes += [traffic_results.TrafficResult, Answer]
    _, body = models_json_schema([(shape, "validation") for shape in dict.fromkeys(shapes)])
    for name, definition in body["$defs"].items():
        _describe(definition, _documented(name))
    return {
        "$schema": SCHEMA_ID,
        "title": f"Request to weir-dp, protocol {PROTOCOL_VERSION}",
        "oneOf": [_request(command) for command in COMMANDS],
        "$defs": body["$defs"],
    }


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


def _describe(definition: dict[str, Any], documented: Mapping[str, str]) -> None:
    """Gives properties the words beneath their fields. Not read when the classes are made: `weir run` would
    wait for that."""
    for key, shape in definition.get("properties", {}).items():
        said = documented.get(key) or documented.get(f"{key}_")
        if said:
            shape["description"] = said


def _documented(name: str) -> dict[str, str]:
    """By field of the class of that name, its bases' among them."""
    found: dict[str, str] = {}
    for module in MODULES:
        shape = getattr(module, name, None)
        if shape is not None and shape.__module__ == module.__name__:
            for base in reversed(shape.__mro__):
                found |= _docstrings(module).get(base.__name__, {})
    return found


@cache
def _docstrings(module: ModuleType) -> dict[str, dict[str, str]]:
    """By class and field: the string that follows the field."""
    found: dict[str, dict[str, str]] = {}
    for node in ast.parse(inspect.getsource(module)).body:
        if isinstance(node, ast.ClassDef):
            fields = found[node.name] = {}
            for field, after in zip(node.body, node.body[1:], strict=False):
                if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
                    match after:
                        case ast.Expr(value=ast.Constant(value=str(said))):
                            fields[field.target.id] = inspect.cleandoc(said)
    return found
