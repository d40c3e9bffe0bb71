# SPDX-License-Identifier: Apache-2.0
"""Where guests' files are, how much they may take, and that none is left."""

from __future__ import annotations

import json
import os
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from weir import plan
from weir.base.error import FabricError
from weir.base.step import Param
from weir.fabric.deployment import Deployment, clean_leftovers
from weir.fabric.journal import Journal
from weir.fabric.lock import Lock
from weir.fabric.run_directories import HOST_LOCK
from weir.fabric.site import Facts, Site
from weir.fabric.step_handlers import step_handler
from weir.fabric.vm.seed import VmSeed
from weir.fabric.vm.storage import left, overlay_bytes, require_space, stored
from weir.lab import Lab
from weir.plan import Step

MIB = 1 << 20
GUESTS = Step(kind="guests", name="guests", params={}, text="", undo_text="")
RUN_DIRECTORY = Step(kind="run-directory", name="run-directory", params={}, text="", undo_text="")
pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="gives files to another user: run as root"),
]


@pytest.fixture(autouse=True)
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("WEIR_RUN_DIR", str(tmp_path / "run"))
    monkeypatch.setenv("WEIR_GUEST_DIR", str(tmp_path / "guests"))
    return tmp_path


def began(name: str = "x-00000001") -> Journal:
    lab = Lab.model_validate({"weir": 1, "name": "x", "chain": "PVP", "technology": ["direct"]})
    return Journal.begin(plan.build_topology(lab, "direct", lab.chains()[0], name))


def done(journal: Journal, *steps: Step) -> Site:
    site = Site(journal.path.stem, journal.path.with_suffix(""), journal)
    for step in steps:
        journal.write({"do": step.model_dump()})
        site.at(step)
        journal.write({"facts": step_handler(step.kind).do(step, site), "step": step.name})
    return site


@pytest.fixture
def journal() -> Iterator[Journal]:
    made = began()
    yield made
    if made.path.exists():
        made.unlock()
        Deployment(made).destroy()


def seed(image: Path, overlay_mb: int, node: str = "f1") -> Step:
    params: dict[str, Param] = {
        "node": node,
        "image": str(image),
        "image_format": "raw",
        "user_data": "",
        "overlay_mb": overlay_mb,
    }
    return Step(kind="vm-seed", name=f"vm-seed:{node}", params=params, text="", undo_text="")


def image_of(path: Path, size_bytes: int) -> Path:
    with path.open("wb") as file:
        file.truncate(size_bytes)
    return path


def test_they_are_roots_alone_and_not_in_the_run_directory(journal: Journal, places: Path) -> None:
    site = done(journal, RUN_DIRECTORY, GUESTS)
    its = stored(site, "f1")
    assert its.directory == places / "guests" / "x-00000001"
    status = its.directory.stat()
    assert (stat.S_IMODE(status.st_mode), status.st_uid) == (0o700, 0)
    assert stat.S_IMODE(site.directory.stat().st_mode) == 0o700
    sockets = (site.directory / "guests").stat()
    assert (stat.S_IMODE(sockets.st_mode), sockets.st_uid) == (0o700, site.facts_of("guests")["user"])
    assert sockets.st_uid > 65535


