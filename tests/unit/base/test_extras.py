# SPDX-License-Identifier: Apache-2.0
"""What a command says that lacks a library."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from weir.base import extras

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize("extra", ["ray", "parquet", "postgresql", "openstack", "rally"])
def test_an_extra_is_installed_by_its_libraries_names_for_this_python(extra: str) -> None:
    python, *words = shlex.split(extras.install(extra))
    assert python == sys.executable
    assert words[:3] == ["-m", "pip", "install"]
    assert words[3:]
    assert not [one for one in words[3:] if one.startswith("weir")]


def test_a_source_tree_that_is_not_installed_names_the_command_of_a_checkout(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(extras, "DISTRIBUTION", "no-such-project")
    assert extras.install("ray") == "make setup"


def test_nobody_is_told_to_install_the_foreign_project_of_that_name() -> None:
    """PyPI's weir is another one."""
    words = ["git", "grep", "-nE", r"pip install[^|]*['\" ]weir(\[|['\"`]|$)", "--", "src", "docs", "*.md"]
    found = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert found.stdout == ""
