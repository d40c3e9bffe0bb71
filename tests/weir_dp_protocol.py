# SPDX-License-Identifier: Apache-2.0
"""Requests to weir-dp, held against the protocol as it is documented."""

from __future__ import annotations

import functools
from typing import Any

from jsonschema import Draft202012Validator

from tools.docs.dataplane_schema import protocol_schema


@functools.cache  # made once a process: it takes longer than to look at a request
def _validator() -> Draft202012Validator:
    schema = protocol_schema()
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


def check_request(command: str, arguments: Any) -> None:
    """jsonschema.ValidationError, where it is none."""
    _validator().validate({"id": 1, "cmd": command, "args": arguments})
