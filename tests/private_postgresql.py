# SPDX-License-Identifier: Apache-2.0
"""A PostgreSQL server of Debian's, in a directory of its own, reached by a socket there alone."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

PATIENCE_S = 120


def programs() -> Path | None:
    """The folder of the newest installed server."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    return found[-1].parent if found else None


@contextmanager
def server() -> Iterator[str]:
    """The URL of an empty database whose owner is the user `weir`. Skips where no server is installed."""
    where = programs()
    if where is None:
        pytest.skip("no PostgreSQL server: install Debian's postgresql")
    pytest.importorskip("psycopg", reason="no driver: make setup")
    home = Path(tempfile.mkdtemp(prefix="weir-pg-", dir="/tmp"))
    as_user = _ordinary_user(home)
    data = home / "data"
    try:
        _run(
            [*as_user, str(where / "initdb"), "-D", str(data), "-A", "trust", "-U", "weir", "--no-sync"], home
        )
        settings = ("listen_addresses=", f"unix_socket_directories={home}", "fsync=off")
        options = [word for setting in settings for word in ("-c", setting)]
        with (home / "log").open("wb") as log:
            process = subprocess.Popen(
                [*as_user, str(where / "postgres"), "-D", str(data), *options],
                stdout=log,
                stderr=log,
                cwd=home,
            )
        try:
            _wait(where, home, process)
            _run([str(where / "createdb"), "-h", str(home), "-U", "weir", "results"], home)
            yield f"postgresql+psycopg://weir@/results?host={home}"
        finally:
            process.send_signal(signal.SIGINT)  # "fast": open connections are closed
            process.wait(PATIENCE_S)
    finally:
        shutil.rmtree(home, ignore_errors=True)


def _ordinary_user(home: Path) -> list[str]:
    """PostgreSQL refuses root."""
    if os.geteuid() != 0:
        return []
    nobody = pwd.getpwnam("nobody")
    os.chown(home, nobody.pw_uid, nobody.pw_gid)
    return ["setpriv", f"--reuid={nobody.pw_uid}", f"--regid={nobody.pw_gid}", "--clear-groups"]


def _wait(where: Path, home: Path, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline and process.poll() is None:
        if subprocess.run([str(where / "pg_isready"), "-q", "-h", str(home)], check=False).returncode == 0:
            return
        time.sleep(0.05)
    raise AssertionError(f"PostgreSQL did not start: {(home / 'log').read_text()[-500:]}")


def _run(words: list[str], home: Path) -> None:
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=PATIENCE_S, cwd=home)
    assert done.returncode == 0, done.stderr
