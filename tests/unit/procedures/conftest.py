# SPDX-License-Identifier: Apache-2.0
"""Runs of two chains, for whoever asks for them."""

from __future__ import annotations

from pathlib import Path

import pytest

from .two_chains import Runs


@pytest.fixture
def runs(tmp_path: Path) -> Runs:
    return Runs(tmp_path / "one")