@pytest.mark.parametrize("made", [False, True], ids=["before", "after"])
def test_a_killed_weirs_are_removed_by_the_next_one_even_in_the_middle_of_the_step(
    made: bool, places: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The path is in the journal before the directory is made."""
    journal, mkdir = began(), Path.mkdir

    def killed(self: Path, mode: int = 0o777, *, parents: bool = False, exist_ok: bool = False) -> None:
        if self == places / "guests" / "x-00000001":
            assert str(self) in journal.path.read_text()
            if made:
                mkdir(self, mode)
            raise KeyboardInterrupt
        mkdir(self, mode, parents=parents, exist_ok=exist_ok)

    with monkeypatch.context() as patched:
        patched.setattr(Path, "mkdir", killed)
        with pytest.raises(KeyboardInterrupt):
            done(journal, GUESTS)
    assert (places / "guests" / "x-00000001").exists() is made
    journal.close()
    # A weir whose environment says otherwise.
    monkeypatch.setenv("WEIR_GUEST_DIR", str(places / "elsewhere"))
    assert clean_leftovers() == ["x-00000001"]
    assert [*(places / "guests").iterdir()] == []


def test_its_logs_are_kept_before_the_directory_goes_and_the_error_names_them(
    journal: Journal, places: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WEIR_LOG_DIR", str(places / "kept"))
    its = stored(done(journal, RUN_DIRECTORY, GUESTS), "f1")
    its.log.write_text("qemu: it failed\n")
    its.serial.write_text("Booting\n")
    error = FabricError("virtual machine f1 does not start", f"its log: {its.log}")
    deployment = Deployment(journal)
    deployment.keep_logs(error)
    journal.unlock()
    deployment.destroy()
    assert not its.directory.exists()
    place = places / "kept" / "x-00000001"
    assert f"its log: {place}/f1.qemu.log" in str(error)
    assert (place / "f1.qemu.log").read_text() == "qemu: it failed\n"
    assert (place / "f1.serial").read_text() == "Booting\n"


def test_somebody_elses_directory_of_that_name_is_left_alone(journal: Journal, places: Path) -> None:
    (places / "guests" / "x-00000001" / "mine").mkdir(parents=True)
    with pytest.raises(FabricError, match=r"there is a .*x-00000001 already"):
        done(journal, GUESTS)
    journal.unlock()
    Deployment(journal).destroy()
    assert (places / "guests" / "x-00000001" / "mine").is_dir()


def test_a_place_that_cannot_be_used_is_named_with_what_to_do(journal: Journal, places: Path) -> None:
    (places / "guests").write_text("")
    with pytest.raises(
        FabricError, match=r"cannot make .*guests/x-00000001 .*; set WEIR_GUEST_DIR to a directory"
    ):
        done(journal, RUN_DIRECTORY, GUESTS)


def test_those_of_no_deployment_are_told_from_those_in_use(journal: Journal, places: Path) -> None:
    done(journal, RUN_DIRECTORY, GUESTS)
    (places / "guests" / "of-mine").mkdir()
    assert left() == []
    reboot = places / "guests" / "y-00000002"
    reboot.mkdir()
    (reboot / "journal").symlink_to(places / "run" / "y-00000002.journal")
    assert left() == [reboot]


def test_an_overlay_takes_its_disk_and_a_little_more_or_its_limit() -> None:
    assert overlay_bytes(1 << 30, 4096 * MIB) == (1 << 30) + (1 << 19) + MIB
    assert overlay_bytes(1 << 40, 4096 * MIB) == 4096 * MIB


@pytest.mark.skipif(shutil.which("qemu-img") is None, reason="qemu-img is not installed")
def test_an_overlay_is_made_where_there_is_space_and_names_no_file(journal: Journal, tmp_path: Path) -> None:
    image = image_of(tmp_path / "own.raw", 64 * MIB)
    site = done(journal, RUN_DIRECTORY, GUESTS, seed(image, 16))
    its = stored(site, "f1")
    assert b"own.raw" not in its.overlay.read_bytes()
    assert site.facts_of("vm-seed:f1")["overlay"] == {"path": str(its.overlay), "bytes": 16 * MIB}
    assert json.loads((its.seed / "meta-data").read_text())["local-hostname"] == "f1"


@pytest.mark.skipif(shutil.which("qemu-img") is None, reason="qemu-img is not installed")
def test_an_overlay_that_has_no_space_is_refused_before_it_is_made(
    journal: Journal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With what other guests may write still, here and in other deployments."""
    image = image_of(tmp_path / "own.raw", 1 << 30)
    free_bytes = 1000 * MIB
    monkeypatch.setattr(
        os, "statvfs", lambda _path: os.statvfs_result((4096, 4096, 0, 0, free_bytes // 4096, *[0] * 5))
    )
    site = done(journal, RUN_DIRECTORY, GUESTS, seed(image, 500, "f1"))
    other = began("y-00000002")
    done(other, RUN_DIRECTORY, GUESTS, seed(image, 300, "f1"))
    try:
        with pytest.raises(
            FabricError, match=r"f2 may write 300 MiB .* has 200 MiB free beside .* lower vm\.overlay_mb"
        ):
            done(journal, seed(image, 300, "f2"))
    finally:
        other.unlock()
        Deployment(other).destroy()
    assert not stored(site, "f2").overlay.exists()
    done(journal, seed(image, 450, "f3"))


def test_space_is_counted_and_promised_while_no_other_deployment_does(
    journal: Journal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    image = image_of(tmp_path / "own.raw", 64 * MIB)
    site = done(journal, RUN_DIRECTORY, GUESTS)
    alone: list[tuple[str, bool]] = []

    def looked(what: str) -> None:
        lock = Lock(tmp_path / "run" / HOST_LOCK)
        taken = lock.take()
        alone.append((what, not taken))
        lock.release()

    note = site.note

    def noted(facts: Facts) -> None:
        looked("noted")
        note(facts)

    monkeypatch.setattr("weir.fabric.vm.seed.require_space", lambda *_: looked("counted"))
    monkeypatch.setattr("weir.fabric.vm.seed._qemu_img", lambda *_: "")
    monkeypatch.setattr(site, "note", noted)
    step = seed(image, 16)
    monkeypatch.setattr("weir.fabric.vm.disk.checked", lambda *_: SimpleNamespace(size_bytes=64 * MIB))
    site.at(step)
    VmSeed().do(step, site)
    assert alone == [("counted", True), ("noted", True)]


def test_an_overlay_that_is_promised_and_not_made_yet_counts(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        os, "statvfs", lambda _path: os.statvfs_result((4096, 4096, 0, 0, 1000 * MIB // 4096, *[0] * 5))
    )
    site = done(journal, RUN_DIRECTORY, GUESTS)
    its = stored(site, "f1")
    step = Step(kind="vm-seed", name="vm-seed:f1", params={}, text="", undo_text="")
    journal.write({"do": step.model_dump()})
    site.at(step)
    site.note({"overlay": {"path": str(its.overlay), "bytes": 600 * MIB}})
    require_space(site, its.directory, "f2", 400 * MIB)
    with pytest.raises(FabricError, match="has 400 MiB free"):
        require_space(site, its.directory, "f2", 401 * MIB)
