# SPDX-License-Identifier: Apache-2.0
"""What `weir model kernel-vnf --json` prints is what its committed schema says."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
from typer.testing import CliRunner

from weir.cli.main import app

COMMITTED = Path(__file__).parents[2] / "schema" / "kernel-vnf.schema.json"
OPTIONS = "--cpu-ghz 3.7 --cores 8 --link 10G --frame 64,imix:ad,1500 --flows 1,100 --json"


@pytest.mark.parametrize("command", ["predict", "rank"])
def test_the_schema_accepts_what_the_command_prints(command: str) -> None:
    done = CliRunner().invoke(app, ["model", "kernel-vnf", command, *OPTIONS.split()])
    schema = json.loads(COMMITTED.read_text(encoding="utf-8"))
    jsonschema.validate(json.loads(done.stdout), schema)


def test_the_schema_refuses_anything_more_or_less() -> None:
    schema = json.loads(COMMITTED.read_text(encoding="utf-8"))
    good = {"config": "3+1", "f": 1, "frame_bytes": 64, "mpps": 0.9, "gbps": 0.6, "limited_by": "cpu"}
    jsonschema.validate([good], schema)
    for bad in (good | {"flows": 1}, good | {"limited_by": "disk"}, {"config": "3+1"}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate([bad], schema)
