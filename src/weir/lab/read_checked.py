# SPDX-License-Identifier: Apache-2.0
"""From a file of one kind to what it says, or to everything that is wrong with it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from weir.lab.complaint import Complaint, complaints_about, located
from weir.lab.problem import LabFileError
from weir.lab.source import FileKind, file_of, read_source, require_kind

Shape = TypeVar("Shape", bound=BaseModel)


def read_checked(
    path: str | Path,
    kind: FileKind,
    shape: type[Shape],
    schema: dict[str, Any],
    complaints: Callable[[Shape], Iterable[Complaint]] = lambda _: (),
) -> Shape:
    """Reads and checks one, or the one in a directory. `schema`: of the shape. `complaints`: what is well
    formed and yet impossible. LabFileError has all its problems."""
    source = read_source(file_of(path, kind), kind)
    require_kind(source, kind)
    problems = list(source.problems)
    found = None
    try:
        found = shape.model_validate_json(json.dumps(source.values), strict=True)
    except ValidationError as error:
        problems += [located(source, one) for one in complaints_about(error, schema)]
    if found is not None:
        problems += [located(source, one) for one in complaints(found)]
    if problems or found is None:
        raise LabFileError(dict.fromkeys(problems))
    return found
