# SPDX-License-Identifier: Apache-2.0
"""The PFCP messages that C tests read, and that fuzzing begins from, are those that Scapy writes."""

from __future__ import annotations

from . import pfcp_vectors


def test_the_messages_of_c_tests_are_as_scapy_writes_them() -> None:
    assert pfcp_vectors.HEADER.read_text(encoding="ascii") == pfcp_vectors.text()


def test_fuzzing_begins_from_every_request() -> None:
    corpus = {one.name: one.read_bytes() for one in pfcp_vectors.CORPUS.iterdir()}
    assert {name: corpus.get(name) for name in pfcp_vectors.requests()} == pfcp_vectors.requests()
