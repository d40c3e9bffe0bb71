# SPDX-License-Identifier: Apache-2.0
"""Results say which commit they were measured with."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from weir import __version__
from weir.fabric.fingerprint import weir_version

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="no git here: apt-get install git")


def git(tree: Path, *words: str) -> str:
    named = ["git", "-C", str(tree), "-c", "user.name=Nobody", "-c", "user.email=nobody@example.invalid"]
    return subprocess.run([*named, *words], check=True, capture_output=True, text=True).stdout.strip()


@needs_git
def test_a_source_tree_adds_its_commit_and_whether_it_was_changed(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet")
    (tmp_path / "file").write_text("one")
    git(tmp_path, "add", "file")
    git(tmp_path, "commit", "--quiet", "-m", "first")
    git(tmp_path, "tag", "v9")
    commit = git(tmp_path, "rev-parse", "HEAD")[:12]
    assert weir_version(tmp_path) == f"{__version__}+g{commit}"
    (tmp_path / "file").write_text("two")
    weir_version.cache_clear()
    assert weir_version(tmp_path) == f"{__version__}+g{commit}.dirty"


def test_without_a_history_it_is_the_version_alone(tmp_path: Path) -> None:
    assert weir_version(tmp_path) == __version__
    (tmp_path / ".git").write_text("gitdir: nowhere")
    weir_version.cache_clear()
    assert weir_version(tmp_path) == __version__
