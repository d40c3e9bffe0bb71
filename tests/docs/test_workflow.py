# SPDX-License-Identifier: Apache-2.0
"""The workflow that runs the tests elsewhere does what `.ci/run` and the Makefile say."""

from __future__ import annotations

import os
import re
from pathlib import Path

from ruamel.yaml import YAML

ROOT = Path(__file__).resolve().parents[2]
WORKFLOW = YAML(typ="safe").load(ROOT / ".github" / "workflows" / "test.yml")
(JOB,) = WORKFLOW["jobs"].values()


def test_it_runs_what_every_other_machine_runs() -> None:
    scripts = [step["run"] for step in JOB["steps"] if "run" in step]
    assert scripts[-1] == ".ci/run"
    assert os.access(ROOT / scripts[-1], os.X_OK)


def test_it_runs_on_the_distribution_that_the_readme_names() -> None:
    assert JOB["container"]["image"] == "debian:12"
    assert "Debian 12" in (ROOT / "README.md").read_text(encoding="utf-8")


def test_it_keeps_every_result_that_the_tests_write() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    written = re.findall(r"^(?:MESON|PYTEST)_JUNIT := (.*)$", makefile, re.MULTILINE)
    kept = next(step["with"]["path"] for step in JOB["steps"] if "upload-artifact" in step.get("uses", ""))
    assert kept.split() == sorted(" ".join(written).split(), key=kept.index)


def test_it_changes_nothing_of_the_repository_and_ends() -> None:
    assert WORKFLOW["permissions"] == {"contents": "read"}
    assert JOB["timeout-minutes"] == 60
