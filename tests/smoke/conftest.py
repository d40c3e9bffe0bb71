# SPDX-License-Identifier: Apache-2.0
"""What smoke tests share: a root for run directories, and what is around the deployments there."""

from __future__ import annotations

import secrets
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from weir import fabric
from weir.fabric import lifeline

from .clouds import FILTERED, StandingCloud
from .surroundings import Surroundings


@pytest.fixture
def run_root(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty root for run directories, with a path short enough for unix sockets. What is killed in a test
    stays as it is."""
    monkeypatch.setenv(lifeline.OFF, "1")
    root = Path(tempfile.mkdtemp(prefix="wk", dir="/tmp"))
    root.chmod(0o711)  # as /run/weir: programs have users of their own
    guests = Path(tempfile.mkdtemp(prefix="wg", dir="/var/tmp"))
    monkeypatch.setenv("WEIR_RUN_DIR", str(root))
    monkeypatch.setenv("WEIR_GUEST_DIR", str(guests))
    logs = Path(tempfile.mkdtemp(prefix="wl", dir="/var/tmp"))
    monkeypatch.setenv("WEIR_LOG_DIR", str(logs))
    yield root
    for deployment in fabric.deployments():
        deployment.destroy()
    left = [path.name for path in guests.iterdir()]
    shutil.rmtree(guests)
    shutil.rmtree(logs)
    shutil.rmtree(root)
    assert left == []


@pytest.fixture
def surroundings(run_root: Path) -> Iterator[Surroundings]:
    """Of deployments of the tiny lab. Whoever knows their tokens adds them."""
    made = Surroundings(run_root, "tiny", secrets.token_hex(4))
    yield made
    made.remove()


@pytest.fixture
def filtered(cloud: StandingCloud) -> StandingCloud:
    """The module's `cloud`, where something is filtered."""
    if cloud.topology.security not in FILTERED:
        pytest.skip("nothing is filtered there")
    return cloud
