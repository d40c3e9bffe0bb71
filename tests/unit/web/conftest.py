# SPDX-License-Identifier: Apache-2.0
"""A store with a history, a campaign over hosts, a whole run and hostile ones, which no test writes to."""

from __future__ import annotations

from pathlib import Path

import pytest
from starlette.testclient import TestClient

from tests.report.hostile import hostile
from tests.report.synthetic import result

from .stored import NIGHTS, client, filled, hostile_night, nightly, on_hosts


@pytest.fixture(scope="session")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    runs = [nightly(night) for night in range(NIGHTS)]
    whole = result(id="whole-1", started_at="2026-03-01T03:04:05Z")
    evil = [hostile_night(night) for night in range(8)]
    hosts = on_hosts()
    everything = [hostile(hosts[0]), hostile(whole), *evil, *hosts, *runs, whole]
    return filled(tmp_path_factory.mktemp("web") / "results.db", everything)


@pytest.fixture
def weir(place: Path) -> TestClient:
    return client(place)
