# SPDX-License-Identifier: Apache-2.0
"""The container that `make container` builds on a bare Debian works: apt found all that the packages need."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from weir import __version__

from .installed import check_measuring, commanded

IMAGE = "localhost/weir-test"
INSIDE = (str(Path(__file__).with_name("in-container")), IMAGE)


pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.geteuid() != 0, reason="mounts what is in the image: run as root"),
]


@pytest.fixture(scope="module", autouse=True)
def built() -> None:
    if shutil.which("buildah") is not None:
        done = subprocess.run(["buildah", "inspect", IMAGE], capture_output=True, check=False)
        if done.returncode == 0:
            return
    pytest.skip("the container is not built: make container")


def test_it_measures_an_example_of_its_own(tmp_path: Path) -> None:
    check_measuring(tmp_path, inside=INSIDE)


def test_it_has_the_native_programs_of_its_version_and_an_open_vswitch_with_dpdk(tmp_path: Path) -> None:
    lines = commanded(
        "weir --version; /usr/lib/openvswitch-switch-dpdk/ovs-vswitchd-dpdk --version",
        tmp_path,
        inside=INSIDE,
    ).out.splitlines()
    assert [line.split()[:2] for line in lines[:3]] == [
        [name, __version__] for name in ("weir", "weir-dp", "weir-lean")
    ]
    assert any(line.startswith("DPDK 22.11") for line in lines[3:])


def test_no_source_and_no_compiler_is_in_it(tmp_path: Path) -> None:
    said = commanded("ls -d /source $(command -v gcc meson git) || true", tmp_path, inside=INSIDE)
    assert said.out == ""
