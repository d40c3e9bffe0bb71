# SPDX-License-Identifier: Apache-2.0
"""The stored run that a command names."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from weir.cli.exits import USAGE, CommandError

if TYPE_CHECKING:
    from weir.results.result import Result
    from weir.store.store import Store

LATEST = "latest"

StoreLocation = Annotated[
    str | None,
    typer.Option(
        "--store",
        help="Database of results: a path or URL; absent: $WEIR_STORE, or in the data directory.",
        envvar="WEIR_STORE",
    ),
]
JsonResult = Annotated[bool, typer.Option("--json", help="Print the result as JSON; progress on stderr.")]
ReportFolder = Annotated[
    Path | None,
    typer.Option("--output", "-o", help="Directory for the reports; absent: results/<run>."),
]


def stored(run: str, location: str | None) -> Result:
    """The run of that id, the latest, or the one in that file (a directory: in its result.json)."""
    from weir.store.store import Store

    path = Path(run)
    if (path / "result.json").is_file():
        return _read(path / "result.json")
    if path.is_file() or path.suffix == ".json" or len(path.parts) > 1:
        return _read(path)
    with Store(location) as store:
        if run != LATEST:
            return store.load(run)
        result = store.latest()
        if result is None:
            raise CommandError(nothing_stored(store), USAGE)
        return result


def nothing_stored(store: Store) -> str:
    """What to say of an empty store."""
    return f"{store.name} has no runs yet; `weir run LAB` makes one"


def _read(path: Path) -> Result:
    from pydantic import ValidationError

    from weir.results.result import RESULT_VERSION, Result

    try:
        return Result.model_validate_json(path.read_bytes())
    except OSError as error:
        raise CommandError(
            f"{path}: {error.strerror}; expected a result.json or a run's id", USAGE
        ) from error
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        what = f"{place}: {first['msg']}" if place else first["msg"]
        raise CommandError(f"{path}: no result of version {RESULT_VERSION}: {what}", USAGE) from error
