# SPDX-License-Identifier: Apache-2.0
"""The journal of one deployment: what is about to be made, what was made, what is gone again.

`<root>/<deployment>.journal`, JSON lines. It appears with its first record in one atomic step and goes as
the last thing of all, so whatever a killed process leaves behind stands in a journal. Each record is one
write, and one that is not written whole is taken back; a kill can only tear the last line, and what a torn
line announces has not been begun. Space to take everything down is reserved before anything is made.
"""

from __future__ import annotations

import errno
import importlib
import json
import os
import weakref
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from pydantic import BaseModel, ValidationError

from weir.base.error import FabricError
from weir.base.record import fault_text
from weir.base.step import STEP_KINDS
from weir.fabric.lock import LOCK_SUFFIX, Lock
from weir.plan import Step

if TYPE_CHECKING:
    from weir.base.cloud import CloudTopology
    from weir.base.topology import Topology
    from weir.plan import Tuning

SUFFIX = ".journal"
VERSION = 1
"""Of the records; a journal of another version is only named, and taken down by the Weir that made it."""
_BY_HAND = "remove by hand what it names, and then the file itself"
_OF_ANOTHER = f"destroy it with that one; or {_BY_HAND}"
_RESERVED_BYTES = 64 * 1024
_LOOKED_AT_S = 1.0
"""Whoever removes locks that nobody holds has a new one for less than this."""
_DESCRIBED = {
    "begin": ("weir.base.topology", "Topology"),
    "tune": ("weir.plan", "Tuning"),
    "cloud": ("weir.base.cloud", "CloudTopology"),
}
"""What the header describes, by its key. Loaded when one is read: few commands need them all."""


def root() -> Path:
    """Where run directories and journals are: $WEIR_RUN_DIR, or /run/weir."""
    return Path(os.environ.get("WEIR_RUN_DIR") or "/run/weir")


def make_run_root(place: Path) -> None:
    """OSError. What root makes of it everybody may pass through, whatever the umask: programs of users run as
    users of their own, and their files are below."""
    for one in reversed([one for one in (place, *place.parents) if not one.exists()]):
        with suppress(FileExistsError):  # somebody else has just made it
            one.mkdir()
            if os.geteuid() == 0:
                one.chmod(0o755)
    place.mkdir(exist_ok=True)


def journals(place: Path | None = None) -> list[Path]:
    """All that there are in that run directory, or this process's, in the order of their names; what only
    has such a name is none, nor is what another user may have written: it says what is done as this one."""
    found = (place or root()).glob(f"*{SUFFIX}")
    return sorted(path for path in found if path.is_file() and _is_ours(path))


def _is_ours(path: Path) -> bool:
    with suppress(OSError):
        return path.lstat().st_uid in {0, os.geteuid()} and not path.is_symlink()
    return False


def _key_of(about: BaseModel) -> str:
    return next(key for key, (_, name) in _DESCRIBED.items() if name == type(about).__name__)


@dataclass
class Entry:
    """A step that was announced, and what its undo needs to know."""

    step: Step
    facts: dict[str, Any] = field(default_factory=dict)


