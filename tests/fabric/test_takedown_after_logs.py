# SPDX-License-Identifier: Apache-2.0
"""What failed is taken down, whatever becomes of its logs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from weir import fabric
from weir.base.error import FabricError
from weir.cli import deploy
from weir.fabric import run_directory

from .machine import Daemon, Machine

NAME = "small-00000001"


class KeepingError(Exception):
    """Nobody expects it."""


def keeps_nothing(*_: object) -> None:
    raise KeepingError


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Iterator[Machine]:
    made = Machine(monkeypatch)
    yield made
    made.remove()


def test_a_chain_that_cannot_be_built(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise FabricError("it does not start")

    monkeypatch.setattr(Daemon, "do", fails)
    monkeypatch.setattr(run_directory, "keep_logs", keeps_nothing)
    with pytest.raises(KeepingError) as caught:
        machine.deploy(NAME)
    assert str(caught.value.__context__) == "it does not start"
    assert machine.parts(NAME) == set()
    assert [*machine.root.glob("*.journal")] == []


def test_a_chain_of_weir_deploy_whose_data_plane_does_not_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[str] = []
    standing = SimpleNamespace(
        run_dir=tmp_path, keep_logs=keeps_nothing, destroy=lambda _: done.append("destroyed")
    )

    def refuses(_path: Path) -> None:
        raise FabricError("it does not answer")

    monkeypatch.setattr("weir.protocol.DataPlaneClient", refuses)
    monkeypatch.setattr(fabric, "clean_leftovers", list)
    monkeypatch.setattr(fabric.Deployment, "deploy", lambda *_, **__: standing)
    with pytest.raises(KeepingError) as caught:
        deploy._deployed(cast(Any, SimpleNamespace(topology=None)), [], quiet=True)
    assert str(caught.value.__context__) == "it does not answer"
    assert done == ["destroyed"]
