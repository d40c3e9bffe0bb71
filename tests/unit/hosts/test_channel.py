# SPDX-License-Identifier: Apache-2.0
"""What a host reads from its head: whatever comes, its end is seen."""

from __future__ import annotations

import io
import os
import subprocess
import sys

import pytest

from weir.base.error import INTERRUPTED
from weir.hosts.messages import Failed, MessageError, Word, from_host
from weir.procedures import head
from weir.procedures.head import Channel


@pytest.fixture(autouse=True)
def _the_end_stops_no_test(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("weir.fabric.stop_signals.come", lambda: None)


def fed(words: bytes) -> Channel:
    """One that reads these, and then the end."""
    source, into = os.pipe()
    channel = Channel(source, io.BytesIO())
    os.write(into, words)
    os.close(into)
    return channel


@pytest.mark.parametrize("line", [b"\xff\xfe\n", b"null\n", b"{\n", b"[" * 5000 + b"\n"])
def test_what_is_no_message_is_refused_and_the_end_behind_it_is_seen(line: bytes) -> None:
    channel = fed(line)
    with pytest.raises(MessageError):
        channel.next()
    with pytest.raises(KeyboardInterrupt):
        channel.next()


def test_a_line_that_does_not_end_is_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(head, "LINE_BYTES", 1000)
    channel = fed(b"a" * 20_000)
    with pytest.raises(KeyboardInterrupt):
        channel.next()
    assert channel.fault is not None
    assert channel.fault.startswith("a line from the head is too long: 1,000 bytes, and it goes on")


def said_by_a_host(words: bytes, more: str = "pass") -> tuple[int, list[Word]]:
    """What the program that measures says when it is told that, and its exit code."""
    program = (
        f"import sys; from weir.procedures import head, host_session; {more}; sys.exit(host_session.main())"
    )
    done = subprocess.run([sys.executable, "-c", program], input=words, capture_output=True, check=False)
    return done.returncode, [from_host(line) for line in done.stdout.decode().splitlines()]


def test_a_host_says_why_it_ends_where_a_line_is_too_long() -> None:
    code, (said,) = said_by_a_host(b"a" * 20_000, "head.LINE_BYTES = 1000")
    assert code == INTERRUPTED
    assert isinstance(said, Failed)
    assert "too long" in said.why


def test_a_host_whose_head_is_gone_ends_as_after_ctrl_c_without_a_word() -> None:
    assert said_by_a_host(b"") == (INTERRUPTED, [])


def test_a_source_that_is_closed_is_at_its_end() -> None:
    source, into = os.pipe()
    os.close(source)
    os.close(into)
    with pytest.raises(KeyboardInterrupt):
        Channel(source, io.BytesIO()).next()
