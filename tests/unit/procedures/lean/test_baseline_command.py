# SPDX-License-Identifier: Apache-2.0
"""What `weir lean` refuses of a baseline and of a slowed stage, before it asks for a core."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from weir import fabric
from weir.cli.exits import USAGE
from weir.cli.main import app


@pytest.fixture(autouse=True)
def no_core(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody gets as far as to ask for one."""
    monkeypatch.setattr(fabric, "may_claim", lambda: pytest.fail("asks for a core"))


@pytest.mark.parametrize(
    "text", ["nosuch=20", "foo", "l3fwd=abc", "l3fwd=-20", "l3fwd=nan", "=5", "l3fwd=5:13", "l3fwd=inf"]
)
def test_a_stage_to_be_slowed_is_one_of_the_chains_with_a_percentage(text: str) -> None:
    done = CliRunner().invoke(app, ["lean", "nat,l3fwd", "--inject", text])
    assert done.exit_code == USAGE
    assert done.stderr.endswith("expected STAGE=PERCENT, of nat, l3fwd, such as nat=5\n")


@pytest.mark.parametrize("text", ["{}", "[" * 100_000, "no JSON"])
def test_a_file_that_is_no_result_is_no_baseline(text: str, tmp_path: Path) -> None:
    file = tmp_path / "lean.json"
    file.write_text(text)
    done = CliRunner().invoke(app, ["lean", "l2fwd", "--baseline", str(file)])
    assert done.exit_code == USAGE
    assert "is no result of `weir lean --json`" in done.stderr
