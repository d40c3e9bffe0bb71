# SPDX-License-Identifier: Apache-2.0
"""The file that keeps a machine's cost model."""

from __future__ import annotations

import os
from pathlib import Path

from pydantic import ValidationError

from weir.results.model import MODEL_VERSION, ModelDocument
from weir.store.database import StoreError


def default_model_path() -> Path:
    """$WEIR_MODEL, or model.json in the user's data directory."""
    chosen = os.environ.get("WEIR_MODEL")
    data = os.environ.get("XDG_DATA_HOME") or str(Path.home() / ".local" / "share")
    return Path(chosen) if chosen else Path(data) / "weir" / "model.json"


def write_model(document: ModelDocument, path: Path) -> None:
    """StoreError if it cannot be written."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(document.model_dump_json(indent=2) + "\n", encoding="utf-8")
    except OSError as error:
        raise StoreError(f"{path}: {error.strerror}; choose another file with --model") from error


def read_model(path: Path) -> ModelDocument:
    """StoreError if there is none, or it is not one."""
    try:
        return ModelDocument.model_validate_json(path.read_bytes())
    except FileNotFoundError as error:
        raise StoreError(f"there is no model at {path}; `weir model calibrate LAB` measures one") from error
    except OSError as error:
        raise StoreError(f"{path}: {error.strerror}; expected a model of `weir model calibrate`") from error
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        what = f"{place}: {first['msg']}" if place else first["msg"]
        raise StoreError(f"{path}: no model of version {MODEL_VERSION}: {what}") from error
