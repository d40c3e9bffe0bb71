# SPDX-License-Identifier: Apache-2.0
"""What `weir lean --machine --json` prints is what its schema says, from recorded lines of weir-lean."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from weir.fabric import lean as process
from weir.procedures.lean import machine

SCHEMA = Path(__file__).parents[2] / "schema/lean-machine.schema.json"
CACHES = {"L1": 32 << 10, "L2": 512 << 10, "L3": 32 << 20}
TSC_HZ = 2_450_000_000
CYCLES = {16 << 10: 3.0, 256 << 10: 11.7, 2 << 20: 88.5, 128 << 20: 668.8}


def lines(_: Path, sizes: Sequence[int], cpus: Sequence[int]) -> list[dict[str, Any]]:
    loads: list[dict[str, Any]] = [
        {"bytes": size, "huge": False, "tsc_hz": TSC_HZ, "cycles": [CYCLES[size]] * 11} for size in sizes
    ]
    between = {"clean": [332.7] * 11, "dirty": [332.7] * 11, "turn": [673.5] * 11}
    return loads + ([between] if len(cpus) > 1 else [])


@pytest.fixture(params=[[0], [0, 1]], ids=["one core", "two cores"])
def cpus(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    found: list[int] = request.param
    monkeypatch.setattr(process, "caches_bytes", lambda: CACHES)
    monkeypatch.setattr(process, "separate_cpus", lambda: found)
    monkeypatch.setattr(machine, "built", lambda _program: Path("weir-lean"))
    monkeypatch.setattr(process, "measure_machine", lines)
    return found


def test_the_document_is_what_the_schema_says(cpus: list[int]) -> None:
    document = json.loads(machine.measure_machine().model_dump_json())
    jsonschema.validate(document, json.loads(SCHEMA.read_text(encoding="utf-8")))
    assert document["cpus"] == cpus


def test_lines_of_another_core_are_there_where_there_is_one(cpus: list[int]) -> None:
    found = machine.measure_machine()
    names = [one.what for one in found.latencies]
    assert names[:4] == ["L1 cache", "L2 cache", "L3 cache", "local memory"]
    assert len(names) == (7 if len(cpus) == 2 else 4)
    assert any("One core alone" in note for note in found.notes) == (len(cpus) == 1)
    assert found.latencies[3].ns == pytest.approx(668.8 / 2.45)
