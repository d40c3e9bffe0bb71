# SPDX-License-Identifier: Apache-2.0
"""The store's database: where it lies, which version it has, what to do when it cannot be read."""

from __future__ import annotations

import os
import sqlite3
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from sqlalchemy import (
    Connection,
    Engine,
    create_engine,
    event,
    insert,
    inspect,
    select,
)
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError
from sqlalchemy.orm import Session
from sqlalchemy.pool import StaticPool

from weir.base.error import USAGE, WeirError
from weir.store.files import data_folder, forbidden, give, make_folder
from weir.store.tables import SCHEMA_VERSION, Base, RunRow, SchemaRow

LISTED = 5  # newest runs that a message names
BUSY_TIMEOUT_S = 30
COPIED_BYTES_MAX = 1 << 29
_LOCK = 0x57656972  # "Weir": any number that others do not use
_BUSY_PAUSE_S = 0.02


class StoreError(WeirError):
    """The store cannot be used; says which, why, and what to do."""


class UnknownRunError(StoreError):
    """The store has no such run, or several; says which there are."""

    exit_code = USAGE
    located = True


class NoStoreError(StoreError):
    """There is nothing to read."""

    exit_code = USAGE


def default_location() -> str:
    """$WEIR_STORE (a file or a database URL), or results.db in the user's data directory."""
    return os.environ.get("WEIR_STORE") or str(data_folder() / "results.db")


def open_database(
    location: str | Path, *, reading: bool = False, changing: bool = True
) -> tuple[Engine, str]:
    """An engine for a file or URL, with the tables made where there are none, and its name for messages.

    Tables of an older Weir are brought up to date first. `reading`: nothing else is made or changed; where
    that may not be written, or not `changing`, a copy in memory is brought up to date. StoreError if it is
    no database, of a newer Weir, or not to be reached; NoStoreError if there is nothing to read.
    """
    url = _url(location)
    name = url.render_as_string(hide_password=True) if "://" in str(location) else str(location)
    engine = _engine(url, name, reading=reading)
    with explained(name):
        found = _found_version(engine)
        if reading and found is not None and found < SCHEMA_VERSION:
            engine.dispose()
            if changing and _may_change(url):
                open_database(location)[0].dispose()
                engine = _engine(url, name, reading=True)
            elif not _is_file(url):
                raise StoreError(f"{name}: written by an older Weir; `weir ls` brings it up to date")
            else:
                engine = _copy_in_memory(Path(str(url.database)), name)
            found = _found_version(engine)
        elif not reading and (found is None or found < SCHEMA_VERSION):
            found = _up_to_date(engine, name)
    if found is None:
        raise NoStoreError(f"{name}: has no tables of a store; expected one that `weir run LAB` made")
    if found > SCHEMA_VERSION:
        raise StoreError(
            f"{name}: written by a newer Weir (schema {found}; this one reads up to {SCHEMA_VERSION}); use"
            " that Weir, or another store with --store"
        )
    return engine, name


def _engine(url: URL, name: str, *, reading: bool) -> Engine:
    """Its file is there, if it is one, and this user may use it. StoreError, NoStoreError."""
    options: dict[str, Any] = {}
    if _is_file(url):
        path = Path(str(url.database)).absolute()
        try:
            url = _read_only(url, name) if reading else _made(url)
            if not os.access(path, os.R_OK if reading else os.R_OK | os.W_OK, effective_ids=True):
                raise PermissionError
        except PermissionError as error:
            advice = (
                "let {owner} hand over a run (`weir export RUN -o FILE`), " if reading else ""
            ) + "or choose another store with --store or $WEIR_STORE"
            raise StoreError(forbidden(path, name, "read" if reading else "written to", advice)) from error
        except OSError as error:
            raise StoreError(f"{name}: {error.strerror}; choose another place with --store") from error
    elif reading and url.get_backend_name() == "postgresql":
        options["connect_args"] = {"options": "-c default_transaction_read_only=on"}
    try:
        engine = create_engine(url, **options)
    except (NoSuchModuleError, ModuleNotFoundError) as error:
        raise StoreError(
            f"{name}: no driver for this kind of database ({error}); install it: "
            "`pip install 'weir[postgresql]'`"
        ) from error
    if engine.dialect.name == "sqlite":
        event.listen(engine, "connect", _sqlite_reading if reading else _sqlite_options)
    return engine


def _is_file(url: URL) -> bool:
    """One of SQLite, by its path."""
    named = url.database or ":memory:"
    return url.drivername.startswith("sqlite") and not named.startswith((":memory:", "file:"))


def stamp(location: str | Path | None) -> tuple[int, ...]:
    """Another one after a file's store was written to; of a server, which tells itself, always the same."""
    url = _url(location or default_location())
    if not _is_file(url):
        return ()
    path = Path(str(url.database)).absolute()
    found = []
    for one in (path, path.with_name(f"{path.name}-wal")):
        with suppress(OSError):
            known = one.stat()
            found += [known.st_ino, known.st_size, known.st_mtime_ns]
    return tuple(found)


def _made(url: URL) -> URL:
    """Its file is there, and the user's; SQLite fills it. OSError."""
    path = Path(str(url.database))
    make_folder(path.parent)
    with suppress(FileExistsError):
        path.touch(exist_ok=False)
        give(path)
    return url


def _read_only(url: URL, name: str) -> URL:
    """Whoever may read the file may read the store, and leaves nothing beside it.

    While somebody writes there is a log beside it. Without one SQLite would make one, so it is told that
    the file does not change.
    """
    path = Path(str(url.database)).absolute()
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError) as error:
        raise NoStoreError(f"there is no store at {name}; `weir run LAB` makes one") from error
    log = path.with_name(f"{path.name}-wal")
    how = {"mode": "ro"} if log.exists() and log.stat().st_size else {"immutable": "1"}
    return URL.create(url.drivername, database=path.as_uri(), query={**how, "uri": "true"})


