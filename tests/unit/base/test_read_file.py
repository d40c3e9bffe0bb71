# SPDX-License-Identifier: Apache-2.0
"""Files without an end."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from weir.base.read_file import read_bytes, read_text
from weir.cli import exits
from weir.cli.main import app
from weir.lab import LabFileError, load_lab

ENDLESS = Path("/dev/zero")


def test_a_file_is_read_as_far_as_it_may_go(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("ä" * 4)
    assert read_bytes(path, 8) == path.read_bytes()
    assert read_text(path, 8) == "ä" * 4
    for most in (7, 0):
        with pytest.raises(OSError, match="is larger than 0 MiB"):
            read_bytes(path, most)


def test_a_lab_without_an_end_is_refused() -> None:
    with pytest.raises(LabFileError, match="/dev/zero: is too large; expected a lab file of at most"):
        load_lab(ENDLESS)


def test_so_is_a_document() -> None:
    done = CliRunner().invoke(app, ["model", "predict", "l3fwd", "--model", "/dev/zero"])
    assert done.exit_code == exits.ENVIRONMENT, done.output
    assert "/dev/zero: is larger than 256 MiB; expected" in done.stderr
