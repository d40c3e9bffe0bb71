# SPDX-License-Identifier: Apache-2.0
"""What was made in a cloud, written down before it is made: after a kill too, all of it can be found and
removed, and nothing else.

`<state>/clouds/<id>.journal`, JSON lines: the cloud first, then what is about to be made, what it was
given for an identifier, that no answer came, and what is gone. The file goes with the last of it.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from weir.base.error import FabricError
from weir.fabric.lock import LOCK_SUFFIX, Lock

SUFFIX = ".journal"
VERSION = 1
"""Of the records; a journal of another version is named, and left to the Weir that wrote it."""


def directory() -> Path:
    """Of this user: $WEIR_CLOUD_JOURNALS, or as of the XDG base directories."""
    own = os.environ.get("WEIR_CLOUD_JOURNALS")
    state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(own) if own else Path(state) / "weir" / "clouds"


@dataclass(frozen=True)
class Made:
    """One thing: announced under this name, and, once the cloud has told it, its identifier."""

    kind: str
    name: str
    id: str | None = None


class Journal:
    """Of one stack. Who holds its lock works on it."""

    def __init__(self, path: Path, lock: Lock) -> None:
        self.path = path
        self._lock = lock
        self.made: list[Made] = []
        """That still stands, as far as is known, in the order in which it was made."""
        self.answered: set[Made] = set()
        """Of these without an identifier: nothing is on its way any more. Not in the file."""
        self.given_up: set[Made] = set()
        """Of these without an identifier: nobody waits for the answer any more."""
        self.cloud: dict[str, Any] = {}
        self.version = VERSION

    @property
    def tag(self) -> str:
        """The name that all of it begins with; no two journals have the same."""
        return f"weir-{self.path.stem}"

    def age_s(self) -> float:
        """Since it was last written to; 0 where that cannot be told."""
        try:
            return max(time.time() - self.path.stat().st_mtime, 0.0)
        except OSError:
            return 0.0

    @classmethod
    def begin(cls, id_: str, cloud: dict[str, Any]) -> Journal:
        """A new one. FabricError where it cannot be written."""
        path = directory() / f"{id_}{SUFFIX}"
        lock = Lock(path.with_suffix(LOCK_SUFFIX))
        try:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            if not lock.take():
                raise FabricError(f"{path} is in use")
            journal = cls(path, lock)
            journal.cloud = cloud
            path.touch(mode=0o600, exist_ok=False)
            journal._write({"cloud": cloud, "version": VERSION})
        except OSError as error:
            lock.release()
            raise FabricError(f"cannot write {path}: {error.strerror}", "set XDG_STATE_HOME") from error
        return journal

    def announce(self, kind: str, name: str) -> None:
        """Before the cloud is asked for it."""
        self._write({"make": kind, "name": name})
        self.made.append(Made(kind, name))

    def known(self, kind: str, name: str, id_: str) -> None:
        """What the cloud called it."""
        self._write({"made": kind, "name": name, "id": id_})
        self._set(Made(kind, name, id_))

    def unanswered(self, kind: str, name: str) -> None:
        """The cloud was asked, and has not said by now what became of it. The file's time tells when that
        was; on a full disk, when the cloud was asked."""
        self.given_up.add(Made(kind, name))
        with suppress(FabricError):
            self._write({"unanswered": kind, "name": name})

    def gone(self, one: Made) -> None:
        """It stands no more. That this cannot be written, on a full disk, keeps nothing else from being
        removed: who reads the journal asks the cloud, and finds nothing."""
        self.made.remove(one)
        with suppress(FabricError):
            self._write({"gone": one.kind, "name": one.name})

    def _set(self, one: Made) -> None:
        self.made = [one if (each.kind, each.name) == (one.kind, one.name) else each for each in self.made]

    def _write(self, record: dict[str, Any]) -> None:
        try:
            with self.path.open("a", encoding="utf-8") as out:
                out.write(json.dumps(record) + "\n")
                out.flush()
                os.fsync(out.fileno())
        except OSError as error:
            raise FabricError(f"cannot write {self.path}: {error.strerror}", "free some space") from error

    def close(self) -> None:
        """It goes if nothing stands any more."""
        if not self.made:
            self.path.unlink(missing_ok=True)
        self._lock.release()

    def let_go(self) -> None:
        """It stays as it is, for others."""
        self._lock.release()

    def _read(self) -> bool:
        """Whether its first line was ever whole. FabricError."""
        try:
            data = self.path.read_bytes()
            if data and not data.endswith(b"\n"):  # the next record has a line of its own
                with self.path.open("ab") as out:
                    out.write(b"\n")
        except OSError as error:
            raise FabricError(f"cannot read {self.path}: {error.strerror}", "is it yours?") from error
        for line in data.splitlines():
            try:
                record = json.loads(line)
            except ValueError:
                continue  # torn by a kill: what it announces has not been begun
            self._take(record)
        return b"\n" in data

    def _take(self, record: Any) -> None:
        """What it says, as far as it is known: a line before it may be damaged."""
        match record:
            case {"cloud": cloud}:
                self.cloud, self.version = cloud, record.get("version", VERSION)
            case {"make": kind, "name": name}:
                self.made.append(Made(kind, name))
            case {"unanswered": kind, "name": name}:
                self.given_up.add(Made(kind, name))
            case {"made": kind, "name": name, "id": id_}:
                if all((one.kind, one.name) != (kind, name) for one in self.made):
                    self.made.append(Made(kind, name))
                self._set(Made(kind, name, id_))
            case {"gone": kind, "name": name}:
                self._forget(kind, name)

    def _forget(self, kind: str, name: str) -> None:
        self.made = [one for one in self.made if (one.kind, one.name) != (kind, name)]


def left(cloud: dict[str, Any]) -> Iterator[Journal]:
    """Those of this cloud that nobody works on any more, and those that do not say which theirs is; each is
    held until it is closed, or let go. Of some the version is another one. FabricError."""
    for path in sorted(directory().glob(f"*{SUFFIX}")):
        lock = Lock(path.with_suffix(LOCK_SUFFIX))
        if not lock.take():
            continue
        journal = Journal(path, lock)
        if not path.is_file():
            lock.release()
            continue
        try:
            begun = journal._read()
        except BaseException:
            lock.release(gone=False)
            raise
        if journal.cloud == cloud or (begun and not journal.cloud):
            yield journal
        elif not begun:  # killed before its first line was whole
            journal.close()
        else:
            lock.release()
