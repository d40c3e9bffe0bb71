# SPDX-License-Identifier: Apache-2.0
"""Runs in a file that another store reads: JSON lines, compressed by gzip. The first line says what it is,
each other one is a run with its tags. Files of strangers are read within limits, and whole or not at all."""

from __future__ import annotations

import gzip
import json
import math
import re
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from pydantic import ValidationError
from sqlalchemy import select

from weir.base.error import USAGE
from weir.base.record import fault_text
from weir.base.words import counted
from weir.results.document import NewerDocumentError
from weir.results.result import Result
from weir.store.connection import StoredMeanwhileError, StoreError
from weir.store.editing import check_tag
from weir.store.files import write_binary
from weir.store.plausible import contradiction
from weir.store.rows import add_run, epoch_s
from weir.store.store import Store
from weir.store.tables import RunRow

EXPORT_VERSION = 1
RUN_BYTES_MAX = 64 << 20
"""Of one run as JSON, unless the user says otherwise: what it takes in memory is a multiple."""
ALL_BYTES_MAX = 8 << 30
RATIO_MAX = 200
"""Real runs shrink to a tenth; what shrinks to less than this was made to grow."""
RATIO_FROM_BYTES = 16 << 20
PIECE_BYTES = 1 << 20
GZIP = b"\x1f\x8b"
CLOCKS_APART_S = 86_400.0
"""Of two machines, at the most."""
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
"""Of runs and labs: they become names of folders."""


class ImportFileError(StoreError):
    """The file cannot be imported; nothing of it was."""

    exit_code = USAGE


@dataclass
class Imported:
    """Ids of runs."""

    added: list[str] = field(default_factory=list)
    there: list[str] = field(default_factory=list)
    """The store had these already, and keeps its own."""
    unfinished: list[str] = field(default_factory=list)
    """Of those: unfinished or interrupted there, and whole in the file."""
    interrupted: bool = False
    """By Ctrl-C: the rest of the file is not in the store."""


def write_export(store: Store, runs: Sequence[str], tags: Sequence[Sequence[str]], path: Path) -> None:
    """Runs by their ids, each with its tags. FileError, StoreError; then nothing is left."""

    def write(file: BinaryIO) -> None:
        # No name and no time: the same runs make the same file.
        with gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0, compresslevel=6) as packed:
            packed.write(_line({"weir_export": EXPORT_VERSION, "runs": len(runs)}))
            for run, words in zip(runs, tags, strict=True):
                result = store.load(run).model_dump(mode="json")
                packed.write(_line({"tags": list(words), "result": result}))

    write_binary(path, write, "choose another place with --output")


def _line(content: Any) -> bytes:
    return json.dumps(content, separators=(",", ":")).encode() + b"\n"


def read_import(
    store: Store, path: Path, tags: Sequence[str] = (), run_bytes_max: int = RUN_BYTES_MAX
) -> Imported:
    """All runs of an export, or of a result.json. ImportFileError, StoreError; Ctrl-C is none.

    The file is read to its end before anything is stored; then each run is stored in one piece: who measures
    meanwhile does not wait for all of them.
    """
    for tag in tags:
        check_tag(tag)
    if path.exists() and not path.is_file() and not path.is_dir():
        raise ImportFileError(f"{path}: is no file, and it is read twice; store it first, or name one with <")
    done = Imported()
    with _in_part(done):
        for _ in _runs(path, run_bytes_max):
            pass
        for result, own in _runs(path, run_bytes_max):
            _import(store, result, sorted({*own, *tags}), done)
    return done


def _import(store: Store, result: Result, tags: Sequence[str], done: Imported) -> None:
    try:
        _import_once(store, result, tags, done)
    except StoredMeanwhileError:  # by another import, so that it is there now
        _import_once(store, result, tags, done)


def _import_once(store: Store, result: Result, tags: Sequence[str], done: Imported) -> None:
    with store.session(writing=True) as session:
        there = session.scalar(select(RunRow).where(RunRow.id == result.id))
        whole = there is not None and there.finished_s is not None and not there.interrupted
        if there is None:
            add_run(session, result, tags)
    (done.added if there is None else done.there).append(result.id)  # it is kept only now
    if there is not None and not whole and result.finished_at and not result.interrupted:
        done.unfinished.append(result.id)


@contextmanager
def _in_part(done: Imported) -> Iterator[None]:
    try:
        yield
    except StoreError as error:
        if not done.added:
            raise
        so_far = f"{counted(len(done.added), 'run')} imported before that, and kept"
        raise StoreError(f"{error}; {so_far}: {', '.join(done.added)}") from error
    except KeyboardInterrupt:
        done.interrupted = True


def _runs(path: Path, run_bytes_max: int) -> Iterator[tuple[Result, list[str]]]:
    try:
        with path.open("rb") as file:
            packed = file.peek(len(GZIP)).startswith(GZIP)
            if not packed:
                read = bytearray()
                while len(read) <= run_bytes_max and (piece := file.read(PIECE_BYTES)):
                    read += piece
                content = bytes(read)
                _within(len(content), run_bytes_max, path)
                _json(content, f"{path}")
                yield _result(content, f"{path}"), []
                return
            lines = _lines(_unpacked(file, path), run_bytes_max, path)
            expected = _header(next(lines, b""), path)
            count = 0
            for count, line in enumerate(lines, 1):
                yield _run(line, f"{path}: run {count}")
            if count != expected:
                raise ImportFileError(
                    f"{path}: has {count} of {expected} runs: it was cut off; export them again"
                )
    except OSError as error:
        raise ImportFileError(
            f"{path}: {error.strerror or error}; expected a file of `weir export`"
        ) from error


