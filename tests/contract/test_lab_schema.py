# SPDX-License-Identifier: Apache-2.0
"""The committed schema of the lab file is the one that the code makes, and accepts what the code accepts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import jsonschema
import pytest
from ruamel.yaml import YAML

from tools.docs.generated import as_text
from weir.lab.of_tenants import has_tenants
from weir.lab.overlay import lab_schema
from weir.lab.traffic import Traffic

UNKNOWN = {"gt", "ge", "lt", "le"}
"""Pydantic's own words, which it leaves where it cannot tell what they are of."""
ROOT = Path(__file__).parents[2]
COMMITTED = ROOT / "schema" / "lab.schema.json"
TENANTS = ROOT / "schema" / "tenants.schema.json"


def test_the_committed_lab_schema_is_up_to_date() -> None:
    assert COMMITTED.read_text(encoding="utf-8") == as_text(lab_schema()), "run: make generate"


@pytest.mark.parametrize("path", sorted(ROOT.glob("labs/*/lab.yml")), ids=lambda path: path.parent.name)
def test_the_schema_accepts_every_lab_that_comes_with_weir(path: Path) -> None:
    schema = TENANTS if has_tenants(path) else COMMITTED
    jsonschema.validate(YAML(typ="safe").load(path), json.loads(schema.read_text(encoding="utf-8")))


def test_the_schema_refuses_unknown_keys_at_any_depth() -> None:
    schema = json.loads(COMMITTED.read_text(encoding="utf-8"))
    good = {"weir": 1, "name": "x", "chain": "PVP", "technology": "direct"}
    jsonschema.validate(good, schema)
    for extra in ({"baselin": "direct"}, {"traffic": {"pacng": "poisson"}}, {"quick": {"nmae": "y"}}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(good | extra, schema)


@pytest.mark.parametrize("limit", [0, -1, 2e9])
def test_the_schema_refuses_limits_of_a_service_level_that_the_code_refuses(limit: float) -> None:
    schema = json.loads(COMMITTED.read_text(encoding="utf-8"))
    good = {"weir": 1, "name": "x", "chain": "PVP", "technology": "direct"}
    jsonschema.validate(good | {"sla": {"latency_us": {"p99": 50}}}, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(good | {"sla": {"latency_us": {"p99": limit}}}, schema)


@pytest.mark.parametrize("path", sorted((ROOT / "schema").glob("*.schema.json")), ids=lambda path: path.name)
def test_no_schema_has_limits_under_names_that_json_schema_does_not_know(path: Path) -> None:
    def unknown(of: object) -> Iterator[str]:
        if isinstance(of, dict):
            yield from (key for key, value in of.items() if key in UNKNOWN and isinstance(value, int | float))
            of = list(of.values())
        for inner in of if isinstance(of, list) else ():
            yield from unknown(inner)

    assert list(unknown(json.loads(path.read_text(encoding="utf-8")))) == []


@pytest.mark.parametrize(
    "frames",
    [
        64, ["64", 1518], "IMIX", "imix", "jumbo", "Jumbo", "capture", "Capture", "connections",
        "Connections", "imix:aaaaaaaddddg", "imix:aaA:A=570", "IMIX(aaA, A=570)",
    ],
)  # fmt: skip
def test_the_schema_accepts_every_form_of_frames_that_the_code_does(frames: object) -> None:
    Traffic.model_validate_json(json.dumps({"frames": frames}))
    lab = {"weir": 1, "name": "small", "chain": "PVP", "technology": "direct", "traffic": {"frames": frames}}
    jsonschema.validate(lab, json.loads(COMMITTED.read_text(encoding="utf-8")))
