# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C while the program is being loaded."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

STOPPED = """
import os, signal, sys
class Finder:
    @staticmethod
    def find_spec(name, *_):
        if name == "typer":
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Finder)
sys.argv = ["weir", "examples"]
from weir.cli.start import main
{first}
main()
"""


@pytest.mark.parametrize(
    ("first", "code"), [("", -signal.SIGINT), ("signal.signal(signal.SIGINT, signal.SIG_IGN)", 0)]
)
def test_it_ends_the_program_without_a_traceback_unless_it_is_ignored(first: str, code: int) -> None:
    text = STOPPED.format(first=first)
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (code, "")
