# SPDX-License-Identifier: Apache-2.0
"""What programs of users leave in a deployment's folder is removed and looked through, however deep it is."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from weir.base.error import FabricError
from weir.fabric.kept_logs import keep_logs
from weir.fabric.removal import remove_tree

DEPTH = 3000
"""More than Python calls itself, and with their names more than a path may have."""


def nested(folder: Path) -> Path:
    """A folder with so many in each other, and a log beside the outermost."""
    folder.mkdir()
    (folder / "own.log").write_text("it fails\n")
    inner = os.open(folder, os.O_DIRECTORY)
    for _ in range(DEPTH):
        os.mkdir("deep", dir_fd=inner)
        outer, inner = inner, os.open("deep", os.O_DIRECTORY, dir_fd=inner)
        os.close(outer)
    os.close(inner)
    return folder


def test_a_tree_deeper_than_any_path_goes_and_what_its_links_lead_to_stays(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "file").touch()
    folder = nested(tmp_path / "deployment")
    (folder / "link").symlink_to(other)
    remove_tree(folder)
    assert [path.name for path in tmp_path.iterdir()] == ["other"]
    assert (other / "file").exists()


def test_logs_beside_such_a_tree_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEIR_LOG_DIR", str(tmp_path / "kept"))
    error = FabricError("it ended", "look why")
    folder = nested(tmp_path / "deployment")
    keep_logs("deep-12345678", [folder], error)
    assert str(error).endswith("deep-12345678; own.log: it fails")
    assert (tmp_path / "kept" / "deep-12345678" / "own.log").read_text() == "it fails\n"
    remove_tree(folder)
