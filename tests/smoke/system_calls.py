# SPDX-License-Identifier: Apache-2.0
"""Work in a forked child, one of whose system calls does not happen: the child gets a signal, or the call
fails. By strace, which counts the child's calls of each name; what the child starts is not traced."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from weir.base.error import WeirError

# Calls in which others may go on with their work: weir-dp with a command, a tool with its own.
_WAITING = (
    "recvfrom", "recvmsg", "wait4", "waitid", "connect", "poll", "select", "pselect6", "clock_nanosleep",
)  # fmt: skip
# Calls that change something outside the process's own memory, or take something of the kernel's.
_CHANGING = (
    "write", "writev", "pwrite64", "sendto", "sendmsg", "ioctl", "openat", "open", "creat", "mkdir",
    "mkdirat", "rmdir", "unlink", "unlinkat", "rename", "renameat", "renameat2", "link", "linkat", "symlink",
    "symlinkat", "truncate", "ftruncate", "fallocate", "chmod", "fchmod",
    "fchmodat", "chown", "fchown", "fchownat",
    "fsync", "fdatasync", "flock", "fcntl", "mount", "umount2", "setns", "unshare", "fork", "vfork", "clone",
    "clone3", "kill", "tgkill", "pidfd_open", "pidfd_send_signal", "bind", "setsockopt", "sched_setaffinity",
    "sched_setscheduler",
)  # fmt: skip
_LINE = re.compile(r"(\w+)\((.*)")
_READ_ONLY = {
    "openat": re.compile(r"\bO_RDONLY\b(?!.*\bO_(?:CREAT|TMPFILE)\b)"),
    "open": re.compile(r"\bO_RDONLY\b(?!.*\bO_(?:CREAT|TMPFILE)\b)"),
    "ioctl": re.compile(r"\b(?:TCGETS|FIOCLEX|FIONBIO|TIOCGWINSZ|FIONREAD)"),
    "fcntl": re.compile(r"\bF_(?:GET\w+|DUPFD\w*|SETFD|SETFL)\b"),
    "kill": re.compile(r", 0\)"),
}
ENDS_WITHIN_S = 90.0
NOT_BEGUN = 77
"""The child's exit code where what it does first was refused: others have this machine's memory or cores."""
_PAUSE_S = 0.0005


@dataclass(frozen=True)
class Call:
    """One of the calls of the work: the `number`th of its name, from one."""

    name: str
    number: int
    text: str
    waits: bool = False


@dataclass(frozen=True)
class Ended:
    """How the child ended: its exit code, or the negative signal, as subprocess says it."""

    code: int
    said: str
    calls: list[Call]
    counts: Counter[str]
    """How often each name was called."""

    def came_to(self, call: Call) -> bool:
        """Whether it came so far as that call's number."""
        return self.code < 0 or self.counts[call.name] >= call.number


def strace_works() -> bool:
    """Whether it is there, and this machine lets one process trace another."""
    try:
        done = subprocess.run(["strace", "-o", os.devnull, "true"], capture_output=True, check=False)
    except FileNotFoundError:
        return False
    return done.returncode == 0


def traced(
    work: Callable[[], object],
    folder: Path,
    inject: str | None = None,
    *,
    before: Callable[[], object] = lambda: None,
    within_s: float = ENDS_WITHIN_S,
) -> Ended:
    """`work` in a child; `inject` is what strace's option of that name takes. AssertionError if it hangs:
    if it has not ended `within_s`.

    `before`: what the child does first, untraced.
    """
    said, log = folder / "said", folder / "calls"
    log.unlink(missing_ok=True)
    (waiting, go), (begun, ready) = os.pipe(), os.pipe()
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        os.close(go)
        os.close(begun)
        _as_a_process(before, work, waiting, ready, said)
    os.close(waiting)
    os.close(ready)
    os.read(begun, 1)
    os.close(begun)
    words = ["-e", f"inject={inject}"] if inject else []
    names = "trace=" + ",".join(f"?{name}" for name in (*_CHANGING, *_WAITING))
    strace = subprocess.Popen(
        ["strace", "-qq", "-y", "-s", "80", "-e", "signal=none", "-e", names, *words,
         "-o", str(log), "-p", str(pid)],
        stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        _until(lambda: _is_traced(pid) or strace.poll() is not None, "strace does not attach")
        os.close(go)
        status = _status_of(pid, said, within_s)
    finally:
        _, complaint = strace.communicate()
    assert log.exists(), complaint
    calls, counts = _calls(log.read_text())
    return Ended(os.waitstatus_to_exitcode(status), said.read_text(errors="replace"), calls, counts)


def _as_a_process(
    before: Callable[[], object], work: Callable[[], object], waiting: int, ready: int, said: Path
) -> None:
    """Does not return. What `work` prints goes to `said`; it has the exit code that Python would give it."""
    code = 1
    try:
        out = os.open(said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o644)
        os.dup2(out, 1)
        os.dup2(out, 2)
        sys.stdout = os.fdopen(1, "w", closefd=False)
        sys.stderr = os.fdopen(2, "w", buffering=1, closefd=False)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
        try:
            before()
        except WeirError as error:
            print(f"weir: {error}")
            sys.stdout.flush()
            os._exit(NOT_BEGUN)
        os.close(ready)
        os.read(waiting, 1)
        os.close(waiting)
        try:
            work()
            code = 0
        finally:
            sys.stdout.flush()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(bool(end.code))
    except BaseException:
        os.write(2, traceback.format_exc().encode())
    finally:
        os._exit(code)


def _status_of(pid: int, said: Path, within_s: float) -> int:
    deadline = time.monotonic() + within_s
    while True:
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            return status
        if time.monotonic() > deadline:
            stack = Path(f"/proc/{pid}/wchan").read_text()
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            raise AssertionError(f"it hangs in {stack}: {said.read_text(errors='replace')}")
        time.sleep(_PAUSE_S)


def _until(happened: Callable[[], bool], otherwise: str) -> None:
    deadline = time.monotonic() + ENDS_WITHIN_S
    while not happened():
        assert time.monotonic() < deadline, otherwise
        time.sleep(_PAUSE_S)


def _is_traced(pid: int) -> bool:
    return "TracerPid:\t0\n" not in Path(f"/proc/{pid}/status").read_text()


def _calls(log: str) -> tuple[list[Call], Counter[str]]:
    numbers: Counter[str] = Counter()
    found: list[Call] = []
    for line in log.splitlines():
        match = _LINE.match(line)
        if match is None:
            continue
        name, rest = match.groups()
        numbers[name] += 1
        waits = name in _WAITING
        if waits and found and found[-1].waits:
            continue  # the first of several says it for all
        if name not in _READ_ONLY or not _READ_ONLY[name].search(rest):
            found.append(Call(name, numbers[name], f"{name}({rest[:160]}", waits))
    return found, numbers
