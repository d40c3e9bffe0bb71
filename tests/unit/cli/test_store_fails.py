# SPDX-License-Identifier: Apache-2.0
"""A run whose store fails in the middle ends with the store's sentence, and its exit code."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from weir import fabric
from weir.cli import exits
from weir.cli.main import app
from weir.store.connection import StoreError

FULL = "results.db: database or disk is full; make room on the disk"


@pytest.fixture(autouse=True)
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On which a run's store fails at once."""

    def fails(_: object) -> None:
        raise StoreError(FULL)

    monkeypatch.setenv("WEIR_RUN_DIR", str(tmp_path / "run"))
    monkeypatch.setattr(fabric, "require_to_measure", lambda: None)
    monkeypatch.setattr(fabric, "check", lambda *_args, **_options: None)
    monkeypatch.setattr("weir.procedures.campaign.Campaign.run", fails)


def test_its_sentence_is_what_is_said(tmp_path: Path) -> None:
    path = tmp_path / "lab.yml"
    path.write_text("weir: 1\nname: small\nchain: PVP\ntechnology: [direct]\n")
    words = ["run", str(path), "--store", str(tmp_path / "results.db"), "-o", str(tmp_path / "out")]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == exits.ENVIRONMENT, done.exception
    assert done.stderr.splitlines()[-1] == f"weir: {FULL}"
