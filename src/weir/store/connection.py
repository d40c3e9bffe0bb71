# SPDX-License-Identifier: Apache-2.0
"""A store's file or server: where it is, who may read and write it, and what its errors say."""

from __future__ import annotations

import os
import sqlite3
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, create_engine, event
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, IntegrityError, NoSuchModuleError

from weir.base.error import USAGE, WeirError
from weir.base.extras import install
from weir.store.files import data_folder, forbidden, give, make_folder

IMMUTABLE = "immutable"
"""How a file is opened that this user may not lock."""
BUSY_TIMEOUT_S = 30
CONNECT_S = 10
"""A server that has said nothing for so long is not there."""
_BUSY_PAUSE_S = 0.02
DAMAGED = "the file is damaged or no Weir store: move it away, or choose another with --store"


class StoreError(WeirError):
    """The store cannot be used; says which, why, and what to do."""


class StoredMeanwhileError(StoreError):
    """Another one stored what may be there once alone."""


class StoreFullError(StoreError):
    """Its disk has no room left, or seems not to: with some, it can be used again."""


class NoStoreError(StoreError):
    """There is nothing to read."""

    exit_code = USAGE


def default_location() -> str:
    """$WEIR_STORE (a file or a database URL), or results.db in the user's data directory."""
    return os.environ.get("WEIR_STORE") or str(data_folder() / "results.db")


def url_of(location: str | Path) -> URL:
    text = str(location)
    if "://" not in text:
        return URL.create("sqlite", database=text)
    try:
        return make_url(text)
    except ArgumentError as error:
        raise StoreError(f"{text}: expected a file or a database URL like postgresql+psycopg://…") from error


def is_file(url: URL) -> bool:
    """One of SQLite, by its path."""
    named = url.database or ":memory:"
    return url.drivername.startswith("sqlite") and not named.startswith((":memory:", "file:"))


def may_change(url: URL) -> bool:
    """Whoever may write the file and beside it; a server says so itself."""
    if not is_file(url):
        return True
    path = Path(str(url.database)).absolute()
    return all(os.access(one, os.W_OK, effective_ids=True) for one in (path, path.parent))


def engine_of(url: URL, name: str, *, reading: bool, log: bool = True) -> Engine:
    """Its file is there, if it is one, and this user may use it; `log`: and have one beside it where they
    may make it. StoreError, NoStoreError."""
    options: dict[str, Any] = {}
    if is_file(url):
        path = Path(str(url.database)).absolute()
        try:
            url = _read_only(url, name, log=log) if reading else _made(url)
            if not os.access(path, os.R_OK if reading else os.R_OK | os.W_OK, effective_ids=True):
                raise PermissionError
        except PermissionError as error:
            advice = (
                "let {owner} hand over a run (`weir export RUN -o FILE`), " if reading else ""
            ) + "or choose another store with --store or $WEIR_STORE"
            raise StoreError(forbidden(path, name, "read" if reading else "written to", advice)) from error
        except OSError as error:
            raise StoreError(f"{name}: {error.strerror}; choose another place with --store") from error
    if url.get_backend_name() == "postgresql":
        options["pool_pre_ping"] = True  # a server that was started anew has closed them
        options["connect_args"] = {"connect_timeout": CONNECT_S}
        if reading:
            options["connect_args"] |= {"options": "-c default_transaction_read_only=on"}
    try:
        engine = create_engine(url, **options)
    except (NoSuchModuleError, ModuleNotFoundError) as error:
        if not url.drivername.startswith("postgresql"):
            raise StoreError(
                f"{name}: stores are in a file or in PostgreSQL; expected a path, or a database URL like "
                "postgresql+psycopg://…"
            ) from error
        raise StoreError(
            f"{name}: no driver for this kind of database ({error}); install it: `{install('postgresql')}`"
        ) from error
    if engine.dialect.name == "sqlite":
        event.listen(engine, "connect", _sqlite_reading if reading else _sqlite_options)
    return engine


def stamp(location: str | Path | None) -> tuple[int, ...]:
    """Another one after a file's store was written to; of a server, which tells itself, always the same."""
    url = url_of(location or default_location())
    if not is_file(url):
        return ()
    path = Path(str(url.database)).absolute()
    found = []
    for one in (path, path.with_name(f"{path.name}-wal")):
        with suppress(OSError):
            known = one.stat()
            if known.st_size:  # a log without anything in it tells of somebody who is there, too
                found += [known.st_ino, known.st_size, known.st_mtime_ns]
    return tuple(found)


