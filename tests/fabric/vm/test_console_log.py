# SPDX-License-Identifier: Apache-2.0
"""The log of a console stays small, says so, and holds up nobody."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from weir.fabric.vm import console_log

LIMIT_BYTES = 100_000


def logged(path: Path, data: bytes) -> None:
    """As Weir starts it; in pieces as a pipe has them."""
    reader, writer = os.pipe()
    argv = [sys.executable, "-I", "-S", console_log.__file__, str(reader), str(path), str(LIMIT_BYTES)]
    program = subprocess.Popen(argv, pass_fds=[reader])
    os.close(reader)
    with os.fdopen(writer, "wb") as pipe:
        pipe.write(data)
    assert program.wait(30) == 0


def test_what_is_said_is_written(tmp_path: Path) -> None:
    logged(tmp_path / "f1.serial", b"weir: the kernel forwards\n")
    assert (tmp_path / "f1.serial").read_bytes() == b"weir: the kernel forwards\n"
    assert [path.name for path in tmp_path.iterdir()] == ["f1.serial"]


def test_a_guest_that_talks_on_takes_no_more_space_and_its_last_words_are_kept(tmp_path: Path) -> None:
    lines = b"".join(b"%09d\n" % number for number in range(200_000))
    logged(tmp_path / "f1.serial", lines)
    log, before = tmp_path / "f1.serial", tmp_path / "f1.serial.before"
    assert log.stat().st_size <= LIMIT_BYTES
    assert before.stat().st_size <= LIMIT_BYTES
    head, said = log.read_bytes().split(b"\n", 1)
    assert lines.endswith(said)
    assert head == b"[weir: %d bytes are cut off; the last of them are in .before]" % (len(lines) - len(said))


def test_a_full_disk_holds_up_nobody(tmp_path: Path) -> None:
    (tmp_path / "f1.serial").symlink_to("/dev/full")
    logged(tmp_path / "f1.serial", b"x" * 1_000_000)


def test_what_a_full_disk_did_not_take_is_told(tmp_path: Path) -> None:
    reader, writer = os.pipe()
    path = tmp_path / "f1.serial"
    program = subprocess.Popen(
        ["prlimit", "--fsize=10", "env", "--ignore-signal=XFSZ", sys.executable, "-I", "-S",
         console_log.__file__, str(reader), str(path), str(LIMIT_BYTES)],
        pass_fds=[reader],
    )  # fmt: skip
    os.close(reader)
    try:
        os.write(writer, b"0123456789abcdef")
        while not (path.exists() and path.stat().st_size == 10):
            assert program.poll() is None
        path.write_bytes(b"")  # there is space again
        os.write(writer, b"on\n")
    finally:
        os.close(writer)
    assert program.wait(30) == 0
    assert path.read_bytes().startswith(b"\n[weir: 6")


def test_where_no_new_log_can_be_opened_the_old_one_goes_on(tmp_path: Path) -> None:
    """Its directory has another name by then."""
    reader, writer = os.pipe()
    named, renamed = tmp_path / "guests", tmp_path / "elsewhere"
    named.mkdir()
    argv = [sys.executable, "-I", "-S", console_log.__file__, str(reader), str(named / "f1.serial"), "100"]
    program = subprocess.Popen(argv, pass_fds=[reader])
    os.close(reader)
    try:
        os.write(writer, b"x" * 80)
        while not ((named / "f1.serial").exists() and (named / "f1.serial").stat().st_size == 80):
            assert program.poll() is None
        named.rename(renamed)
        os.write(writer, b"y" * 30)
    finally:
        os.close(writer)
    assert program.wait(30) == 0
    assert (renamed / "f1.serial").read_bytes() == b"[weir: 80 bytes are cut off]\n" + b"y" * 30
