# SPDX-License-Identifier: Apache-2.0
"""The file of a cost model: an older one is read, a newer one refused by name."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

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


def _shorter(found: dict[str, Any]) -> None:
    del found["covariance"][-1]


def _ragged(found: dict[str, Any]) -> None:
    found["covariance"][1] = []


def _endless(found: dict[str, Any]) -> None:
    found["parameters"][0]["cycles"] = float("nan")


def _huge(found: dict[str, Any]) -> None:
    found["parameters"][0]["cycles"] = -1e308


def _negative(found: dict[str, Any]) -> None:
    found["covariance"][0][0] = -1.0


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (_shorter, "one for each parameter"),
        (_ragged, "one for each parameter"),
        (_endless, "expected numbers of at most 1e"),
        (_huge, "expected numbers of at most 1e"),
        (_negative, "expected no negative variance"),
    ],
)
def test_a_damaged_model_is_refused_as_it_is_read(
    damage: Callable[[dict[str, Any]], None], said: str, tmp_path: Path
) -> None:
    found = json.loads(sample_model().model_dump_json())
    damage(found)
    path = tmp_path / "model.json"
    path.write_text(json.dumps(found))
    with pytest.raises(StoreError, match=rf"model.json: no model of version {MODEL_VERSION}: .*{said}"):
        read_model(path)


@pytest.mark.parametrize(
    "parameters",
    [None, 5, [5], [{"cycles": 1.0}], [{"name": 5, "cycles": 1.0, "deviation_cycles": 1.0}]],
    ids=["nothing", "a number", "of numbers", "without names", "named by numbers"],
)
def test_an_older_model_of_another_shape_is_refused_as_it_is_read(parameters: object, tmp_path: Path) -> None:
    found = json.loads(sample_model().model_dump_json()) | {"version": 2, "parameters": parameters}
    path = tmp_path / "model.json"
    path.write_text(json.dumps(found))
    with pytest.raises(StoreError, match=rf"model.json: no model of version {MODEL_VERSION}: parameters"):
        read_model(path)
