# SPDX-License-Identifier: Apache-2.0
"""Runs to store, and what commands say of a store."""

from __future__ import annotations

import json
from typing import Any

from typer.testing import CliRunner

from tests.report.synthetic import result
from weir.cli import exits
from weir.cli.main import app
from weir.results.result import Result

runner = CliRunner()


def made(run_id: str, started_at: str, lab: str, host: str, **changes: Any) -> Result:
    found = result(id=run_id, started_at=started_at, lab=lab, **changes)
    found.setups = [one for one in found.setups if one.chain == "PVP" and one.technology != "ovs"]
    for setup in found.setups:
        setup.cases = setup.cases[:1]
    found.fingerprint.host = host
    found.spec = {"measure": {"repeats": 3, "goals": ["NDR", "PDR"]}, "quick": True}
    return found


def said(*words: str, store: str) -> str:
    done = runner.invoke(app, [*words, "--store", store])
    assert done.exit_code == 0, done.output
    return done.stdout


def refusal(*words: str, store: str) -> str:
    done = runner.invoke(app, [*words, "--store", store])
    assert done.exit_code == exits.USAGE, done.output
    return done.stderr


def listed(*words: str, store: str) -> list[str]:
    return [one["id"] for one in json.loads(said("ls", "--json", *words, store=store))]
