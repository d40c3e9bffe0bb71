# SPDX-License-Identifier: Apache-2.0
"""The store's database: which version its tables have, and its runs by their ids."""

from __future__ import annotations

import sqlite3
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

from sqlalchemy import (
    Connection,
    Engine,
    create_engine,
    event,
    insert,
    inspect,
    select,
)
from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session
from sqlalchemy.pool import StaticPool

from weir.base.error import USAGE
from weir.store.connection import (
    DAMAGED,
    IMMUTABLE,
    NoStoreError,
    StoreError,
    StoreFullError,
    default_location,
    engine_of,
    explained,
    identity,
    is_file,
    may_change,
    no_room,
    no_store,
    stamp,
    url_of,
)
from weir.store.tables import NEWEST_FIRST, SCHEMA_VERSION, Base, RunRow, SchemaRow

AWAY_S, _LOOK_S = 20.0, 0.25
"""For so long a server is waited for that is away while something is to be written."""
LISTED = 5  # newest runs that a message names
COPIED_BYTES_MAX = 1 << 29
_LOCK = 0x57656972  # "Weir": any number that others do not use


class UnknownRunError(StoreError):
    """The store has no such run, or several; says which there are."""

    exit_code = USAGE
    located = True


def open_database(
    location: str | Path, *, reading: bool = False, changing: bool = True, making: bool = True
) -> tuple[Engine, str]:
    """An engine for a file or URL, with the tables made where there are none, and its name for messages.

    Tables of an older Weir are brought up to date first. `reading`: nothing else is made or changed; where
    that may not be written, has no room, or not `changing`, a copy in memory is brought up to date. Without
    `making` a file is not made. StoreError if it is no database, of a newer Weir, or not to be reached;
    NoStoreError if there is nothing to read.
    """
    url = url_of(location)
    name = url.render_as_string(hide_password=True) if "://" in str(location) else str(location)
    if not making and is_file(url) and not Path(str(url.database)).exists():
        raise no_store(name)
    engine = engine_of(url, name, reading=reading)
    with explained(name):
        try:
            found = _found_version(engine, name)
        except OperationalError as error:
            if not reading or not is_file(url) or not no_room(error):
                raise
            engine.dispose()
            engine = engine_of(url, name, reading=True, log=False)
            found = _found_version(engine, name)
        if reading and found is not None and found < SCHEMA_VERSION:
            engine.dispose()
            if changing and may_change(url) and _has_room(location):
                engine = engine_of(url, name, reading=True)
            elif not is_file(url):
                raise StoreError(f"{name}: written by an older Weir; `weir ls` brings it up to date")
            else:
                engine = _copy_in_memory(Path(str(url.database)), name)
            found = _found_version(engine, name)
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


def _has_room(location: str | Path) -> bool:
    """Brings tables of an older Weir up to date in their place, if the disk has room for that."""
    try:
        open_database(location)[0].dispose()
    except StoreFullError:
        return False
    return True


def _copy_in_memory(path: Path, name: str) -> Engine:
    """Brought up to date there: who may only read leaves the file as it is. StoreError: it is too big."""
    if path.stat().st_size > COPIED_BYTES_MAX:
        raise StoreError(
            f"{name}: written by an older Weir, and too big to be brought up to date in memory; let its owner"
            " do it: any command of theirs, such as `weir ls`, does"
        )
    copy = sqlite3.connect(":memory:", check_same_thread=False)
    source = engine_of(url_of(path), name, reading=True)
    with source.connect() as connection:
        connection.connection.driver_connection.backup(copy)  # type: ignore[union-attr]
    source.dispose()
    engine = create_engine("sqlite://", creator=lambda: copy, poolclass=StaticPool)
    _up_to_date(engine, name, once=False)
    event.listen(engine, "begin", lambda one: one.exec_driver_sql("PRAGMA query_only=ON"))
    return engine


def _version_in(connection: Connection) -> int | None:
    """None: there are no tables."""
    there = inspect(connection).has_table(SchemaRow.__tablename__)
    return connection.scalar(select(SchemaRow.version)) if there else None


def _found_version(engine: Engine, name: str) -> int | None:
    try:
        with engine.connect() as connection:
            return _version_in(connection)
    except UnicodeDecodeError as error:  # SQLite quotes what it stumbles over
        raise StoreError(f"{name}: it is malformed; {DAMAGED}") from error


