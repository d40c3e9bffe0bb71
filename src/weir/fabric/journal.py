# SPDX-License-Identifier: Apache-2.0
"""The journal of one deployment: what is about to be made, what was made, what is gone again.

`<root>/<deployment>.journal`, JSON lines. It appears with its first record in one atomic step and goes as
the last thing of all, so whatever a killed process leaves behind stands in a journal. Each record is one
write; a kill can only tear the last line, and what a torn line announces has not been begun.
"""

from __future__ import annotations

import fcntl
import json
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from weir.base.topology import Topology
from weir.fabric.errors import FabricError
from weir.plan import Step, Tuning

SUFFIX = ".journal"
_HEADERS = {Topology: "begin", Tuning: "tune"}


def root() -> Path:
    """Where run directories and journals are: $WEIR_RUN_DIR, or /run/weir."""
    return Path(os.environ.get("WEIR_RUN_DIR") or "/run/weir")


@dataclass
class Entry:
    """A step that was announced, and what its undo needs to know."""

    step: Step
    facts: dict[str, Any] = field(default_factory=dict)


class Journal:
    """Open for reading and appending. Holding the lock means that this process works on the deployment."""

    def __init__(self, path: Path, fd: int | None = None) -> None:
        self.path = path
        try:
            self._fd = _opened(path) if fd is None else fd
        except OSError as error:
            raise FabricError(f"cannot open the journal {path}: {error.strerror}", "is it yours?") from error

    @classmethod
    def begin(cls, about: Topology | Tuning) -> Journal:
        """A new journal, locked before anybody can see it."""
        path = root() / f"{about.deployment}{SUFFIX}"
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            flags = os.O_TMPFILE | os.O_RDWR | os.O_APPEND | os.O_CLOEXEC
            journal = cls(path, os.open(path.parent, flags, 0o644))
            try:
                journal.lock()
                journal.write({_HEADERS[type(about)]: about.model_dump(mode="json")})
                # With a directory descriptor, because plain link(2) would not follow the symbolic link.
                descriptors = os.open("/proc/self/fd", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
                try:
                    os.link(str(journal._fd), path, src_dir_fd=descriptors, follow_symlinks=True)
                finally:
                    os.close(descriptors)
            except OSError:
                journal.close()
                raise
        except OSError as error:
            raise FabricError(
                f"cannot make the journal {path}: {error.strerror}",
                "run as root, or set WEIR_RUN_DIR to a directory of yours",
            ) from error
        return journal

    def lock(self, wait_s: float = 0.0) -> bool:
        """Takes the lock; False if another process still holds it after that time.

        FabricError if this user may only read the journal.
        """
        if not fcntl.fcntl(self._fd, fcntl.F_GETFL) & os.O_RDWR:
            raise FabricError(f"the journal {self.path} is another user's", "run this as root or with sudo")
        deadline = time.monotonic() + wait_s
        while True:
            try:
                fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() >= deadline:
                    return False
            time.sleep(0.01)
        if self._read()[-1:] not in (b"", b"\n"):
            os.write(self._fd, b"\n")  # ends a line that a kill has torn, so that the next record has its own
        return True

    def write(self, record: dict[str, Any]) -> None:
        """Appends one record."""
        os.write(self._fd, _line(record))

    def close(self) -> None:
        """Lets the lock go."""
        os.close(self._fd)

    def records(self) -> Iterator[dict[str, Any]]:
        """All whole records, in order."""
        for line in self._read().splitlines():
            try:
                yield json.loads(line)
            except ValueError:
                continue  # torn by a kill: what it announced was not begun

    def _read(self) -> bytes:
        """By descriptor: another process may have destroyed the deployment, and its journal, meanwhile."""
        return os.pread(self._fd, os.fstat(self._fd).st_size, 0)

    def header(self) -> dict[str, Any]:
        """The first record."""
        return next(self.records(), {})

    def kept(self) -> bool:
        """Whether the deployment was made to outlive its maker, and nobody has begun to take it down."""
        said = {key for record in self.records() for key in record}
        return "keep" in said and "ending" not in said

    def standing(self) -> list[Entry]:
        """Steps that were announced and are not undone, in order."""
        found: dict[str, Entry] = {}
        for record in self.records():
            if "do" in record:
                step = Step.model_validate(record["do"])
                found[step.name] = Entry(step)
            elif "facts" in record and record["step"] in found:
                found[record["step"]].facts |= record["facts"]
            elif "undone" in record:
                found.pop(record["undone"], None)
        return list(found.values())


def _opened(path: Path) -> int:
    """To read and to append, or else only to read: everybody may see what is deployed."""
    try:
        return os.open(path, os.O_RDWR | os.O_APPEND | os.O_CLOEXEC)
    except PermissionError:
        return os.open(path, os.O_RDONLY | os.O_CLOEXEC)


def _line(record: dict[str, Any]) -> bytes:
    return json.dumps(record, separators=(",", ":")).encode() + b"\n"
