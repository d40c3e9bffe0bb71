# SPDX-License-Identifier: Apache-2.0
"""Programs of this host in a cloud's instances: whether they are there, started, asked, ended.

What is not ended here ends with its instance's namespace.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from weir.base.error import FabricError
from weir.fabric import namespace, process
from weir.fabric.program_log import log_end

_WHERE = Path("/usr/lib")
_LOG = "said"
_LAST_LINES = 3


class Program:
    """A child of this process, that runs in a namespace."""

    def __init__(self, pid: int, log: Path) -> None:
        self.pid = pid
        self._log = log
        self._code: int | None = None

    def exit_code(self) -> int | None:
        """None while it runs; negative: the signal that ended it."""
        if self._code is None:
            self._code = process.exit_code(self.pid)
        return self._code

    def said(self) -> str:
        """The last lines of its log, in one."""
        return log_end(self._log, _LAST_LINES)

    def end(self, patience_s: float, *, quietly: bool = False) -> None:
        """By SIGUSR1 if `quietly`, else by SIGTERM; killed if it has not ended after that time."""
        if self.exit_code() is None:
            process.finish(self.pid, signal.SIGUSR1 if quietly else signal.SIGTERM, patience_s)
            self._code = 0


def start(
    words: Sequence[str],
    *,
    netns: str,
    marker: str,
    cores: Sequence[int],
    directory: Path,
    temporary: Path | None = None,
) -> Program:
    """In that directory, which has its log, too. `cores`: empty: all. `temporary`: as `process.spawn` has it;
    made where it is not there. FabricError if it is not executed."""
    directory.mkdir(parents=True, exist_ok=True)
    if temporary is not None:
        temporary.mkdir(exist_ok=True)
    log = directory / _LOG
    pid = process.spawn(
        list(words),
        marker=marker,
        netns=netns,
        env={},
        cores=list(cores),
        log=log,
        directory=directory,
        temporary=temporary,
    )
    return Program(pid, log)


def output(words: Sequence[str], *, netns: str, marker: str, within_s: float) -> str:
    """Of a short program. FabricError if it fails, or does not end in time."""
    try:
        with namespace.inside(netns):
            done = process.run_tool(list(words), marker=marker, env=dict(os.environ), timeout_s=within_s)
    except subprocess.TimeoutExpired as late:
        raise FabricError(f"{words[0]} does not end within {within_s:g} s") from late
    except OSError as error:
        raise FabricError(f"cannot run {words[0]}: {error}") from error
    if done.returncode != 0:
        last = (done.stderr or done.stdout).strip().splitlines()[-1:]
        raise FabricError(f"{words[0]} failed: {''.join(last) or f'exit code {done.returncode}'}")
    return done.stdout


def require_programs(programs: Mapping[str, str]) -> None:
    """FabricError names what is missing, and the packages to install. `programs`: names, or patterns of
    paths below /usr/lib, and the Debian package that each comes with."""
    missing = {name: package for name, package in programs.items() if not _there(name)}
    if missing:
        packages = " ".join(dict.fromkeys(missing.values()))
        raise FabricError(
            f"there is no {', '.join(missing)} here", f"install the Debian packages: {packages}"
        )


def _there(name: str) -> bool:
    if "/" in name:
        return next(_WHERE.glob(name), None) is not None
    return shutil.which(name) is not None or Path("/usr/sbin", name).exists()