class Journal:
    """Open for reading and appending. Holding the lock means that this process works on the deployment."""

    def __init__(self, path: Path, fd: int | None = None, lock: Lock | None = None) -> None:
        self.path = path
        self._lock = lock or _lock_of(path)
        try:
            self._fd = _opened(path) if fd is None else fd
        except OSError as error:
            raise FabricError(f"cannot open the journal {path}: {error.strerror}", "is it yours?") from error
        # Whoever only looks at deployments need not close them.
        self._closed = weakref.finalize(self, os.close, self._fd)

    @classmethod
    def begin(cls, about: Topology | Tuning | CloudTopology) -> Journal:
        """A new journal, locked before anybody can see it."""
        path = root() / f"{about.deployment}{SUFFIX}"
        lock = _lock_of(path)
        try:
            make_run_root(path.parent)
            if path.exists() or not lock.take(_LOOKED_AT_S):
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))
            lock.reserve(_RESERVED_BYTES)
            flags = os.O_TMPFILE | os.O_RDWR | os.O_APPEND | os.O_CLOEXEC
            journal = cls(path, os.open(path.parent, flags, 0o644), lock)
            try:
                head = {"journal": VERSION, _key_of(about): about.model_dump(mode="json")}
                journal._append(head)
                # With a directory descriptor, because plain link(2) would not follow the symbolic link.
                descriptors = os.open("/proc/self/fd", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
                try:
                    os.link(str(journal._fd), path, src_dir_fd=descriptors, follow_symlinks=True)
                finally:
                    os.close(descriptors)
            except OSError:
                journal._closed()
                raise
        except OSError as error:
            lock.release()
            raise FabricError(
                f"cannot make the journal {path}: {error.strerror}",
                "run as root, or set WEIR_RUN_DIR to a directory of yours with space",
            ) from error
        return journal

    def lock(self, wait_s: float = 0.0) -> bool:
        """Takes the lock; False if another process still holds it after that time.

        FabricError if this user may only read the journal.
        """
        if not self._lock.take(wait_s):
            return False
        try:
            if self._read()[-1:] not in (b"", b"\n"):
                # Ends a line that a kill has torn, so that the next record has its own.
                os.write(self._fd, b"\n")
        except OSError as error:
            self._lock.release()
            raise self._not_written(error) from error
        return True

    def write(self, record: dict[str, Any]) -> None:
        """Appends one record. FabricError if there is no space for one that announces something; for what is
        done already there is space reserved."""
        try:
            try:
                self._append(record)
            except OSError:
                if "do" in record or "keep" in record:
                    raise
                self._lock.give_up_space()
                self._append(record)
        except OSError as error:
            raise self._not_written(error) from error

    def _not_written(self, error: OSError) -> FabricError:
        return FabricError(f"cannot write the journal {self.path}: {error.strerror}", "make space")

    def _append(self, record: dict[str, Any]) -> None:
        line, size = _line(record), os.fstat(self._fd).st_size
        try:
            written = os.write(self._fd, line)
            if written < len(line):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        except OSError:
            os.ftruncate(self._fd, size)
            raise

    def is_locked(self) -> bool:
        """Whether a process works on the deployment, this one or another; for any user."""
        return self._lock.is_held()

    def unlock(self) -> None:
        """Lets the lock go, of what stands on."""
        self._lock.release()

    def close(self) -> None:
        """Lets the lock go, too."""
        self._lock.release()
        self._closed()

    def remove(self) -> None:
        """Nothing stands any more. FabricError if it does not go: it is unlocked then."""
        try:
            self.path.unlink(missing_ok=True)
        except OSError as error:
            self.unlock()
            raise FabricError(
                f"all is gone but the journal {self.path}: {error.strerror}", "mend that and destroy again"
            ) from error
        self.close()

    def records(self) -> Iterator[dict[str, Any]]:
        """All whole records, in order."""
        for line in self._read().splitlines():
            try:
                record = json.loads(line)
            except ValueError:
                continue  # torn by a kill: what it announced was not begun
            if isinstance(record, dict):
                yield record

    def _read(self) -> bytes:
        """By descriptor: another process may have destroyed the deployment, and its journal, meanwhile."""
        return os.pread(self._fd, os.fstat(self._fd).st_size, 0)

    def header(self) -> dict[str, Any]:
        """The first record. FabricError if it is damaged, or of another version of Weir."""
        found = next(self.records(), None)
        if found is None:
            raise FabricError(f"{self.path} is damaged: its first line is not whole", _BY_HAND)
        if found.get("journal") != VERSION:
            raise FabricError(
                f"{self.path} is of another version of Weir",
                _OF_ANOTHER,
            )
        return found

    def topology(self) -> Topology | None:
        """Of a chain; None of anything else. FabricError if another version of Weir, with other words for
        it, made it: this one can only take it down."""
        return cast("Topology | None", self._described("begin"))

    def tuning(self) -> Tuning | None:
        """Of a tuned host. FabricError likewise."""
        return cast("Tuning | None", self._described("tune"))

    def cloud(self) -> CloudTopology | None:
        """Of a cloud of tenants. FabricError likewise."""
        return cast("CloudTopology | None", self._described("cloud"))

    def _described(self, key: str) -> BaseModel | None:
        said = self.header().get(key)
        if said is None:
            return None
        module, name = _DESCRIBED[key]
        model: type[BaseModel] = getattr(importlib.import_module(module), name)
        try:
            return model.model_validate(said)
        except ValidationError as error:
            name = self.path.name.removesuffix(SUFFIX)
            raise FabricError(
                f"{name} was deployed by another version of Weir, which describes it otherwise: "
                f"{fault_text(error)}",
                f"take it down with `weir destroy {name}`",
            ) from error

    def kept(self) -> bool:
        """Whether the deployment was made to outlive its maker, and nobody has begun to take it down."""
        said = {key for record in self.records() for key in record}
        return "keep" in said and "ending" not in said

    def standing(self) -> list[Entry]:
        """Steps that were announced and are not undone, in order."""
        found: dict[str, Entry] = {}
        for record in self.records():
            if "do" in record:
                step = _step(record["do"], self.path)
                found[step.name] = Entry(step)
            elif "facts" in record and record.get("step") in found:
                found[record["step"]].facts |= record["facts"]
            elif "undone" in record:
                found.pop(record["undone"], None)
        return list(found.values())


def _lock_of(path: Path) -> Lock:
    return Lock(path.with_suffix(LOCK_SUFFIX))


def _step(announced: object, path: Path) -> Step:
    try:
        return Step.model_validate(announced)
    except ValidationError as error:
        kind = announced.get("kind") if isinstance(announced, dict) else None
        if isinstance(kind, str) and kind not in STEP_KINDS:
            raise FabricError(
                f"{path} is of another version of Weir: this one knows no step {kind!r}", _OF_ANOTHER
            ) from error
        raise FabricError(
            f"{path} names a step that is none: {fault_text(error)}",
            _BY_HAND,
        ) from error


def _opened(path: Path) -> int:
    """To read and to append, or else only to read: everybody may see what is deployed."""
    try:
        return os.open(path, os.O_RDWR | os.O_APPEND | os.O_CLOEXEC)
    except PermissionError:
        return os.open(path, os.O_RDONLY | os.O_CLOEXEC)


def _line(record: dict[str, Any]) -> bytes:
    return json.dumps(record, separators=(",", ":")).encode() + b"\n"
