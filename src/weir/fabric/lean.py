# SPDX-License-Identifier: Apache-2.0
"""weir-lean as a process: started with a request, told to measure."""

from __future__ import annotations

import contextlib
import json
import os
import select
import subprocess
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from weir.base.cores import parse_cpus
from weir.base.error import FabricError
from weir.fabric.built import HOW_TO_BUILD
from weir.plan.lean import LeanRequest

ANSWER_S = 120.0
STEP_ANSWER_S = 600.0  # each instruction by itself
_CACHES = Path("/sys/devices/system/cpu/cpu0/cache")


class LeanRefusalError(FabricError):
    """weir-lean understood the request and refuses it: what, at which place in it, and weir-dp's code."""

    def __init__(self, what: str, where: str, fix: str, code: str) -> None:
        self.what, self.where, self.code = what, where, code
        self.of_capture = where == "traffic.pcap"
        """Whether the file of packets is to blame."""
        super().__init__(f"{what} at {where}" if where else what, fix)


@contextlib.contextmanager
def request_file(request: LeanRequest) -> Iterator[Path]:
    """The request where weir-lean can read it, for the time of the body: a file in memory, which goes with
    this process however it ends."""
    with os.fdopen(os.memfd_create("weir-lean-request"), "w", encoding="utf-8") as file:
        json.dump(request.arguments(), file)
        file.flush()
        yield Path(f"/proc/{os.getpid()}/fd/{file.fileno()}")


class LeanProcess:
    """One launch of weir-lean, ready to measure; ended with the `with` block."""

    def __init__(
        self,
        binary: Path,
        request: Path,
        cpu: int,
        *,
        memory_mb: int,
        huge: bool = False,
        inject: str | None = None,
        step: bool = False,
        first_batches: int | None = None,
    ) -> None:
        """`huge`: in hugepages; `step`: to count instructions; `first_batches`: so many of first packets.

        FabricError if it cannot be started; `ready` raises what it refuses.
        """
        argv = [str(binary), "--request", str(request), "--cores", str(cpu), "--memory-mb", str(memory_mb)]
        argv += [] if huge else ["--no-huge"]
        argv += [] if inject is None else ["--inject", inject]
        argv += ["--step"] if step else []
        argv += [] if first_batches is None else ["--first-batches", str(first_batches)]
        self._answer_s = STEP_ANSWER_S if step else ANSWER_S
        self._process = _start(argv)

    @cached_property
    def ready(self) -> dict[str, Any]:
        """What it says when it is ready to measure: waits for it. Several may get ready at once."""
        return _answer(self._process, self._answer_s)

    def time(self, batches: int) -> dict[str, Any]:
        """What so many batches of 32 packets cost, by the time-stamp counter, with what `inject` adds."""
        return self._ask(f"time {batches}")

    def plain(self, batches: int) -> dict[str, Any]:
        """The same without what `inject` adds."""
        return self._ask(f"plain {batches}")

    def count(self, batches: int) -> dict[str, Any]:
        """The same by hardware counters: only if `ready` says that there are some."""
        return self._ask(f"count {batches}")

    def step(self, batches: int) -> dict[str, Any]:
        """Instructions of so many batches, one by one: only if `ready` says that this counts right."""
        return self._ask(f"step {batches}")

    def _ask(self, line: str) -> dict[str, Any]:
        _ = self.ready  # its first line is not the answer
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # it has ended: the answer says so
            self._process.stdin.write(line + "\n")
            self._process.stdin.flush()
        return _answer(self._process, self._answer_s)

    def close(self) -> None:
        """Ends it."""
        _end(self._process)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:  # it measures, perhaps for long, and reads nothing meanwhile
            self._process.terminate()
        self.close()


def _start(argv: list[str]) -> subprocess.Popen[str]:
    pipe = subprocess.PIPE
    try:
        return subprocess.Popen(argv, stdin=pipe, stdout=pipe, stderr=pipe, text=True)
    except OSError as error:
        raise FabricError(f"cannot start {argv[0]}: {error.strerror}", f"get it by {HOW_TO_BUILD}") from error


def _answer(process: subprocess.Popen[str], answer_s: float) -> dict[str, Any]:
    assert process.stdout is not None
    assert process.stderr is not None
    ready, _, _ = select.select([process.stdout], [], [], answer_s)
    if not ready:
        process.kill()
        raise FabricError(f"weir-lean does not answer within {answer_s:.0f} s", "ask for less at a time")
    line = process.stdout.readline()
    if not line:
        said = process.stderr.read().strip().splitlines()
        raise FabricError(f"weir-lean ended: {said[-1] if said else 'it said nothing'}")
    answer: dict[str, Any] = json.loads(line)
    if "error" in answer:
        expected = f"; expected {answer['expected']}" if answer.get("expected") else ""
        where, fix, code = (answer.get(key) or "" for key in ("where", "fix", "code"))
        raise LeanRefusalError(f"{answer['error']}{expected}", where, fix, code)
    return answer


def _end(process: subprocess.Popen[str]) -> None:
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe is not None:
            with contextlib.suppress(BrokenPipeError):
                pipe.close()
    try:
        process.wait(timeout=5)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def measure_machine(binary: Path, sizes_bytes: Sequence[int], cpus: Sequence[int]) -> list[dict[str, Any]]:
    """Lines of `weir-lean --machine`: one a size, and with two CPUs one of what passes between them."""
    argv = [str(binary), "--machine", ",".join(map(str, sizes_bytes)), "--cores", ",".join(map(str, cpus))]
    done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=ANSWER_S)
    if done.returncode != 0:
        raise FabricError(f"weir-lean --machine failed: {done.stderr.strip() or done.returncode}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def measure_distance(binary: Path, cpus: tuple[int, int]) -> tuple[float, dict[int, float]]:
    """Cycles to read on the first CPU a line that the second has read, at this moment, by `weir-lean
    --distance`; and of a piece of work on each of them, where it was not interrupted. Takes some 20 ms, for a
    fraction of which whatever polls on these CPUs stands still."""
    argv = [str(binary), "--distance", "--cores", ",".join(map(str, cpus))]
    done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=ANSWER_S)
    if done.returncode != 0:
        raise FabricError(f"weir-lean --distance failed: {done.stderr.strip() or done.returncode}")
    found = json.loads(done.stdout)
    timed = zip(cpus, found["piece_cycles"], strict=True)
    return float(found["distance_cycles"]), {cpu: float(cycles) for cpu, cycles in timed if cycles > 0}


def caches_bytes() -> dict[str, int]:
    """Sizes of the caches that CPU 0 reads data through: {"L1": …, "L2": …, "L3": …}, as far as known."""
    units = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
    found: dict[str, int] = {}
    for index in sorted(_CACHES.glob("index*")):
        if (index / "type").read_text().strip() == "Instruction":
            continue
        size = (index / "size").read_text().strip()
        found[f"L{(index / 'level').read_text().strip()}"] = int(size[:-1]) * units[size[-1]]
    return found


def separate_cpus() -> list[int]:
    """A CPU, and one of another core if this process may use one."""
    allowed = sorted(os.sched_getaffinity(0))
    first = allowed[0]
    siblings = Path(f"/sys/devices/system/cpu/cpu{first}/topology/thread_siblings_list")
    same_core = set(parse_cpus(siblings.read_text())) if siblings.exists() else {first}
    others = [cpu for cpu in allowed if cpu not in same_core]
    return [first, *others[:1]]
