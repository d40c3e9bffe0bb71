# SPDX-License-Identifier: Apache-2.0
"""What a command prints is printed, or the user hears that it was not."""

from __future__ import annotations

import os
import subprocess

import pytest
import typer

from tests.weir_command import WEIR
from weir.cli import exits


@pytest.mark.parametrize(
    "arguments", [["--help"], ["--version"], ["validate", "labs/switching", "--any-machine"]]
)
def test_a_full_standard_output_is_said_without_a_traceback(arguments: list[str]) -> None:
    with open("/dev/full", "w") as full:  # noqa: PTH123
        done = subprocess.run(
            [*WEIR, *arguments], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert done.returncode == exits.ENVIRONMENT
    assert done.stderr == "weir: standard output: No space left on device\n"


def test_a_reader_that_is_gone_hears_nothing() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run([*WEIR, "--help"], stdout=writing, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writing)
    assert done.stderr == ""
    assert done.returncode == exits.FAILED


def test_a_standard_output_that_is_closed_is_no_defect() -> None:
    done = subprocess.run(
        ["sh", "-c", 'exec "$@" >&-', "sh", *WEIR, "--version"],
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_control_characters_of_a_name_do_not_reach_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    @exits.reporting
    def command() -> None:
        raise exits.CommandError("no a\x1b[31mb\x07 in\nµs – \u202e", exits.USAGE)

    with pytest.raises(typer.Exit):
        command()
    assert capsys.readouterr().err == "weir: no a\\x1b[31mb\\x07 in\nµs – \\u202e\n"
