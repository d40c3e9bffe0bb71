# SPDX-License-Identifier: Apache-2.0
"""The virtual environment of `make setup` follows a python3 that every user may run, where there is one."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

TREE = Path(__file__).parents[2]
LEAST = "3.11"
NOBODY = 65534


@pytest.fixture
def folder() -> Iterator[Path]:
    """One that others may enter, as pytest's may not be."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as made:
        Path(made).chmod(0o755)
        yield Path(made)


def private(folder: Path) -> Path:
    """A python3 that only this user may run: a copy of this one's program, behind a closed folder."""
    closed = folder / "closed"
    subprocess.run([sys.executable, "-m", "venv", "--copies", "--without-pip", closed], check=True)
    closed.chmod(0o700)
    return closed / "bin" / "python3"


def written(path: Path, text: str) -> Path:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def pretending(what: str) -> str:
    """This python3, where that was done first; the tool gives it `-c`, what to look at, and a version."""
    return f'exec {sys.executable} -c "import sys; {what}; exec(sys.argv[1])" "$2" "$3"'


def chosen(*words: str, **env: str) -> subprocess.CompletedProcess[str]:
    argv = [str(TREE / "tools" / "choose-python"), *words]
    return subprocess.run(argv, env={**os.environ, **env}, capture_output=True, text=True, check=False)


def may_run(python: str) -> bool:
    """Whether a user who is nobody here may."""
    done = subprocess.run([python, "-c", "import venv"], user=NOBODY, group=NOBODY, check=False, cwd="/")
    return done.returncode == 0


@pytest.mark.skipif(os.geteuid() != 0, reason="tries it as another user: run as root")
def test_where_the_first_python3_is_closed_to_others_another_one_is_taken(folder: Path) -> None:
    own = private(folder)
    done = chosen(PATH=f"{own.parent}:{os.environ['PATH']}")
    if done.stdout.strip() == str(own.resolve()):
        pytest.skip("no python3 here that every user may run")
    assert (done.returncode, done.stderr) == (0, "")
    assert may_run(done.stdout.strip())


@pytest.mark.parametrize("words", [(), ("given",)], ids=["to make one", "of one that is there"])
def test_where_there_is_none_but_a_closed_one_it_is_said_and_taken(
    words: tuple[str, ...], folder: Path
) -> None:
    own = private(folder)
    done = chosen(*(str(own) for _ in words), PYTHON3=str(own))
    assert done.returncode == 0
    assert done.stdout == ("" if words else f"{own.resolve()}\n")
    assert f"{own.resolve()} belongs to " in done.stderr
    assert "other users may not read it: weir will fail for them" in done.stderr
    assert "rm -r .venv, make setup; or make setup PYTHON3=" in done.stderr


@pytest.mark.parametrize(
    "text",
    [
        pretending("sys.version_info = (3, 10)"),
        pretending("sys.modules['ensurepip'] = None"),
        "exit 127",
    ],
    ids=["too old", "without ensurepip", "no python"],
)
def test_one_that_will_not_do_is_refused_with_what_to_do(text: str, folder: Path) -> None:
    done = chosen(PYTHON3=str(written(folder / "python3", text)))
    assert (done.returncode, done.stdout) == (3, "")
    assert f"no python3 of {LEAST} or newer with venv and ensurepip" in done.stderr
    assert "apt-get install python3 python3-venv" in done.stderr


def test_the_least_version_is_the_packages() -> None:
    assert f'requires-python = ">={LEAST}"' in (TREE / "pyproject.toml").read_text()
    assert f"least={LEAST}\n" in (TREE / "tools" / "choose-python").read_text()


def test_set_up_makes_the_environment_with_the_python3_that_is_chosen(tmp_path: Path) -> None:
    """The recipe itself, with an environment that is not there and with one that is."""
    done = subprocess.run(
        ["make", "-n", "-W", "requirements.lock", "-o", "build/.packages", ".venv/.ready"],
        cwd=TREE, capture_output=True, text=True, check=True,
    )  # fmt: skip
    recipe = done.stdout[done.stdout.index("if [ -x .venv/bin/python") :].partition("\nfi")[0]
    lines = recipe.partition("; fi")[0] + "; fi"
    (tmp_path / "tools").mkdir()
    written(tmp_path / "tools" / "choose-python", 'echo "chooses $*" >>calls; echo "$PWD/chosen"')
    written(tmp_path / "chosen", 'echo "runs $*" >>calls; mkdir -p .venv/bin; cp "$0" .venv/bin/python')
    for _ in range(2):
        subprocess.run(["sh", "-c", lines], cwd=tmp_path, check=True, capture_output=True)
    calls = (tmp_path / "calls").read_text().splitlines()
    assert calls == ["chooses ", "runs -m venv .venv", "chooses .venv/bin/python"]
