# SPDX-License-Identifier: Apache-2.0
"""How `weir graph` ends."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from weir.cli import exits
from weir.cli.main import app


@pytest.mark.parametrize(
    ("to", "code", "said"),
    [("127.0.0.1", exits.OK, "it arrives\n"), ("203.0.113.9", exits.FAILED, "it is followed no farther: ")],
)
def test_a_packet_that_does_not_arrive_is_exit_code_1(to: str, code: int, said: str) -> None:
    done = CliRunner().invoke(app, ["graph", "--path", "host", to])
    assert done.exit_code == code, done.output
    assert said in done.stdout
