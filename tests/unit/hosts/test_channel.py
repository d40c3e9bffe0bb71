# SPDX-License-Identifier: Apache-2.0
"""What a host reads from its head: whatever comes, its end is seen."""

from __future__ import annotations

import io
import os

import pytest

from weir.hosts.messages import MessageError
from weir.procedures import host_session
from weir.procedures.host_session import Channel


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
    monkeypatch.setattr(host_session, "LINE_BYTES", 1000)
    with pytest.raises(KeyboardInterrupt):
        fed(b"a" * 20_000).next()


def test_a_source_that_is_closed_is_at_its_end() -> None:
    source, into = os.pipe()
    os.close(source)
    os.close(into)
    with pytest.raises(KeyboardInterrupt):
        Channel(source, io.BytesIO()).next()
