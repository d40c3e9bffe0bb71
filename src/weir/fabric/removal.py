# SPDX-License-Identifier: Apache-2.0
"""Folders that go with all that is in them, whatever programs of users have put there."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path


def remove_tree(folder: Path) -> None:
    """OSError if anything in it cannot be removed. No link is followed."""
    try:
        shutil.rmtree(folder)
    except RecursionError:  # it calls itself for each folder in a folder; rm does not
        done = subprocess.run(["rm", "-r", "--", str(folder)], check=False, capture_output=True, text=True)
        if done.returncode != 0:
            raise OSError(done.stderr.strip()) from None
