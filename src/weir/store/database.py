# SPDX-License-Identifier: Apache-2.0
"""The store's database: its tables, where it lies, which version it has, what to do when it cannot be read.

Documents are JSON of the records in `weir.results.result`, each without its children. A case's trials are
rows of their own, written as they finish. Until the case itself is finished its document says only which
frame it is of.
"""

from __future__ import annotations

import os
import pwd
import sqlite3
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, ForeignKey, Text, create_engine, event, inspect, select
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column

from weir.base.error import USAGE, WeirError
from weir.store.files import data_folder, give, make_folder

SCHEMA_VERSION = 1


class Base(DeclarativeBase):
    """All tables of the store."""


class SchemaRow(Base):
    """One row: which version of these tables the database has."""

    __tablename__ = "weir_schema"
    version: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)


class RunRow(Base):
    """A Result without its setups."""

    __tablename__ = "weir_run"
    number: Mapped[int] = mapped_column(primary_key=True)
    id: Mapped[str] = mapped_column(unique=True)
    lab: Mapped[str] = mapped_column(index=True)
    document: Mapped[str] = mapped_column(Text)


class SetupRow(Base):
    """A Setup without its cases."""

    __tablename__ = "weir_setup"
    number: Mapped[int] = mapped_column(primary_key=True)
    run: Mapped[int] = mapped_column(ForeignKey("weir_run.number", ondelete="CASCADE"), index=True)
    document: Mapped[str] = mapped_column(Text)


class CaseRow(Base):
    """A Case without its trials and its curve."""

    __tablename__ = "weir_case"
    number: Mapped[int] = mapped_column(primary_key=True)
    setup: Mapped[int] = mapped_column(ForeignKey("weir_setup.number", ondelete="CASCADE"), index=True)
    frame: Mapped[str]
    finished: Mapped[bool]
    document: Mapped[str] = mapped_column(Text)


class IntervalRow(Base):
    """One interval of a case's soak."""

    __tablename__ = "weir_interval"
    number: Mapped[int] = mapped_column(primary_key=True)
    case: Mapped[int] = mapped_column(
        "case_number", ForeignKey("weir_case.number", ondelete="CASCADE"), index=True
    )
    document: Mapped[str] = mapped_column(Text)


class TrialRow(Base):
    """A Trial, of the curve or not."""

    __tablename__ = "weir_trial"
    number: Mapped[int] = mapped_column(primary_key=True)
    case: Mapped[int] = mapped_column(
        "case_number", ForeignKey("weir_case.number", ondelete="CASCADE"), index=True
    )
    in_curve: Mapped[bool]
    document: Mapped[str] = mapped_column(Text)


BUSY_TIMEOUT_S = 30
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


def open_database(location: str | Path, *, reading: bool = False) -> tuple[Engine, str]:
    """An engine for a file or URL, with the tables made where there are none, and its name for messages.

    `reading`: nothing is made or changed. StoreError if it is no database, of a newer Weir, or not to be
    reached; NoStoreError if there is nothing to read.
    """
    url = _url(location)
    name = url.render_as_string(hide_password=True) if "://" in str(location) else str(location)
    if _is_file(url):
        path = Path(str(url.database)).absolute()
        try:
            url = _read_only(url, name) if reading else _made(url)
            if not os.access(path, os.R_OK if reading else os.R_OK | os.W_OK, effective_ids=True):
                raise PermissionError
        except PermissionError as error:
            raise _forbidden(path, name, reading=reading) from error
        except OSError as error:
            raise StoreError(f"{name}: {error.strerror}; choose another place with --store") from error
    try:
        engine = create_engine(url)
    except (NoSuchModuleError, ModuleNotFoundError) as error:
        raise StoreError(
            f"{name}: no driver for this kind of database ({error}); install it: `pip install psycopg`"
        ) from error
    if engine.dialect.name == "sqlite":
        event.listen(engine, "connect", _sqlite_reading if reading else _sqlite_options)
    with explained(name):
        found = _schema_read(engine) if reading else _schema_version(engine)
    if found is None:
        raise NoStoreError(f"{name}: has no tables of a store; expected one that `weir run LAB` made")
    if found != SCHEMA_VERSION:
        raise StoreError(
            f"{name}: written by another Weir (schema {found}; this one reads {SCHEMA_VERSION}); use that"
            " Weir, or another store with --store"
        )
    return engine, name


def _forbidden(path: Path, name: str, *, reading: bool) -> StoreError:
    """Of whoever may not read or write it: whose it is, as far as that may be seen, and what to do."""
    what = "read" if reading else "written to"
    try:
        status = path.stat()
        owner = _user(status.st_uid)
        whose = f"it belongs to {owner} (mode {stat.S_IMODE(status.st_mode):o})"
    except OSError:
        status, owner, whose = None, "its owner", "a folder on the way to it is closed"
    how = f"run this as {owner} (sudo -u {owner})" if status is not None else "run this as its owner (sudo)"
    if reading:
        how += f", let {owner} hand over a run (`weir report RUN -o result.json`)"
    return StoreError(
        f"{name}: cannot be {what} by {_user(os.geteuid())}: {whose}; {how}, or choose another store with "
        "--store or $WEIR_STORE"
    )


def _user(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"user {uid}"


def _is_file(url: URL) -> bool:
    """One of SQLite, by its path."""
    named = url.database or ":memory:"
    return url.drivername.startswith("sqlite") and not named.startswith((":memory:", "file:"))


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


def _schema_read(engine: Engine) -> int | None:
    """None: there are no tables."""
    with Session(engine) as session:
        there = inspect(session.connection()).has_table(SchemaRow.__tablename__)
        return session.scalar(select(SchemaRow.version)) if there else None


def _schema_version(engine: Engine) -> int:
    """That of the tables there, or of those that this makes where there are none."""
    with engine.begin() as connection, Session(connection) as session:
        if engine.dialect.name == "sqlite":  # two that begin at once make the tables one after the other
            connection.exec_driver_sql("BEGIN IMMEDIATE")
        has_version = inspect(connection).has_table(SchemaRow.__tablename__)
        found = session.scalar(select(SchemaRow.version)) if has_version else None
        if found is not None and found != SCHEMA_VERSION:
            return int(found)
        Base.metadata.create_all(connection)  # and those that a Weir before did not know
        if found is not None:
            return int(found)
        session.add(SchemaRow(version=SCHEMA_VERSION))
        session.flush()
    return SCHEMA_VERSION


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
        elif "disk" in reason and "full" in reason:
            fix = "make room on the disk"
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
