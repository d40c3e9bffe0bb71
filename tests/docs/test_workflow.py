# SPDX-License-Identifier: Apache-2.0
"""The workflow that runs the tests elsewhere is one, and does what `.ci/run` and the Makefile say."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft7Validator
from ruamel.yaml import YAML

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / ".github" / "workflows"
WORKFLOWS = sorted(path.name for path in FOLDER.iterdir())
WORKFLOW = YAML(typ="safe").load(FOLDER / "test.yml")
(JOB,) = WORKFLOW["jobs"].values()
SCHEMA = json.loads(
    Path(__file__).with_name("schemastore").joinpath("github-workflow.json").read_text("utf-8")
)
ACTIONLINT = shutil.which("actionlint")
KNOWN = {
    "always", "cancelled", "contains", "endsWith", "env", "failure", "format", "fromJSON", "github",
    "hashFiles", "inputs", "job", "join", "matrix", "needs", "runner", "secrets", "startsWith", "steps",
    "strategy", "success", "toJSON", "vars",
}  # fmt: skip
"""What an expression may begin with: contexts and functions of Actions."""


def refused(text: str) -> list[str]:
    """What Actions would not take, as the schema and the language of expressions have it."""
    found = YAML(typ="safe").load(text)  # a key that is there twice is an error
    wrong = [one.message for one in Draft7Validator(SCHEMA).iter_errors(found)]
    for expression in expressions(found):
        bare = re.sub(r"'(?:[^']|'')*'", "", expression)
        names = set(re.findall(r"(?<![\w.-])[A-Za-z_][\w-]*", bare)) - {"true", "false", "null"}
        wrong += [f"{expression}: {name}" for name in sorted(names - KNOWN)]
    return wrong


def expressions(part: Any, key: str = "") -> Iterator[str]:
    """All in `${{ }}`, and conditions, which need none."""
    if isinstance(part, dict):
        for name, value in part.items():
            yield from expressions(value, str(name))
    elif isinstance(part, list):
        for value in part:
            yield from expressions(value)
    elif isinstance(part, str):
        inside = re.findall(r"\$\{\{(.*?)\}\}", part, re.DOTALL)
        yield from inside or ([part] if key == "if" else [])


@pytest.mark.parametrize("name", WORKFLOWS)
def test_it_is_a_workflow(name: str) -> None:
    assert refused((FOLDER / name).read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("timeout-minutes: 60", "time-out-minutes: 60"),
        ("timeout-minutes: 60", "timeout-minutes: an hour"),
        ("    runs-on: ubuntu-24.04\n", ""),
        ("contents: read", "content: read"),
        ("  pull_request:", "  pull_requests:"),
        ("- run: .ci/run", "- runs: .ci/run"),
        ("- if: always()", "- if: allways()"),
        ("- if: always()", "- if: ${{ jobs.test }}"),
    ],
)
def test_a_slip_in_it_is_found(right: str, wrong: str) -> None:
    text = (FOLDER / "test.yml").read_text(encoding="utf-8")
    assert right in text
    assert refused(text.replace(right, wrong))


@pytest.mark.skipif(ACTIONLINT is None, reason="no actionlint here: https://github.com/rhysd/actionlint")
def test_actionlint_finds_nothing() -> None:
    done = subprocess.run(
        [str(ACTIONLINT), *(str(FOLDER / name) for name in WORKFLOWS)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("name", WORKFLOWS)
def test_what_it_uses_of_others_has_a_version(name: str) -> None:
    used = re.findall(r"uses: *(\S+)", (FOLDER / name).read_text(encoding="utf-8"))
    assert used
    assert all(re.fullmatch(r"[\w.-]+/[\w./-]+@v?\d[\w.]*|[\w./-]+@[0-9a-f]{40}", one) for one in used)


def test_it_runs_what_every_other_machine_runs() -> None:
    scripts = [step["run"] for step in JOB["steps"] if "run" in step]
    assert scripts[-1] == ".ci/run"
    assert os.access(ROOT / scripts[-1], os.X_OK)


def test_it_runs_on_the_distribution_that_the_readme_names() -> None:
    assert JOB["container"]["image"] == "debian:12"
    assert "Debian 12" in (ROOT / "README.md").read_text(encoding="utf-8")


def test_it_keeps_every_result_that_the_tests_write() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    written = re.findall(r"^(?:MESON|PYTEST|LONG)_JUNIT := (.*)$", makefile, re.MULTILINE)
    kept = next(step["with"]["path"] for step in JOB["steps"] if "upload-artifact" in step.get("uses", ""))
    assert kept.split() == sorted(" ".join(written).split(), key=kept.index)


def test_it_changes_nothing_of_the_repository_and_ends() -> None:
    assert WORKFLOW["permissions"] == {"contents": "read"}
    assert JOB["timeout-minutes"] == 60
