# SPDX-License-Identifier: Apache-2.0
"""What tests of the fabric share."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def run_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run directory of the test's own, which is not there yet."""
    monkeypatch.setenv("WEIR_RUN_DIR", str(tmp_path / "weir"))
    return tmp_path / "weir"
