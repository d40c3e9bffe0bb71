# SPDX-License-Identifier: Apache-2.0
"""A page in headless Chromium, without a network."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here: apt-get install chromium")


def load_page(text: str, folder: Path, width_px: int = 1400) -> tuple[str, str]:
    """The page's DOM after its script has run, and what the browser wrote on its console."""
    page = folder / "page.html"
    page.write_text(text, encoding="utf-8")
    return load(page.as_uri(), folder, width_px)


def load(url: str, folder: Path, width_px: int = 1400) -> tuple[str, str]:
    """The same of a page that is there, or that 127.0.0.1 serves."""
    quiet = ("disable-quic", "no-first-run", "disable-background-networking", "disable-component-update")
    done = subprocess.run(
        [
            str(CHROMIUM),
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            *(f"--{flag}" for flag in quiet),
            "--disable-sync",
            "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
            f"--user-data-dir={folder / 'profile'}",
            f"--window-size={width_px},1000",
            "--virtual-time-budget=8000",
            "--enable-logging=stderr",
            "--dump-dom",
            url,
        ],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    said = "\n".join(line for line in done.stderr.splitlines() if "CONSOLE" in line)
    return done.stdout, said
