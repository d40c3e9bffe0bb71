# SPDX-License-Identifier: Apache-2.0
"""Logs of what failed, in a folder that outlives the deployment. The error names them and has their end."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

from weir.base.error import ChainError
from weir.fabric.journal import root
from weir.fabric.process import LAST_LINES

KEPT = 10
"""Deployments whose logs are kept: the last ones."""
LOG_BYTES_MAX = 4 << 20
"""Of one log; of a longer one its end."""
LINE_CHARACTERS_MAX = 300
_SUFFIXES = frozenset({".log", ".out"})
_RELEVANT = re.compile(
    r"\b(abort|cannot|could not|denied|emer|err|error|fail|failed|failure|fatal|no such|not enough"
    r"|panic|refused|segfault|unable)\b|Sanitizer",
    re.IGNORECASE,
)


def folder() -> Path:
    """$WEIR_LOG_DIR; else logs/ in $WEIR_RUN_DIR; else /var/log/weir, which stays when the machine boots."""
    chosen = os.environ.get("WEIR_LOG_DIR")
    if chosen:
        return Path(chosen)
    return root() / "logs" if os.environ.get("WEIR_RUN_DIR") else Path("/var/log/weir")


def keep_logs(run_dir: Path, error: BaseException) -> None:
    """Copies the logs of a deployment that failed, and tells the error where they are and how they end.

    Only of errors of a chain, and once of each; never raises: what failed is said in any case, and why no log
    is kept.
    """
    place = folder() / run_dir.name
    if not isinstance(error, ChainError) or str(place) in str(error):
        return
    logs = sorted(path for path in run_dir.rglob("*") if path.suffix in _SUFFIXES and _has_text(path))
    if not logs:
        return
    try:
        copies = _copied(logs, run_dir, place)
        _forget_old(place)
    except OSError as failure:
        error.tell(f"{error}; its logs could not be kept in {place}: {failure.strerror or failure}")
        return
    said = str(error).replace(str(run_dir), str(place))
    words = [
        f"{path.relative_to(place)}: {text}" for path in copies if (text := last_words(path)) not in said
    ]
    error.tell(f"{said}; logs kept in {place}" + "".join(f"; {one}" for one in words))


def last_words(log: Path, lines: int = LAST_LINES) -> str:
    """Its last lines that speak of a failure, in one; its last line of any kind where none does."""
    said = [line.strip() for line in log.read_text(errors="replace").splitlines() if line.strip()]
    chosen = [line for line in said if _RELEVANT.search(line)][-lines:] or said[-1:]
    return " | ".join(line[:LINE_CHARACTERS_MAX] for line in chosen)


def _has_text(path: Path) -> bool:
    try:
        return path.is_file() and not path.is_symlink() and path.stat().st_size > 0
    except OSError:
        return False


def _copied(logs: list[Path], run_dir: Path, place: Path) -> list[Path]:
    place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    shutil.rmtree(place, ignore_errors=True)  # of this deployment, which failed before
    place.mkdir(mode=0o700)
    copies = []
    for log in logs:
        copy = place / log.relative_to(run_dir)
        copy.parent.mkdir(mode=0o700, exist_ok=True, parents=True)
        copy.touch(mode=0o600)
        with log.open("rb") as source, copy.open("wb") as target:
            source.seek(max(0, log.stat().st_size - LOG_BYTES_MAX))
            shutil.copyfileobj(source, target)
        copies.append(copy)
    return copies


def _forget_old(newest: Path) -> None:
    """Only folders that are deployments' logs: named as one, in a folder that may have other things."""
    known = [
        one
        for one in newest.parent.iterdir()
        if one.is_dir() and not one.is_symlink() and re.fullmatch(r"[a-z][a-z0-9-]*-[0-9a-f]{8}", one.name)
    ]
    for old in sorted(known, key=lambda one: one.stat().st_mtime_ns)[:-KEPT]:
        shutil.rmtree(old, ignore_errors=True)
