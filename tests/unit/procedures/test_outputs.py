# SPDX-License-Identifier: Apache-2.0
"""What programs of the user's said is kept beside the run's reports, within limits."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from weir import fabric
from weir.procedures import outputs
from weir.procedures.outputs import OutputKeeper
from weir.results.result import Setup


def deployment(text: bytes, whole: int | None = None) -> fabric.Deployment:
    said = {"f1": fabric.Output(len(text) if whole is None else whole, text)}
    return cast(fabric.Deployment, SimpleNamespace(outputs=said))


def setup(variant: str | None = None) -> Setup:
    return Setup(technology="linux-bridge", variant=variant, chain="PVP", datapath="none")


def test_each_deployment_has_a_file_and_the_setup_names_them(tmp_path: Path) -> None:
    made = setup("suricata inline/2")
    keep = OutputKeeper(tmp_path / "run", print).of(made)
    keep(deployment(b"ready\n"))
    keep(deployment(b"again \xff\n", whole=1000))
    names = [f"programs/suricata_inline_2-PVP-f1-{number}.log" for number in (1, 2)]
    assert [one.file for one in made.outputs] == names
    assert [(one.said_bytes, one.kept_bytes) for one in made.outputs] == [(6, 6), (1000, 8)]
    assert (tmp_path / "run" / names[0]).read_text() == "ready\n"
    assert (tmp_path / "run" / names[1]).read_text() == "again �\n"


def test_one_that_says_nothing_leaves_nothing(tmp_path: Path) -> None:
    made = setup()
    OutputKeeper(tmp_path / "run", print).of(made)(deployment(b""))
    OutputKeeper(None, print).of(made)(deployment(b"said"))
    assert made.outputs == []
    assert not (tmp_path / "run").exists()


def test_a_setup_has_so_much_of_it_and_no_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outputs, "SETUP_BYTES_MAX", 10)
    made = setup()
    keep = OutputKeeper(tmp_path, print).of(made)
    for _ in range(3):
        keep(deployment(b"ready\n"))
    assert [one.kept_bytes for one in made.outputs] == [6]
    assert len([*(tmp_path / "programs").iterdir()]) == 1


def test_a_folder_that_cannot_be_written_costs_no_run(tmp_path: Path) -> None:
    (tmp_path / "programs").write_text("a file")
    told: list[str] = []
    made = setup()
    OutputKeeper(tmp_path, told.append).of(made)(deployment(b"ready\n"))
    assert made.outputs == []
    assert told[0].startswith("what f1 said is not kept: ")
