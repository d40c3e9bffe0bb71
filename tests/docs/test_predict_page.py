# SPDX-License-Identifier: Apache-2.0
"""What the page on predicting kernel forwarding shows is what the commands print."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from weir.cli.main import app

PAGE = Path(__file__).resolve().parents[2] / "docs" / "how-to" / "predict-kernel-forwarding.md"
TEXT = PAGE.read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```console\n\$ weir (.*)\n((?:.*\n)*?)```", TEXT)


@pytest.mark.parametrize(("command", "shown"), EXAMPLES, ids=[command for command, _ in EXAMPLES])
def test_the_page_shows_what_the_command_prints(command: str, shown: str) -> None:
    assert CliRunner().invoke(app, shlex.split(command)).stdout == shown


def test_the_points_of_the_page_calibrate(tmp_path: Path) -> None:
    (points,) = re.findall(r"```text\n((?:.*\n)*?)```", TEXT)
    own = tmp_path / "own.csv"
    own.write_text(points, encoding="utf-8")
    command = "model kernel-vnf predict --cpu-ghz 2.4 --cores 6 --link 10G --frame 64 --flows 2 --config 2+1"
    done = CliRunner().invoke(app, [*command.split(), "--json", "--parameters", str(own)])
    (predicted,) = json.loads(done.stdout)
    assert predicted["mpps"] == pytest.approx(0.83, rel=1e-9)


def test_every_published_example_is_there() -> None:
    assert [command.split()[2] for command, _ in EXAMPLES] == ["predict", "rank", "rank"]