def identity(location: str | Path) -> tuple[int, int] | None:
    """Another one once another file is there, and none of a server; (0, 0): the file is not there."""
    url = url_of(location)
    if not is_file(url):
        return None
    try:
        known = Path(str(url.database)).stat()
    except OSError:
        return 0, 0
    return known.st_dev, known.st_ino


def _made(url: URL) -> URL:
    """Its file is there, and the user's; SQLite fills it. OSError."""
    path = Path(str(url.database))
    make_folder(path.parent)
    with suppress(FileExistsError):
        path.touch(exist_ok=False)
        give(path)
    return url


def _read_only(url: URL, name: str, *, log: bool) -> URL:
    """Whoever may read the file may read the store, and leaves nothing beside it.

    Readers have a log beside the file, as writers have, which goes when the last of them ends. Who may not
    make one is told by SQLite that it can't, unless it is there; so it is told that the file does not change,
    and `Database.session` looks whether that was so.
    """
    path = Path(str(url.database)).absolute()
    try:
        regular = stat.S_ISREG(path.stat().st_mode)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise no_store(name) from error
    if not regular:
        raise StoreError(f"{name}: is no file; expected a store that `weir run LAB` made")
    if log and may_change(url):
        return url
    there = path.with_name(f"{path.name}-wal")
    how = {"mode": "ro"} if there.exists() and there.stat().st_size else {IMMUTABLE: "1"}
    return URL.create(url.drivername, database=path.as_uri(), query={**how, "uri": "true"})


def no_store(name: str) -> NoStoreError:
    return NoStoreError(f"there is no store at {name}; `weir run LAB` makes one")


def no_room(error: DBAPIError) -> bool:
    """For the log that a reader has beside the file."""
    code = getattr(error.orig, "sqlite_errorcode", 0) & 0xFF
    return code in {sqlite3.SQLITE_IOERR, sqlite3.SQLITE_FULL, sqlite3.SQLITE_CANTOPEN}


@contextmanager
def explained(name: str) -> Iterator[None]:
    """Turns the database's errors into StoreError."""
    try:
        yield
    except DBAPIError as error:
        reason = str(error.orig).splitlines()[0] if str(error.orig) else type(error.orig).__name__
        fix, kind = "check the place and its permissions", StoreError
        if isinstance(error, IntegrityError):
            fix, kind = "another weir stored the same meanwhile: look, and do it again", StoredMeanwhileError
        elif "not a database" in reason or "malformed" in reason:
            fix = DAMAGED
        elif "locked" in reason:
            fix = "another program holds it: wait for it to end"
        elif ("disk" in reason and "full" in reason) or "No space left" in reason:
            fix = "make room on the disk, by other files than this one: removing runs takes some, too"
            kind = StoreFullError
        elif "disk I/O error" in reason:
            fix = "is the disk full or damaged? writing takes some room, removing runs too"
            kind = StoreFullError
        elif "locking protocol" in reason or "unable to open" in reason:
            fix = (
                "check the place and its permissions; or a program that wrote to it was killed, which any"
                " command of its owner mends, such as `weir ls`"
            )
        elif "connection" in reason and "://" in name:
            fix = "is the server there, and may this user use the database?"
        raise kind(f"{name}: {reason}; {fix}") from error


def _sqlite_options(connection: Any, _record: object) -> None:
    """What is committed survives a kill; readers do not wait for a writer."""
    if not isinstance(connection, sqlite3.Connection):
        return
    connection.execute(f"PRAGMA busy_timeout={BUSY_TIMEOUT_S * 1000}")
    _write_ahead(connection)
    connection.execute("PRAGMA synchronous=NORMAL")
    connection.execute("PRAGMA foreign_keys=ON")


def _sqlite_reading(connection: Any, _record: object) -> None:
    """Nothing is changed."""
    if isinstance(connection, sqlite3.Connection):
        connection.execute(f"PRAGMA busy_timeout={BUSY_TIMEOUT_S * 1000}")
        connection.execute("PRAGMA query_only=ON")


def _write_ahead(connection: sqlite3.Connection) -> None:
    """SQLite does not wait where two make this change of a new file at once, whatever the busy time-out."""
    deadline = time.monotonic() + BUSY_TIMEOUT_S
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
        time.sleep(_BUSY_PAUSE_S)
