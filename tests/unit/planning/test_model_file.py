# SPDX-License-Identifier: Apache-2.0
"""The file of a cost model: an older one is read, a newer one refused by name."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from weir.results.model import MODEL_VERSION
from weir.store.connection import StoreError
from weir.store.model_file import read_model

from .sample_model import sample_model


def test_an_older_model_is_read_with_the_present_names_of_its_terms(tmp_path: Path) -> None:
    older = json.loads(sample_model().model_dump_json())
    terms = ["owner from another core", "applier", "fast path walk", "nf nat"]
    for parameter, name in zip(older["parameters"], terms, strict=False):
        parameter["name"] = name
    older["version"] = 2
    del older["core_speed"]
    older["pace"] = {"best_cycles": 600.0, "slope": 0.9, "slowed": 1.1}
    path = tmp_path / "model.json"
    path.write_text(json.dumps(older))
    found = read_model(path)
    assert found.version == MODEL_VERSION
    assert found.core_speed is not None
    assert found.core_speed.best_cycles == 600.0
    assert [one.name for one in found.parameters[:4]] == [
        "state_core from another core",
        "rewrite_worker",
        "fast path miss",
        "nf nat",
    ]


def test_a_newer_model_is_refused_by_its_name(tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    newer = json.loads(sample_model().model_dump_json()) | {"version": MODEL_VERSION + 1}
    path.write_text(json.dumps(newer))
    with pytest.raises(StoreError, match=r"model.json: a newer Weir wrote it"):
        read_model(path)
