# SPDX-License-Identifier: Apache-2.0
"""The wheel, installed into an empty virtual environment, works without this source."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from weir import __version__
from weir.base import SOURCE_TREE
from weir.fabric.built import NATIVE, built, native_version

from .installed import DIST, ROOT, WHEELS, check_measuring, commanded

WHEEL = DIST / f"weir_nfv-{__version__}-py3-none-any.whl"
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.geteuid() != 0, reason="makes namespaces and mounts: run as root"),
    pytest.mark.skipif(
        not (WHEEL.exists() and WHEELS.exists()), reason="no wheels are built: make wheel wheels"
    ),
]


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    """Outside this source, with the virtual environment `venv`, and `bin` with the native programs alone."""
    made = Path(tempfile.mkdtemp(prefix="weir-wheel-"))
    venv = made / "venv"
    subprocess.run([sys.executable, "-m", "venv", str(venv)], check=True)
    install = [str(venv / "bin" / "pip"), "install", "--quiet", "--no-index", "--find-links", str(WHEELS)]
    subprocess.run([*install, str(WHEEL)], check=True, cwd=made)
    (made / "bin").mkdir()
    for program in NATIVE:
        shutil.copy2(built(program), made / "bin")
    (made / "empty").mkdir()
    yield made / "empty"
    shutil.rmtree(made)


def beside(folder: Path) -> tuple[Path, ...]:
    return folder.parent / "venv" / "bin", folder.parent / "bin"


def test_it_is_of_this_source_and_not_of_it(folder: Path) -> None:
    assert SOURCE_TREE == ROOT
    said = commanded(
        f"ls {ROOT}; python -c 'import weir.base; print(weir.base.SOURCE_TREE)'", folder, beside(folder)
    )
    assert said.out == "None\n"


def test_it_tells_its_version_and_those_of_the_native_programs_in_the_path(folder: Path) -> None:
    first, *others = commanded("weir --version", folder, beside(folder)).out.splitlines()
    assert first.startswith(f"weir {__version__} (Python 3.")
    places = folder.parent / "bin"
    assert others == [f"{native_version(one)}, {places / one}" for one in NATIVE]


def test_without_the_native_programs_it_says_how_to_get_them(folder: Path) -> None:
    run = "weir run labs/switching -t direct -c PVP --frame 64 --quick"
    script = f"weir --version; weir examples --copy labs; {run} && exit 9 || true"
    said = commanded(script, folder, beside(folder)[:1])
    missing = "there is no weir-dp in the PATH; get it by the Debian package weir-dp of this version"
    assert f"weir-dp: {missing}" in said.out
    assert missing in said.err


def test_it_measures_an_example_of_its_own(folder: Path) -> None:
    check_measuring(folder, path=beside(folder))


def test_its_schemas_and_pages_came_with_it(folder: Path) -> None:
    said = commanded(
        "weir schema lab > lab.json; head -n 1 lab.json; weir schema; weir schema labs || echo $?",
        folder,
        beside(folder),
    )
    names = sorted(path.name.removesuffix(".schema.json") for path in (ROOT / "schema").iterdir())
    assert said.out.splitlines() == ["{", *names, "2"]
    assert "(did you mean lab?)" in said.err
