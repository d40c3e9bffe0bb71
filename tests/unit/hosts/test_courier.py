# SPDX-License-Identifier: Apache-2.0
"""What is between the head and the program that measures, on its host."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from weir.base.error import INTERRUPTED
from weir.fabric.line_program import LineProgram
from weir.hosts import courier as courier_module
from weir.hosts.courier import Courier

ECHO = "import sys\nfor line in sys.stdin: print('heard', line, end='', flush=True)\n"
SOON_S = 20.0


@pytest.fixture
def begun() -> Iterator[list[Courier]]:
    """Those of a test, ended after it."""
    made: list[Courier] = []
    yield made
    for one in made:
        one.close()


def courier(begun: list[Courier], program: str, unasked_s: float = SOON_S) -> Courier:
    begun.append(Courier(("-c", program), unasked_s))
    return begun[-1]


def until_end(of: Courier) -> tuple[list[str], str]:
    """All that it says, and why it ended."""
    said: list[str] = []
    deadline = time.monotonic() + SOON_S
    while time.monotonic() < deadline:
        lines, ended = of.poll(0.2)
        said += lines
        if ended is not None:
            return said, ended
    pytest.fail(f"it has not ended, and said {said}")


def test_lines_go_there_and_back_in_their_order_until_the_program_is_told_to_end(
    begun: list[Courier],
) -> None:
    one = courier(begun, ECHO)
    for word in ("first", "second", "third ✓"):
        one.send(word)
    said: list[str] = []
    while len(said) < 3:
        said += one.poll(SOON_S)[0]
    assert said == ["heard first", "heard second", "heard third ✓"]
    one.close()
    assert one.poll(0) == ([], "")


def test_numbered_lines_are_said_in_their_order_in_whichever_they_come(begun: list[Courier]) -> None:
    one = courier(begun, ECHO)
    for number in (2, 0, 3, 1):
        one.send(str(number), number)
    said: list[str] = []
    while len(said) < 4:
        said += one.poll(SOON_S)[0]
    assert said == [f"heard {number}" for number in range(4)]


def test_what_a_program_wrote_before_it_died_is_heard_and_then_why_it_died(begun: list[Courier]) -> None:
    one = courier(begun, "import sys\nprint('measured', flush=True)\nsys.exit('no such card')")
    assert until_end(one) == (["measured"], "its weir ended with exit code 1: no such card")


def test_a_killed_program_is_told_by_its_signal(begun: list[Courier]) -> None:
    one = courier(begun, "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)")
    assert until_end(one) == ([], "its weir ended with signal 9: without a word")


def test_a_program_whose_head_asks_no_more_is_ended_by_the_end_of_its_input(
    begun: list[Courier], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(courier_module, "_LOOK_S", 0.05)
    done = tmp_path / "done"
    program = f"import sys, pathlib\nsys.stdin.read()\npathlib.Path({str(done)!r}).write_text('taken down')"
    courier(begun, program, unasked_s=0.2)
    deadline = time.monotonic() + SOON_S
    while not done.exists():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_a_stopped_program_takes_down_what_it_has_built(begun: list[Courier]) -> None:
    program = """if True:
        import signal, sys, time
        def stopped(*_):
            print("taken down", flush=True)
            sys.exit(0)
        signal.signal(signal.SIGTERM, stopped)
        print("built", flush=True)
        while True:
            time.sleep(1)
    """
    one = courier(begun, program)
    while not one.poll(SOON_S)[0]:
        pass
    one.stop()
    assert until_end(one) == (["taken down"], "")


def test_a_program_that_reads_nothing_is_ended_in_time_though_somebody_still_writes_to_it() -> None:
    program = LineProgram((sys.executable, "-c", "import time; time.sleep(600)"))
    writing = threading.Thread(target=program.send, args=("a" * (1 << 20),), daemon=True)
    writing.start()
    time.sleep(0.2)
    ending = threading.Thread(target=program.close, args=(0.5,), daemon=True)
    ending.start()
    ending.join(SOON_S)
    writing.join(SOON_S)
    assert (ending.is_alive(), writing.is_alive(), program.code) == (False, False, -signal.SIGKILL)


STOPPED = f"import signal, sys, time; signal.signal(signal.SIGTERM, lambda *_: sys.exit({INTERRUPTED}))\n"


def test_a_program_that_was_stopped_has_ended_as_it_should_and_one_that_stops_by_itself_has_not(
    begun: list[Courier],
) -> None:
    one = courier(begun, STOPPED + "print('runs', flush=True); time.sleep(600)")
    while not one.poll(SOON_S)[0]:
        pass
    one.stop()
    assert until_end(one) == ([], "")
    one = courier(begun, STOPPED + "import os; os.kill(os.getpid(), signal.SIGTERM)")
    assert until_end(one) == ([], f"its weir ended with exit code {INTERRUPTED}: without a word")


def test_the_program_runs_on_other_cpus_than_its_courier_where_there_are_others(
    begun: list[Courier], monkeypatch: pytest.MonkeyPatch
) -> None:
    every = os.sched_getaffinity(0)
    if len(every) < 2:
        pytest.skip("needs two CPUs")
    own = min(every)
    before = os.sched_getaffinity
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {own} if pid == 0 else before(pid))
    one = courier(begun, "import os\nprint(sorted(os.sched_getaffinity(0)), flush=True)")
    said, _ = until_end(one)
    assert str(own) not in said[0].strip("[]").split(", ")


def test_a_program_is_neither_nice_nor_the_first_to_be_killed_nor_deaf_to_ctrl_c() -> None:
    """As Ray's workers are: what they start inherits that."""
    found = """if True:
        import os, signal
        print(os.getpriority(os.PRIO_PROCESS, 0), open("/proc/self/oom_score_adj").read().strip())
        print(signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, ()))
    """
    program = f"""if True:
        import os, signal, subprocess, sys
        os.nice(15)
        open("/proc/self/oom_score_adj", "w").write("1000")
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
        from weir.fabric import inherited
        inherited.undo()
        subprocess.run([sys.executable, "-c", {found!r}], check=True)
    """
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == (["0", "0", "False"] if os.geteuid() == 0 else ["15", "1000", "False"])