def _may_change(url: URL) -> bool:
    """Whoever may write the file and beside it; a server says so itself."""
    if not _is_file(url):
        return True
    path = Path(str(url.database)).absolute()
    return all(os.access(one, os.W_OK, effective_ids=True) for one in (path, path.parent))


def _copy_in_memory(path: Path, name: str) -> Engine:
    """Brought up to date there: who may only read leaves the file as it is. StoreError: it is too big."""
    if path.stat().st_size > COPIED_BYTES_MAX:
        raise StoreError(
            f"{name}: written by an older Weir, and too big to be brought up to date in memory; let its owner"
            " do it: any command of theirs, such as `weir ls`, does"
        )
    copy = sqlite3.connect(":memory:", check_same_thread=False)
    source = _engine(_url(path), name, reading=True)
    with source.connect() as connection:
        connection.connection.driver_connection.backup(copy)  # type: ignore[union-attr]
    source.dispose()
    engine = create_engine("sqlite://", creator=lambda: copy, poolclass=StaticPool)
    _up_to_date(engine, name)
    event.listen(engine, "begin", lambda one: one.exec_driver_sql("PRAGMA query_only=ON"))
    return engine


def _version_in(connection: Connection) -> int | None:
    """None: there are no tables."""
    there = inspect(connection).has_table(SchemaRow.__tablename__)
    return connection.scalar(select(SchemaRow.version)) if there else None


def _found_version(engine: Engine) -> int | None:
    with engine.connect() as connection:
        return _version_in(connection)


def _up_to_date(engine: Engine, name: str) -> int:
    """Makes the tables, or brings those of an older Weir up to date, all or nothing; which version there is
    now. Of two that do it at once the second finds it done."""
    with engine.begin() as connection:
        if engine.dialect.name == "sqlite":
            connection.exec_driver_sql("BEGIN IMMEDIATE")
        elif engine.dialect.name == "postgresql":
            connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_LOCK})")
        found = _version_in(connection)
        if found is None:
            Base.metadata.create_all(connection)
            connection.execute(insert(SchemaRow).values(version=SCHEMA_VERSION))
        elif found < SCHEMA_VERSION:
            _migrate(connection, found, name)
        else:
            return found
    return SCHEMA_VERSION


def _migrate(connection: Connection, found: int, name: str) -> None:
    """By Alembic, which takes long to import; in the transaction that the connection is in."""
    from alembic import command
    from alembic.config import Config

    print(f"weir: {name}: brought up to date for this Weir, once", file=sys.stderr)
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations").replace("%", "%%"))
    config.attributes |= {"connection": connection, "found": found}
    command.upgrade(config, str(SCHEMA_VERSION))


@contextmanager
def explained(name: str) -> Iterator[None]:
    """Turns the database's errors into StoreError."""
    try:
        yield
    except DBAPIError as error:
        reason = str(error.orig).splitlines()[0] if str(error.orig) else type(error.orig).__name__
        fix = "check the place and its permissions"
        if "not a database" in reason or "malformed" in reason:
            fix = "the file is damaged or no Weir store: move it away, or choose another with --store"
        elif "locked" in reason:
            fix = "another program holds it: wait for it to end"
        elif ("disk" in reason and "full" in reason) or "No space left" in reason:
            fix = "make room on the disk"
        elif "connection" in reason and "://" in name:
            fix = "is the server there, and may this user use the database?"
        raise StoreError(f"{name}: {reason}; {fix}") from error


def _url(location: str | Path) -> URL:
    text = str(location)
    if "://" not in text:
        return URL.create("sqlite", database=text)
    try:
        return make_url(text)
    except ArgumentError as error:
        raise StoreError(f"{text}: expected a file or a database URL like postgresql+psycopg://…") from error


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


class Database:
    """An open store, without the shapes of results: those take long to import, and lists need none."""

    def __init__(
        self, location: str | Path | None = None, *, reading: bool = False, changing: bool = True
    ) -> None:
        """`reading`: nothing is made, and NoStoreError says that there is no store; without `changing` tables
        of an older Weir stay as they are, too."""
        self._engine, self.name = open_database(
            location or default_location(), reading=reading, changing=changing
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Closes the database."""
        self._engine.dispose()

    @contextmanager
    def session(self, *, writing: bool = False) -> Iterator[Session]:
        """Whose errors are StoreError; `writing`: committed when the body ends, or nothing of it is."""
        with explained(self.name), Session(self._engine) as session:
            if writing:
                with session.begin():
                    yield session
            else:
                yield session

    def run_of(self, session: Session, run_id: str) -> RunRow:
        """The row of a run; a beginning of the id will do if only one run has it. UnknownRunError."""
        row = session.scalar(select(RunRow).where(RunRow.id == run_id))
        if row is not None:
            return row
        near = session.scalars(select(RunRow).where(RunRow.id.startswith(run_id, autoescape=True))).all()
        if len(near) == 1 and run_id:
            return near[0]
        if near:
            raise UnknownRunError(f"{self.name}: {len(near)} runs begin with {run_id!r}; give more of the id")
        from weir.lab.problem import did_you_mean

        known = session.scalars(select(RunRow.id).order_by(RunRow.number.desc())).all()
        raise UnknownRunError(
            f"{self.name}: has no run {run_id!r}; expected one of {', '.join(known[:LISTED]) or 'none yet'}"
            + did_you_mean(run_id, known)
        )