def _up_to_date(engine: Engine, name: str, *, once: bool = True) -> int:
    """Makes the tables, or brings those of an older Weir up to date, all or nothing; which version there is
    now. Of two that do it at once the second finds it done. `once`: not a copy that is made each time."""
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
            how = ", once" if once else ", in memory: the file stays as it is"
            print(f"weir: {name}: is being brought up to date for this Weir{how}", file=sys.stderr)
            _migrate(connection, found)
        else:
            return found
    return SCHEMA_VERSION


def _migrate(connection: Connection, found: int) -> None:
    """By Alembic, which takes long to import; in the transaction that the connection is in."""
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations").replace("%", "%%"))
    config.attributes |= {"connection": connection, "found": found}
    command.upgrade(config, str(SCHEMA_VERSION))


class Database:
    """An open store, without the shapes of results: those take long to import, and lists need none."""

    def __init__(
        self,
        location: str | Path | None = None,
        *,
        reading: bool = False,
        changing: bool = True,
        making: bool = True,
    ) -> None:
        """`reading`, or without `making`: none is made, and NoStoreError says that there is no store; without
        `changing` tables of an older Weir stay as they are, too."""
        location = location or default_location()
        self._stamp = stamp(location)
        self._engine, self.name = open_database(location, reading=reading, changing=changing, making=making)
        self._immutable = IMMUTABLE in self._engine.url.query
        self._location = location
        self._file = None if reading else identity(location)

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
        with self._unchanged(), explained(self.name), Session(self._engine) as session:
            if writing:
                if self._file is None:
                    self._reached()
                elif identity(self._location) != self._file:
                    raise StoreError(
                        f"{self.name}: its file was removed, or another put in its place, while it was in"
                        " use; what was stored went with it: measure it again, and leave the file meanwhile"
                    )
                with session.begin():
                    if self._engine.dialect.name == "sqlite":  # what it reads is so until it has written
                        session.connection().exec_driver_sql("BEGIN IMMEDIATE")
                    yield session
            else:
                yield session

    def _reached(self) -> None:
        """Waits for a server that is away for a moment, as long as nothing of the session is done."""
        deadline, said = time.monotonic() + AWAY_S, False
        while True:
            try:
                self._engine.connect().close()
            except OperationalError:
                if time.monotonic() >= deadline:
                    raise
                if not said:
                    print(f"weir: {self.name}: away; waiting up to {AWAY_S:g} s for it", file=sys.stderr)
                    said = True
                time.sleep(_LOOK_S)
            else:
                return

    @contextmanager
    def _unchanged(self) -> Iterator[None]:
        """What is read without locks is right only of a file that nobody writes to; nor is it damaged where
        it looks so."""
        try:
            yield
        finally:
            if self._immutable and stamp(self._location) != self._stamp:
                raise StoreError(f"{self.name}: somebody has written to it meanwhile: read it again")

    def run_of(self, session: Session, run_id: str) -> RunRow:
        """The row of a run; a beginning of the id will do if only one run has it. UnknownRunError."""
        row = session.scalar(select(RunRow).where(RunRow.id == run_id))
        if row is not None:
            return row
        if not run_id:
            raise UnknownRunError(f"{self.name}: no run was named; expected its id, or how that begins")
        near = session.scalars(select(RunRow).where(RunRow.id.startswith(run_id, autoescape=True))).all()
        if len(near) == 1:
            return near[0]
        if near:
            some = ", ".join(sorted(row.id for row in near)[-3:])
            raise UnknownRunError(
                f"{self.name}: {len(near)} runs begin with {run_id!r}, as {some}; give more of the id"
            )
        from weir.lab.problem import did_you_mean

        known = session.scalars(select(RunRow.id).order_by(*NEWEST_FIRST)).all()
        if not known:
            raise UnknownRunError(
                f"{self.name}: has no run {run_id!r}, nor any other yet; `weir run LAB` makes one"
            )
        raise UnknownRunError(
            f"{self.name}: has no run {run_id!r}; expected one of {', '.join(known[:LISTED])}"
            + did_you_mean(run_id, known)
        )
