# SPDX-License-Identifier: Apache-2.0
"""Logs of what failed, and files that its error names, in a folder that outlives the deployment. The error
names them and has the end of the logs."""

from __future__ import annotations

import os
import re
import shutil
import stat
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from weir.base.error import ChainError
from weir.fabric.journal import root
from weir.fabric.program_log import LAST_LINES, end_lines, printable

QUOTED_MAX = 5
"""Logs whose ends an error quotes, where there are many."""
KEPT = 10
"""Deployments whose logs are kept: the last ones."""
DEPTH_MAX = 8
"""Of folders with logs in them: a program of a user's may have nested more than anybody can walk."""
LOG_BYTES_MAX = 4 << 20
"""Of one log; of a longer one its end."""
NAMED_BYTES_MAX = 64 << 20
"""Of a file that the error names, as a program has read it: a longer one is left, a disk for one."""
LINE_CHARACTERS_MAX = 300
_SUFFIXES = frozenset({".log", ".out", ".serial", ".before"})
# What DPDK says of every machine without pages of 1 GiB.
_USUAL = re.compile(r"EAL: No (free|available) \d+ kB hugepages reported")
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


def keep_logs(deployment: str, directories: Sequence[Path], error: BaseException) -> None:
    """Copies logs of a deployment that failed, and what files the error names, and tells the error where they
    are and how the logs end.

    `directories`: where they are, with all below these.

    Only of errors of a chain, and once of each; never raises: what failed is said in any case, and why no log
    is kept.
    """
    place = folder() / deployment
    if not isinstance(error, ChainError) or str(place) in str(error):
        return
    try:
        said = str(error)
        logs = {path: path.relative_to(one) for one in directories for path in _logs_in(one, said)}
        if not logs:
            return
        copies = _copied(logs, place)
        _forget_old(place)
        said = _moved(said, directories, place)
        words = [
            f"{path.relative_to(place)}: {text}"
            for path in _telling([one for one in copies if one.suffix in _SUFFIXES])
            if (text := _moved(last_words(path), directories, place)) and text not in said
        ]
    except OSError as failure:  # another weir may have removed the copies already, as old ones
        why = failure.strerror or failure
        error.tell(f"{str(error).removesuffix('.')}; its logs could not be kept in {place}: {why}")
        return
    error.tell(f"{said.removesuffix('.')}; logs kept in {place}" + "".join(f"; {one}" for one in words))


def last_words(log: Path, lines: int = LAST_LINES) -> str:
    """Its last lines that speak of a failure, in one; its last line of any kind where none does."""
    lines_said = map(printable, end_lines(log))
    said = [line for line in lines_said if line and not _USUAL.search(line)]
    chosen = [line for line in said if _RELEVANT.search(line)][-lines:] or said[-1:]
    return " | ".join(line[:LINE_CHARACTERS_MAX] for line in chosen)


def _moved(text: str, directories: Sequence[Path], place: Path) -> str:
    """With paths of the copies."""
    for one in directories:
        text = text.replace(str(one), str(place))
    return text


def _telling(logs: Sequence[Path]) -> list[Path]:
    """Of many, those that speak of a failure."""
    if len(logs) <= QUOTED_MAX:
        return list(logs)
    return [one for one in logs if _RELEVANT.search(one.read_text(errors="replace"))][:QUOTED_MAX]


def _logs_in(directory: Path, said: str) -> list[Path]:
    """And what else of it is named in what the error said."""
    found, folders = [], [(directory, 0)]
    while folders:
        folder, depth = folders.pop()
        with suppress(FileNotFoundError):  # it is gone meanwhile
            for path in folder.iterdir():
                if path.is_dir() and not path.is_symlink():
                    folders += [(path, depth + 1)] * (depth < DEPTH_MAX)
                elif _is_kept(path, said):
                    found.append(path)
    return sorted(found)


def _is_kept(path: Path, said: str) -> bool:
    """A log with text, or a file that is named by its whole path, which may end a sentence."""
    try:
        size_bytes = path.stat().st_size if path.is_file() and not path.is_symlink() else 0
    except OSError:
        return False
    if path.suffix in _SUFFIXES:
        return size_bytes > 0
    named = re.search(rf"{re.escape(str(path))}(?![\w-]|\.\w)", said)
    return named is not None and 0 < size_bytes <= NAMED_BYTES_MAX


def _copied(logs: Mapping[Path, Path], place: Path) -> list[Path]:
    """Each to its path below the place; one that its process has removed meanwhile is left out."""
    place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    shutil.rmtree(place, ignore_errors=True)  # of this deployment, which failed before
    place.mkdir(mode=0o700)
    copies = []
    for log, below in logs.items():
        try:
            source = log.open("rb")
        except FileNotFoundError:
            continue
        copy = place / below
        with source:
            copy.parent.mkdir(mode=0o700, exist_ok=True, parents=True)
            copy.touch(mode=0o600, exist_ok=False)
            with copy.open("wb") as target:
                most = LOG_BYTES_MAX if log.suffix in _SUFFIXES else NAMED_BYTES_MAX
                source.seek(max(0, os.fstat(source.fileno()).st_size - most))
                shutil.copyfileobj(source, target)
        copies.append(copy)
    return copies


def _forget_old(newest: Path) -> None:
    """Only folders that are deployments' logs: named as one, in a folder that may have other things."""
    modified_ns: dict[Path, int] = {}
    for one in newest.parent.iterdir():
        if re.fullmatch(r"[a-z][a-z0-9-]*-[0-9a-f]{8}", one.name):
            with suppress(FileNotFoundError):  # another weir removes old ones, too
                status = one.lstat()
                if stat.S_ISDIR(status.st_mode):
                    modified_ns[one] = status.st_mtime_ns
    for old in sorted(modified_ns, key=modified_ns.__getitem__)[:-KEPT]:
        shutil.rmtree(old, ignore_errors=True)
