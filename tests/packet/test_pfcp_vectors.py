# SPDX-License-Identifier: Apache-2.0
"""The PFCP messages that C tests read, and that fuzzing begins from, are those that Scapy writes."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from . import pfcp_vectors


@pytest.mark.parametrize("header", pfcp_vectors.HEADERS)
def test_the_messages_of_c_tests_are_as_scapy_writes_them(header: str) -> None:
    assert (pfcp_vectors.FOLDER / header).read_text(encoding="ascii") == pfcp_vectors.text(header)


def contents(folder: Path, names: Iterable[str]) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in names}


def test_fuzzing_begins_from_every_request() -> None:
    requests, talks = pfcp_vectors.requests(), pfcp_vectors.talks()
    assert contents(pfcp_vectors.CORPUS, requests) == requests
    assert contents(pfcp_vectors.TALKS, talks) == talks
