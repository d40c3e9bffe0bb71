# SPDX-License-Identifier: Apache-2.0
"""What guest images are made of: a kernel package, modules in their order, programs with their libraries."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from weir.base.error import FabricError
from weir.fabric.vm import image
from weir.fabric.vm.packages import Kernel, kernel, libraries, program


def programs(directory: Path, **scripts: str) -> str:
    """A PATH with only these."""
    directory.mkdir()
    for name, script in scripts.items():
        path = directory / name.replace("_", "-")
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
    return str(directory)


APT = {
    "apt_cache": 'case $1 in depends) echo "  Depends: linux-image-1-cloud";; *) echo "Version: 1-1";; esac',
    "dpkg_deb": "exit 0",
}


def test_without_apt_it_is_said_that_guests_are_debians(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", programs(tmp_path / "bin"))
    with pytest.raises(FabricError, match="no apt-get here; guest images are made of Debian's packages"):
        kernel(tmp_path).__enter__()


def test_a_package_that_apt_does_not_know_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = programs(tmp_path / "bin", apt_get="exit 0", apt_cache="exit 0", dpkg_deb="exit 0")
    monkeypatch.setenv("PATH", path)
    with pytest.raises(FabricError, match=r"does not know linux-image-cloud-amd64; run `apt-get update`"):
        kernel(tmp_path).__enter__()


def test_offline_the_last_words_of_apt_are_told_and_nothing_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = tmp_path / "store"
    path = programs(tmp_path / "bin", apt_get="echo no route to host >&2; exit 100", **APT)
    monkeypatch.setenv("PATH", path)
    with pytest.raises(
        FabricError, match="linux-image-1-cloud cannot be fetched: no route to host; go online"
    ):
        kernel(store).__enter__()
    assert [*store.iterdir()] == []


def test_what_a_killed_build_had_unpacked_goes_with_the_next_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = tmp_path / "store"
    unpack = "mkdir -p $3/boot $3/lib/modules/1; touch $3/boot/vmlinuz-1"
    path = programs(tmp_path / "bin", apt_get="touch linux-image-1-cloud_1-1_amd64.deb", **APT)
    (tmp_path / "bin" / "dpkg-deb").write_text(f"#!/bin/sh\n{unpack}\n")
    monkeypatch.setenv("PATH", f"{path}:{os.environ['PATH']}")
    child = os.fork()
    if child == 0:
        with kernel(store):
            os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)
    (left,) = store.glob("*/boot")
    with kernel(store) as made:
        assert made.image.is_file()
        assert not left.exists()
    assert [one.name for one in store.iterdir()] == ["linux-image-1-cloud_1-1_amd64.deb"]


def test_modules_come_after_what_they_need_and_built_in_ones_not_at_all(tmp_path: Path) -> None:
    needs = {"virtio_net": "net_failover,virtio", "net-failover": "failover", "failover": "", "virtio": ""}
    for name, depends in needs.items():
        (tmp_path / f"{name}.ko").write_bytes(b"ELF\0license=GPL\0depends=" + depends.encode() + b"\0name\0")
    there = Kernel("linux-image-1", "1", tmp_path / "vmlinuz", tmp_path)
    loaded = [path.stem for path in there.ordered(["virtio_net", "built_in"])]
    assert sorted(loaded) == sorted(needs)
    assert loaded.index("failover") < loaded.index("net-failover") < loaded.index("virtio_net")
    assert loaded.index("virtio") < loaded.index("virtio_net")


def test_a_program_comes_with_its_libraries_and_their_loader() -> None:
    found = libraries([program("sh", "dash")])
    assert any("ld-linux" in name for name in found)
    assert all(path.is_file() and not path.is_symlink() for path in found.values())


def test_a_program_that_is_not_here_is_named_with_its_package() -> None:
    with pytest.raises(FabricError, match="no socatt here for the guest; install the Debian package socat"):
        program("socatt", "socat")


def test_an_image_that_was_not_built_says_how(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(FabricError, match="run `weir image build --forwarder weir-dp`"):
        image.found("weir-dp")
