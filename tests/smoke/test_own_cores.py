# SPDX-License-Identifier: Apache-2.0
"""Two deployments never poll on the same cores: the second one is refused before it is built, or waits."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.weir_command import WEIR
from weir.cli.exits import ENVIRONMENT, INTERRUPTED, OK

from .running import Run
from .surroundings import Surroundings
from .tiny import LAB

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="makes namespaces and processes: run as root"),
]

SOON_S = 60.0


class Weirs:
    """Commands about one tiny lab, each in a process of its own."""

    def __init__(self, folder: Path, root: Path, surroundings: Surroundings) -> None:
        self._root, self._folder = root, folder
        self.surroundings = surroundings
        self._started: list[subprocess.Popen[str]] = []
        (folder / "lab.yml").write_text(
            LAB.read_text().replace("[direct, linux-bridge, ovs, ovs-dpdk]", "direct")
        )

    def start(self, command: str, *words: str) -> subprocess.Popen[str]:
        program = [*WEIR, command]
        started = subprocess.Popen(
            [*program, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=self._folder
        )
        self._started.append(started)
        return started

    def ended(self, weir: subprocess.Popen[str]) -> tuple[int, str, str]:
        said, complained = weir.communicate(timeout=SOON_S)
        self.standing()
        return weir.returncode, said, complained

    def does(self, command: str, *words: str) -> tuple[int, str, str]:
        return self.ended(self.start(command, *words))

    def standing(self) -> list[str]:
        """Their ids."""
        found = [path.stem for path in self._root.glob("*.journal")]
        self.surroundings.tokens |= {one.rsplit("-", 1)[1] for one in found}
        return found

    def remove(self) -> None:
        for one in self._started:
            one.kill()
            one.communicate()


@pytest.fixture
def weirs(tmp_path: Path, run_root: Path, surroundings: Surroundings) -> Iterator[Weirs]:
    made = Weirs(tmp_path, run_root, surroundings)
    yield made
    made.remove()


@pytest.fixture
def first(weirs: Weirs) -> str:
    """A deployment that its maker has left standing."""
    code, _, complained = weirs.does("deploy", ".")
    assert code == OK, complained
    (name,) = weirs.standing()
    return name


@pytest.mark.long
@pytest.mark.parametrize("command", ["deploy", "run"])
def test_what_would_poll_on_the_cores_of_another_deployment_is_refused_and_names_it(
    command: str, weirs: Weirs, first: str, tmp_path: Path
) -> None:
    words = ["--store", str(tmp_path / "results.db")] if command == "run" else []
    code, said, complained = weirs.does(command, ".", *words)
    assert code == ENVIRONMENT
    assert complained.startswith(f"weir: {first} polls on core")
    assert f"; take it down with `weir destroy {first}`, or choose " in complained
    assert "Traceback" not in complained
    assert said == ""
    assert weirs.standing() == [first]
    assert not (tmp_path / "results.db").exists()
    assert weirs.does("destroy", first)[0] == OK
    weirs.surroundings.check("destroyed")


@pytest.mark.long
def test_lean_does_not_measure_on_a_core_that_another_deployment_polls_on(weirs: Weirs, first: str) -> None:
    core = re.search(r"polls on cores? (\d+)", weirs.does("deploy", ".")[2])
    assert core is not None
    code, said, complained = weirs.does("lean", "l2fwd", "--cpu", core[1], "--launches", "5")
    assert code == ENVIRONMENT
    assert complained.startswith(f"weir: {first} polls on core {core[1]};")
    assert said == ""
    assert weirs.does("destroy", first)[0] == OK
    code, said, complained = weirs.does("lean", "l2fwd", "--cpu", core[1], "--launches", "5")
    assert code == OK, complained
    assert "l2fwd" in said
    weirs.surroundings.check("measured")


@pytest.mark.long
def test_with_wait_it_comes_to_its_turn_when_the_cores_are_free(weirs: Weirs, first: str) -> None:
    second = weirs.start("deploy", ".", "--wait")
    assert second.stderr is not None
    assert second.stderr.readline().startswith(f"waiting: {first} polls on core")
    assert weirs.standing() == [first]
    assert weirs.does("destroy", first)[0] == OK
    code, said, complained = weirs.ended(second)
    assert (code, complained) == (OK, "")
    (name,) = weirs.standing()
    assert name != first
    assert f"{name} forwards" in said
    assert weirs.does("destroy", name)[0] == OK
    weirs.surroundings.check("both")


@pytest.mark.long
def test_ctrl_c_ends_the_waiting(weirs: Weirs, first: str) -> None:
    second = weirs.start("deploy", ".", "--wait")
    assert second.stderr is not None
    assert second.stderr.readline().startswith("waiting: ")
    second.send_signal(signal.SIGINT)
    code, _, complained = weirs.ended(second)
    assert (code, complained) == (INTERRUPTED, "weir: interrupted\n")
    assert weirs.standing() == [first]


@pytest.mark.long
def test_of_two_that_start_at_the_same_moment_one_is_built(weirs: Weirs) -> None:
    both = [weirs.start("deploy", ".") for _ in range(2)]
    codes = sorted(weirs.ended(one)[0] for one in both)
    assert codes == [OK, ENVIRONMENT]
    assert len(weirs.standing()) == 1


@pytest.mark.long
def test_a_run_has_its_cores_until_it_is_killed(tmp_path: Path, run_root: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    run = Run("direct", folder, run_root)
    weirs = Weirs(tmp_path, run_root, run.surroundings)
    try:
        run.until_trials(2)
        code, _, complained = weirs.does("deploy", ".")
        assert code == ENVIRONMENT
        assert " of a running weir (pid " in complained
        assert "; wait for its end (--wait, where the command has it), or choose " in complained
        run.send(signal.SIGKILL)
        run.ended()
        code, _, complained = weirs.does("deploy", ".")
        assert code == OK, complained
        assert "which a killed weir had left" in complained
        assert weirs.does("destroy")[0] == OK
        run.surroundings.check("killed, deployed and destroyed")
    finally:
        weirs.remove()
        run.remove()
