# SPDX-License-Identifier: Apache-2.0
"""What READMEs of labs say of their own files."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from weir.cli.main import app

LABS = Path(__file__).parents[2] / "labs"
TOLD = re.compile(
    r"sudo weir verify labs/cloud(?: --suite (\w+))? +# (\d+) cases(?:, (\d+) of them skipped)?"
)


def test_so_many_cases_of_the_own_cloud_are_run_as_its_readme_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1})
    planned = json.loads(
        CliRunner().invoke(app, ["verify", str(LABS / "cloud"), "--dry-run", "--json"]).stdout
    )
    found = {
        suite["name"]: (len(suite["cases"]), sum(case["lacks"] is not None for case in suite["cases"]))
        for suite in planned["suites"]
    }
    found[""] = (sum(cases for cases, _ in found.values()), sum(lacking for _, lacking in found.values()))
    told = TOLD.findall((LABS / "cloud" / "README.md").read_text())
    assert {suite: (int(cases), int(skipped or 0)) for suite, cases, skipped in told} == found
