# SPDX-License-Identifier: Apache-2.0
"""Deployments of several run directories share the host: each gives back its own pages, and no other's."""

from __future__ import annotations

import itertools
import os
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from weir import plan
from weir.fabric import hugepages, lifeline, run_directories
from weir.fabric.core_claim import CoreClaim
from weir.fabric.deployment import Deployment
from weir.fabric.journal import make_run_root
from weir.lab import Lab
from weir.plan import Step

MEMORY_MB = 192
PAGES = (MEMORY_MB + hugepages.MARGIN_MB) // hugepages.PAGE_MB
STEP = Step(kind="hugepages", name="hugepages", params={"memory_mb": MEMORY_MB}, text="", undo_text="")
LAB = Lab.model_validate({"weir": 1, "name": "x", "chain": "PVP", "technology": ["direct"]})


@pytest.fixture
def usual(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(run_directories, "USUAL", tmp_path / "usual")
    return tmp_path / "usual"


@pytest.fixture
def pool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The kernel's directory, as plain files, where all pages are always taken."""
    found = tmp_path / "pool"
    found.mkdir()
    for name in ("nr", "free", "surplus"):
        (found / f"{name}_hugepages").write_text("0")
    monkeypatch.setattr(hugepages, "DIRECTORY", found)
    monkeypatch.setattr(hugepages, "NODES", tmp_path / "no-nodes")
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setenv(lifeline.OFF, "1")
    return found


def pages(pool: Path) -> int:
    return int((pool / "nr_hugepages").read_text())


class Weir:
    """Works in a run directory of its own."""

    def __init__(self, place: Path) -> None:
        self.place = place

    def deploy(self) -> None:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("WEIR_RUN_DIR", str(self.place))
            about = plan.build_topology(LAB, "direct", LAB.chains()[0], "x-00000000")
            self.deployment = Deployment.deploy([STEP], about, shares_cores=True)
            self.deployment.keep()

    def destroy(self) -> None:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("WEIR_RUN_DIR", str(self.place))
            self.deployment.destroy()


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_each_gives_back_its_own_pages_in_any_order(
    order: Sequence[int], usual: Path, pool: Path, tmp_path: Path
) -> None:
    weirs = [Weir(tmp_path / "a"), Weir(usual), Weir(tmp_path / "c")]
    for count, one in enumerate(weirs, 1):
        one.deploy()
        assert pages(pool) == count * PAGES
    for left, number in enumerate(order, 1):
        weirs[number].destroy()
        assert pages(pool) == (len(weirs) - left) * PAGES
    assert list(usual.iterdir()) == []


def test_a_run_directory_that_is_gone_is_forgotten(usual: Path, pool: Path, tmp_path: Path) -> None:
    gone, stays = Weir(tmp_path / "gone"), Weir(tmp_path / "stays")
    gone.deploy()
    shutil.rmtree(gone.place)
    stays.deploy()
    assert [link.readlink() for link in (usual / "run-directories").iterdir()] == [stays.place]
    stays.destroy()
    assert list(usual.iterdir()) == []
    assert pages(pool) == PAGES


def test_where_nobody_can_write_it_goes_on_alone(usual: Path, pool: Path, tmp_path: Path) -> None:
    usual.touch()
    one = Weir(tmp_path / "one")
    one.deploy()
    one.destroy()
    assert pages(pool) == 0


@pytest.mark.parametrize("umask", [0o022, 0o027, 0o077])
@pytest.mark.parametrize("user", [0, 1000])
def test_programs_of_users_pass_through_a_run_directory_that_root_makes_whatever_the_umask(
    umask: int, user: int, usual: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_root = usual / "below" / "weir"
    monkeypatch.setenv("WEIR_RUN_DIR", str(run_root))
    monkeypatch.setattr(os, "geteuid", lambda: user)
    before = os.umask(umask)
    try:
        CoreClaim.of([0]).release()
    finally:
        os.umask(before)
    modes = [one.stat().st_mode & 0o777 for one in (usual, usual / "below", run_root)]
    assert modes == [0o755 if user == 0 else 0o777 & ~umask] * 3


def test_a_run_directory_that_is_there_keeps_its_mode(usual: Path) -> None:
    usual.mkdir(mode=0o700)
    make_run_root(usual)
    assert usual.stat().st_mode & 0o777 == 0o700