def _unpacked(file: BinaryIO, path: Path) -> Iterator[bytes]:
    """Never more than a piece at once, whatever the file would become."""
    unpacker = zlib.decompressobj(wbits=31)
    read = made = 0
    while piece := file.read(PIECE_BYTES // 16):
        read += len(piece)
        while piece:
            try:
                out = unpacker.decompress(piece, PIECE_BYTES)
            except zlib.error as error:
                raise ImportFileError(f"{path}: damaged ({error}); export it again") from error
            made += len(out)
            if made > ALL_BYTES_MAX or (made > RATIO_FROM_BYTES and made > read * RATIO_MAX):
                raise ImportFileError(
                    f"{path}: {read:,} bytes become more than {made:,}: no export of Weir grows so far"
                )
            yield out
            piece = unpacker.unconsumed_tail
        if unpacker.eof:
            if unpacker.unused_data or file.read(1):
                raise ImportFileError(f"{path}: something follows its end; export it again")
            return
    raise ImportFileError(f"{path}: it was cut off; export it again")


def _lines(pieces: Iterator[bytes], bytes_max: int, path: Path) -> Iterator[bytes]:
    waiting = bytearray()
    for piece in pieces:
        waiting += piece
        *whole, rest = waiting.split(b"\n")
        for line in whole:
            _within(len(line), bytes_max, path)
            yield bytes(line)
        waiting = bytearray(rest)
        _within(len(waiting), bytes_max, path)
    if waiting:
        raise ImportFileError(f"{path}: its last line has no end: it was cut off; export it again")


def _within(size: int, bytes_max: int, path: Path) -> None:
    if size > bytes_max:
        raise ImportFileError(
            f"{path}: a run of more than {bytes_max >> 20} MiB as JSON; who trusts it allows more: --max-mib"
        )


def _header(line: bytes, path: Path) -> int:
    found = _json(line, f"{path}")
    version = found.get("weir_export") if isinstance(found, dict) else None
    if not isinstance(version, int) or not isinstance(found.get("runs"), int):
        raise ImportFileError(
            f"{path}: no export of Weir; expected a file of `weir export`, or a result.json"
        )
    if version > EXPORT_VERSION:
        raise ImportFileError(
            f"{path}: a newer Weir wrote it (export version {version}; this one reads up to {EXPORT_VERSION})"
        )
    return int(found["runs"])


def _run(line: bytes, where: str) -> tuple[Result, list[str]]:
    found = _json(line, where)
    tags = found.get("tags") if isinstance(found, dict) else None
    if not isinstance(tags, list) or not all(isinstance(one, str) for one in tags):
        raise ImportFileError(f"{where}: expected tags and a result")
    return _result(json.dumps(found.get("result")), where), [check_tag(one) for one in tags]


def _json(line: bytes, where: str) -> Any:
    return _understood(
        lambda: json.loads(line, parse_float=_finite, parse_constant=_finite, parse_int=_of_64_bits), where
    )


def _of_64_bits(text: str) -> int:
    """No counter or seed has more."""
    if len(text) > len(str(1 << 64)) or not -1 << 63 <= (found := int(text)) < 1 << 64:
        raise ValueError(f"{text[:20]}… is no number of a result: it has more than 64 bits")
    return found


def _finite(text: str) -> float:
    """The store would not give back others."""
    if not math.isfinite(found := float(text)):
        raise ValueError(f"{text[:20]} is no number of a result")
    return found


def _result(content: str | bytes, where: str) -> Result:
    result: Result = _understood(lambda: Result.read(content, strict=True), where)
    for what, name in (("id", result.id), ("lab", result.lab)):
        if not NAME.fullmatch(name):
            raise ImportFileError(f"{where}: {what} {name[:80]!r}: expected letters, digits and ._-")
    for what, moment in (("started_at", result.started_at), ("finished_at", result.finished_at)):
        if moment is not None and epoch_s(moment) is None:
            raise ImportFileError(f"{where}: {what} {moment[:80]!r}: expected a time in RFC 3339")
        if (epoch_s(moment) or 0.0) > time.time() + CLOCKS_APART_S:
            raise ImportFileError(
                f"{where}: {what} {moment}: is in the future, and would be the newest run until then; "
                "expected a time that has been, by this machine's clock"
            )
    if (why := contradiction(result)) is not None:
        raise ImportFileError(f"{where}: no result of Weir: {why}")
    return result


def _understood(read: Callable[[], Any], where: str) -> Any:
    try:
        return read()
    except NewerDocumentError as error:
        raise ImportFileError(f"{where}: {error}") from error
    except ValidationError as error:
        raise ImportFileError(f"{where}: no result of Weir: {fault_text(error)}") from error
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise ImportFileError(f"{where}: no result of Weir: it is no JSON from {place} on") from error
    except RecursionError as error:
        raise ImportFileError(f"{where}: nested too deeply for a result of Weir") from error
    except UnicodeDecodeError as error:
        raise ImportFileError(
            f"{where}: no result of Weir: it is no text, from byte {error.start} on"
        ) from error
    except (ValueError, AttributeError, KeyError, TypeError) as error:
        raise ImportFileError(f"{where}: no result of Weir: {str(error)[:200]}") from error
