# SPDX-License-Identifier: Apache-2.0
"""What pydantic found wrong with a lab, in a user's words: what is, what was expected, the nearest name."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from weir.lab.nf import network_functions
from weir.lab.overlay import lab_schema
from weir.lab.problem import Problem, nearest
from weir.lab.source import KeyPath, Source, dotted

Schema = dict[str, Any]
LISTED_KEYS = 8  # more say less: the reference has them
_TYPES = {
    "integer": "a whole number",
    "number": "a number",
    "string": "a text",
    "boolean": "true or false",
    "array": "a list",
    "object": "a mapping",
    "null": "nothing",
}
_EXPECTED = re.compile(r"^(?:(?P<said>.*?); )?expected (?P<expected>.*)$", re.DOTALL)


@dataclass(frozen=True)
class Complaint:
    """One thing that is wrong with the values of a lab. `about`: the paths whose values it judges."""

    path: KeyPath
    message: str
    expected: str | None = None
    nearest: str | None = None
    about: tuple[KeyPath, ...] = ()


def located(source: Source, one: Complaint) -> Problem:
    """The complaint with its place in the file."""
    known = next(one.path[:end] for end in range(len(one.path), -1, -1) if one.path[:end] in source.places)
    place = source.places[known]
    missing = tuple(part for part in one.path[len(known) :] if isinstance(part, str))
    key = ".".join(part for part in (place.key, dotted(missing)) if part)
    return Problem(source.file, place.line, place.column, key, one.message, one.expected, one.nearest)


def complaints_about(error: ValidationError, schema: Schema | None = None) -> list[Complaint]:
    """The complaints behind an error of `model_validate_json`, of a lab or of what has that schema."""
    root = schema or _lab_schema()
    details = error.errors()
    # A list of which no item is good is also called too short; the items' own errors say more.
    faulty = {one["loc"][:end] for one in details for end in range(len(one["loc"]))}
    found = [(one, _complaint(one, root)) for one in details]
    # A key that was mistyped is not missing besides.
    mistyped = {(*said.path[:-1], said.nearest) for one, said in found if one["type"] == "extra_forbidden"}
    return [
        said
        for one, said in found
        if not (one["type"] == "too_short" and one["loc"] in faulty)
        and not (one["type"] == "missing" and one["loc"] in mistyped)
    ]


def _complaint(error: ErrorDetails, root: Schema) -> Complaint:
    path, value, context = error["loc"], error["input"], error.get("ctx", {})
    kind = error["type"]
    if kind == "extra_forbidden":
        return _unknown_key(path, root)
    if kind == "literal_error":
        names = re.findall(r"'([^']*)'|(\d+)", str(context["expected"]))
        known = [quoted or number for quoted, number in names]
        if isinstance(value, str) and value in (number for _, number in names):
            return Complaint(path, f"is the text {show(value)}", f"the number {value}, without quotes")
        return _choice(path, f"unknown value {show(value)}", value, known)
    if kind == "value_error":
        return _said(path, value, str(context["error"]))
    if kind == "missing":
        message, expected = "is missing", _wanted(path, root)
    elif kind in ("model_type", "model_attributes_type", "dict_type"):
        options = _options(_schema_at(path, root)[1], root)
        known = list(dict.fromkeys(key for one in options for key in one.get("properties", ())))
        keys = f": {', '.join(known)}" if 0 < len(known) <= LISTED_KEYS else ""
        message, expected = f"is {show(value)}", f"a mapping of keys and values{keys}"
    elif path[-1:] == ("[key]",):
        path = path[:-1]
        message, expected = "is not a usable name", "small letters, digits and hyphens, 16 at most"
    else:
        path, _ = _schema_at(path, root)
        message, expected = f"is {show(value)}", _wanted(path, root)
    return Complaint(path, message, expected)


def _unknown_key(path: KeyPath, root: Schema) -> Complaint:
    around = _options(_schema_at(path[:-1], root)[1], root)
    known = sorted(key for option in around for key in option.get("properties", ()))
    having = [nf.name for nf in network_functions().values() if nf.option(str(path[-1])) is not None]
    if having and "nf" in known and "options" in known:
        message = f"unknown key; it is an option of {', '.join(having)}"
        return Complaint(path, message, f"it in `options: {{{path[-1]}: …}}`")
    within = [key for option in around for key in _lists_of(option, path[-1], root)]
    if len(within) == 1:
        message = f"unknown key; it is a key of `{within[0]}`"
        return Complaint(path, message, f"it in `{within[0]}: [{{{path[-1]}: …}}]`")
    return _choice(path, "unknown key", path[-1], known)


def _choice(path: KeyPath, message: str, said: object, known: list[str]) -> Complaint:
    listed = ("one of " if len(known) > 1 else "") + ", ".join(known)
    return Complaint(path, message, listed or "no key here", nearest(said, known))


def show(value: Any) -> str:
    """A value as an error quotes it."""
    match value:
        case None:
            return "nothing"
        case bool():
            return str(value).lower()
        case dict():
            return "a mapping"
        case list() | tuple():
            return f"a list of {len(value)}"
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "…"


def _said(path: KeyPath, value: Any, text: str) -> Complaint:
    match = _EXPECTED.match(text)
    if match is None:
        return Complaint(path, text)
    return Complaint(path, match["said"] or f"is {show(value)}", match["expected"])


@functools.cache
def _lab_schema() -> Schema:
    return lab_schema()


def _schema_at(path: KeyPath, root: Schema) -> tuple[KeyPath, Schema]:
    """The schema of what `path` leads to, and as much of `path` as the schema knows."""
    schema = root
    for depth, part in enumerate(path):
        inner: dict[str, Any] | None = None
        for option in _options(schema, root):
            if isinstance(part, int):
                prefix = option.get("prefixItems", [])
                inner = inner or (prefix[part] if part < len(prefix) else option.get("items"))
            else:
                named = option.get("properties", {}).get(part)
                inner = inner or named or option.get("additionalProperties") or _by_pattern(option)
        if not isinstance(inner, dict):
            return path[:depth], schema
        schema = _resolved(inner, root)
    return path, schema


def _lists_of(schema: Schema, key: object, root: Schema) -> list[str]:
    """Its keys that have lists of mappings with such a key."""
    return [
        name
        for name, inner in schema.get("properties", {}).items()
        for option in _options(inner, root)
        for item in _options(option.get("items", {}), root)
        if key in item.get("properties", ())
    ]


def _by_pattern(schema: dict[str, Any]) -> dict[str, Any] | None:
    """What stands under any key of a mapping whose keys are checked by a pattern."""
    return next(iter(schema.get("patternProperties", {}).values()), None)


def _resolved(schema: Schema, root: Schema) -> Schema:
    if "$ref" in schema:
        return {**root["$defs"][schema["$ref"].rpartition("/")[2]], **schema}
    return schema


def _options(schema: Schema, root: Schema) -> list[Schema]:
    """Each with the unit and the limits that stand around it."""
    if "anyOf" not in schema:
        return [_resolved(schema, root)]
    around = {name: schema[name] for name in ("x-unit", *_LIMITS) if name in schema}
    return [around | inner for option in schema["anyOf"] for inner in _options(_resolved(option, root), root)]


def _wanted(path: KeyPath, root: Schema) -> str:
    """What the schema says a value must be: its kind, its range, and what it is for."""
    schema = _schema_at(path, root)[1]
    kinds = dict.fromkeys(
        _kind(option, schema) for option in _options(schema, root) if option.get("type") != "null"
    )
    *most, last = kinds
    text = f"{', '.join(most)} or {last}" if most else last
    what, _, _ = schema.get("description", "").partition(";")
    return f"{text} ({what})" if what else text


def _kind(option: dict[str, Any], around: dict[str, Any]) -> str:
    if "enum" in option:
        return "one of " + ", ".join(str(name) for name in option["enum"])
    if "const" in option:
        return str(option["const"])
    text = _TYPES.get(str(option.get("type")), "a value")
    limits = {**around, **option}
    if option.get("type") in ("integer", "number"):
        text += f" of {limits['x-unit']}" if "x-unit" in limits else ""
        text += _range(limits)
    if option.get("type") == "array":
        least, most = option.get("minItems", 0), option.get("maxItems")
        if most:
            text += f" of {most} items" if least == most else f" of {least} to {most} items"
        elif least:
            text += f" of at least {least} items"
    if option.get("type") == "string":
        examples = [*option.get("examples", ()), *around.get("examples", ())]
        text += f' such as "{examples[0]}"' if examples else ""
        text += f" of at most {option['maxLength']} characters" if "maxLength" in option else ""
    return text


_LIMITS = {
    "minimum": "at least",
    "exclusiveMinimum": "above",
    "maximum": "at most",
    "exclusiveMaximum": "below",
}


def _range(limits: dict[str, Any]) -> str:
    if "minimum" in limits and "maximum" in limits:
        return f" from {limits['minimum']:.12g} to {limits['maximum']:.12g}"
    said = [f"{word} {limits[name]:.12g}" for name, word in _LIMITS.items() if name in limits]
    return " " + " and ".join(said) if said else ""
