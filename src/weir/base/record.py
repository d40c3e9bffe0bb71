# SPDX-License-Identifier: Apache-2.0
"""The bases of what users write and of what Weir writes down: results, models, explanations; what is wrong
with one, in a sentence; and their JSON Schemas (2020-12), as they are committed in schema/.

Unknown keys are errors. The words beneath a record's field describe it in schemas and reference pages.
"""

from __future__ import annotations

import ast
import hashlib
import inspect
import itertools
import json
from collections.abc import Iterator
from textwrap import dedent
from typing import Any

from pydantic import BaseModel, ConfigDict, GetJsonSchemaHandler, TypeAdapter, ValidationError
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

SCHEMA_ID = "https://json-schema.org/draft/2020-12/schema"


class Record(BaseModel):
    """Filled in as it becomes known."""

    model_config = ConfigDict(extra="forbid")

    @classmethod
    def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        """With the words beneath its fields. Read when a class is made, as by pydantic's
        use_attribute_docstrings, they took an eighth of the time in which a command begins."""
        schema = handler(core)
        properties = handler.resolve_ref_schema(schema).get("properties", {})
        for name, words in _words_beneath(cls):
            if name in properties:
                properties[name].setdefault("description", words)
        return schema


class FixedRecord(Record):
    """Never changes once it is made."""

    model_config = ConfigDict(frozen=True)


class LabSection(BaseModel):
    """One mapping of the lab file. Never changes once it is read."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


def _words_beneath(record: type[Record]) -> Iterator[tuple[str, str]]:
    """Each field that has some, and they; of a class before those of its bases."""
    for each in record.__mro__[: record.__mro__.index(Record)]:
        body = ast.parse(dedent(inspect.getsource(each))).body[0]
        assert isinstance(body, ast.ClassDef)
        for field, beneath in itertools.pairwise(body.body):
            match field, beneath:
                case (
                    ast.AnnAssign(target=ast.Name(id=name)),
                    ast.Expr(value=ast.Constant(value=str() as words)),
                ):
                    yield name, inspect.cleandoc(words)


class _OneOrMany:
    """A sequence of which a lab may also name just one item."""

    @classmethod
    def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        many = handler(core)
        return {"anyOf": [many["items"], many]}


ONE_OR_MANY = _OneOrMany()
"""Of a tuple, with BeforeValidator(listed)."""


def listed(value: object) -> object:
    """One item as a sequence of it."""
    if isinstance(value, str | int | float) and not isinstance(value, bool):
        return (value,)
    return tuple(value) if isinstance(value, list) else value


def first_fault(error: ValidationError) -> tuple[str, str]:
    """Where it is, "a.0.b" or nothing for the whole, and what is wrong with it."""
    first = error.errors()[0]
    return ".".join(map(str, first["loc"])), first["msg"].removeprefix("Value error, ")


def fault_text(error: ValidationError) -> str:
    """Both: "a.0.b: Field required"."""
    place, what = first_fault(error)
    return f"{place}: {what}" if place else what


def document_schema(shape: type[Any], title: str) -> dict[str, Any]:
    """The schema of a document that Weir writes: of a record, or of a list of them."""
    body = TypeAdapter(shape).json_schema(mode="serialization")
    return {"$schema": SCHEMA_ID, "title": title} | {
        key: value for key, value in body.items() if key != "title"
    }


def spec_sha256(spec: BaseModel) -> str:
    """The same for files that are the same when all defaults are filled in, and for no others."""
    text = json.dumps(spec.model_dump(mode="json"), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()
