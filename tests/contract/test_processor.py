# SPDX-License-Identifier: Apache-2.0
"""A build is for one processor: it says so on another, and a build directory carried there is not kept."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FLAGS = ROOT / "tools" / "processor-flags"
WEIR_DP = ROOT / "build" / "native" / "weir-dp"
EMULATOR = "qemu-x86_64"
NEHALEM = [EMULATOR, "-cpu", "Nehalem"]  # x86-64-v2: no AVX


def macros(*flags: str) -> list[str]:
    """What the compiler says of the instructions it may use."""
    argv = ["cc", *flags, "-dM", "-E", "-x", "c", os.devnull]
    return sorted(subprocess.run(argv, capture_output=True, text=True, check=True).stdout.splitlines())


def test_the_flags_of_a_processor_mean_what_native_means() -> None:
    flags = subprocess.run([FLAGS, "cc"], capture_output=True, text=True, check=True).stdout.split()
    assert "-march=native" not in flags
    assert macros(*flags) == macros("-march=native")


@pytest.mark.skipif(not WEIR_DP.exists(), reason="weir-dp is not built: make native")
@pytest.mark.skipif(shutil.which(EMULATOR) is None, reason=f"no {EMULATOR} here: apt-get install qemu-user")
@pytest.mark.skipif("#define __AVX2__ 1" not in macros("-march=native"), reason="this processor has no AVX2")
@pytest.mark.parametrize("program", ["weir-dp", "weir-lean"])
def test_a_program_says_on_a_lesser_processor_what_that_lacks(program: str) -> None:
    argv = [*NEHALEM, str(WEIR_DP.with_name(program)), "--version"]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert done.returncode == 3
    assert done.stdout == ""
    assert "built for another processor; this one lacks AVX AVX2" in done.stderr
    assert done.stderr.endswith(": build it again with `make native`\n")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A source tree that says how often it was configured, and with which flags for this processor."""
    (tmp_path / "tools").mkdir()
    shutil.copy(ROOT / "tools" / "configure", tmp_path / "tools")
    processor(tmp_path, "-march=znver3")
    return tmp_path


def processor(tree: Path, flags: str) -> None:
    """As if the tree were on a processor with such flags."""
    program = tree / "tools" / "processor-flags"
    program.write_text(f"#!/bin/sh\necho {flags}\n")
    program.chmod(0o755)
    (tree / "meson.build").write_text(f"project('carried')\nmessage('{flags}')\n")


def configured(tree: Path, *programs_in: Path) -> str:
    """What configuring says, with programs of more folders; and it leaves a file behind, as if compiled."""
    argv = [tree / "tools" / "configure", tree / "build"]
    path = ":".join([*map(str, programs_in), os.environ["PATH"]])
    said = subprocess.run(
        argv, capture_output=True, text=True, check=True, cwd=tree, env={**os.environ, "PATH": path}
    ).stdout
    (tree / "build" / "native").mkdir(exist_ok=True)
    return said


def test_a_build_directory_is_configured_once(tree: Path) -> None:
    assert configured(tree) == ""
    (tree / "build" / "native" / "weir-dp").touch()
    log = tree / "build" / "meson-setup.log"
    before = log.stat().st_mtime_ns
    assert configured(tree) == ""
    assert log.stat().st_mtime_ns == before
    assert (tree / "build" / "native" / "weir-dp").exists()


def test_a_build_directory_of_another_processor_is_built_anew_and_what_else_is_in_it_stays(
    tree: Path,
) -> None:
    configured(tree)
    (tree / "build" / "native" / "weir-dp").touch()
    (tree / "build" / "bench").mkdir()
    processor(tree, "-march=haswell")
    assert "made for another processor, place or set of packages: building it anew" in configured(tree)
    assert "Message: -march=haswell" in (tree / "build" / "meson-setup.log").read_text()
    assert not (tree / "build" / "native" / "weir-dp").exists()
    assert (tree / "build" / "bench").exists()


def test_a_build_directory_of_another_place_is_built_anew(
    tree: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    configured(tree)
    moved = tmp_path_factory.mktemp("elsewhere") / "tree"
    tree.rename(moved)
    assert "made for another processor, place or set of packages" in configured(moved)
    assert str(moved) in (moved / "build" / "meson-setup.log").read_text()


def test_a_build_directory_from_before_an_optional_package_came_is_built_anew(
    tree: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    configured(tree)
    came = tmp_path_factory.mktemp("came") / "clang"
    came.write_text("#!/bin/sh\n")
    came.chmod(0o755)
    assert "made for another processor, place or set of packages" in configured(tree, came.parent)
    assert configured(tree, came.parent) == ""
