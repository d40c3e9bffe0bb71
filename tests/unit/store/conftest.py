# SPDX-License-Identifier: Apache-2.0
"""Where a test's store is."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """In a folder that is not there yet."""
    return tmp_path / "new" / "results.db"
