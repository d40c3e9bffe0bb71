# SPDX-License-Identifier: Apache-2.0
"""The file that keeps a machine's cost model."""

from __future__ import annotations

import os
from pathlib import Path

from pydantic import ValidationError

from weir.base.read_file import read_bytes
from weir.base.record import fault_text
from weir.results.document import NewerDocumentError
from weir.results.model import MODEL_VERSION, ModelDocument
from weir.store.connection import StoreError
from weir.store.files import check_file, check_folder, data_folder, write_file

OPTION = "--model"


def default_model_path() -> Path:
    """$WEIR_MODEL, or model.json in the user's data directory."""
    chosen = os.environ.get("WEIR_MODEL")
    return Path(chosen) if chosen else data_folder() / "model.json"


def check_model_place(path: Path) -> None:
    """Before anything is measured for it. FileError if no model can be written there."""
    check_folder(path.parent, OPTION)
    if path.parent.is_dir():
        check_file(path, OPTION)


def write_model(document: ModelDocument, path: Path) -> None:
    """FileError if it cannot be written."""
    text = document.model_dump_json(indent=2) + "\n"
    write_file(path, text, f"choose another place with {OPTION}", folders=True)


def read_model(path: Path) -> ModelDocument:
    """StoreError if there is none, or it is not one."""
    try:
        return ModelDocument.read(read_bytes(path))
    except FileNotFoundError as error:
        raise StoreError(f"there is no model at {path}; `weir model calibrate LAB` measures one") from error
    except OSError as error:
        raise StoreError(f"{path}: {error.strerror}; expected a model of `weir model calibrate`") from error
    except NewerDocumentError as error:
        raise StoreError(f"{path}: {error}") from error
    except ValidationError as error:
        raise StoreError(f"{path}: no model of version {MODEL_VERSION}: {fault_text(error)}") from error
