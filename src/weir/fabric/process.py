# SPDX-License-Identifier: Apache-2.0
"""Processes of a deployment. Each carries a marker in its environment, and only that marker ends it.

The marker is known before the process exists, so a kill between fork and journal leaves nothing unknown.
The kernel may hide the environment of another user's process: the journal's `Started` names it then.
"""

from __future__ import annotations

import ctypes
import os
import re
import resource
import select
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path

from weir.base.error import FabricError
from weir.base.started import Started
from weir.fabric import namespace, stop_signals
from weir.fabric.host import isolated

MARKER = "WEIR_RESOURCE"
TERM_S = 5.0
KILL_ROUNDS = 5
_CONTROLS = re.compile(r"\x1b(\[[0-?]*[ -/]*[@-~]|[()].|.)")
_SET_PARENT_DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG of <linux/prctl.h>


def spawn(
    argv: list[str],
    *,
    marker: str,
    netns: str | None,
    env: dict[str, str],
    cores: list[int],
    log: Path,
    descriptors: Collection[int] = (),
    directory: Path | None = None,
    groups: Collection[Path] = (),
    temporary: Path | None = None,
) -> int:
    """Starts a child in a session of its own; returns its pid. FabricError if it cannot be executed.

    `cores`: where it may run; empty: everywhere. Isolated ones of Weir's own partitions are entered.
    `descriptors`: those that it gets, under the same numbers.
    `directory`: where it works; None: where this process does.
    `groups`: cgroup.procs of the control groups that it enters first.
    `temporary`: what it sees in place of /tmp, a directory beside its own; None: /tmp.
    """
    inside = set(isolated.holding(cores).values())

    def prepare() -> None:
        for one in groups:
            one.write_text("0")
        if netns is not None:
            namespace.enter(netns)
        if temporary is not None:
            namespace.own_temporary(temporary, temporary.parent)
        for partition in inside:
            isolated.enter(partition)
        if cores:
            os.sched_setaffinity(0, cores)

    with log.open("ab") as output:
        try:
            child = subprocess.Popen(
                argv,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                env={**os.environ, **env, MARKER: marker},
                cwd=directory,
                start_new_session=True,
                pass_fds=descriptors,
                preexec_fn=prepare,  # noqa: PLW1509 - setns before exec; Weir has no threads here
            )
        except (OSError, subprocess.SubprocessError) as error:
            raise FabricError(f"cannot start {argv[0]}: {error}", "see `make setup`") from error
    _children[child.pid] = child
    return child.pid


def run_tool(
    argv: list[str], *, marker: str, env: dict[str, str], timeout_s: float, most_bytes: int | None = None
) -> subprocess.CompletedProcess[str]:
    """Runs a short-lived program to its end. It ends with this process, even if that is killed, and carries
    the marker until then. OSError, subprocess.TimeoutExpired.

    `most_bytes`: that it may say; it ends with more, by SIGXFSZ. For what others' machines say.
    """
    with ExitStack() as held:
        said = [subprocess.PIPE] * 2
        if most_bytes is not None:  # only files have a limit
            said = [held.enter_context(_in_memory()) for _ in said]
        done = subprocess.run(
            argv,
            env=env | {MARKER: marker},
            stdin=subprocess.DEVNULL,
            stdout=said[0],
            stderr=said[1],
            text=True,
            errors="replace",
            timeout=timeout_s,
            check=False,
            preexec_fn=ends_with_maker(most_bytes),
        )
        if most_bytes is not None:
            done.stdout, done.stderr = (_read_again(one, most_bytes) for one in said)
    return done


def ends_with_maker(most_bytes: int | None = None) -> Callable[[], None]:
    """What a child is to run before it becomes a program that ends with this process, even if that is killed.
    `most_bytes`: the longest file that it may write."""
    maker, library = os.getpid(), ctypes.CDLL(None)

    def prepare() -> None:
        library.prctl(_SET_PARENT_DEATH_SIGNAL, signal.SIGKILL)
        if os.getppid() != maker:  # it was killed before that
            os._exit(1)
        if most_bytes is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (most_bytes, most_bytes))

    return prepare


@contextmanager
def _in_memory() -> Iterator[int]:
    number = os.memfd_create("weir-said")
    try:
        yield number
    finally:
        os.close(number)


def _read_again(number: int, most_bytes: int) -> str:
    return os.pread(number, most_bytes, 0).decode(errors="replace")


_children: dict[int, subprocess.Popen[bytes]] = {}


def alive(pid: int) -> bool:
    """Whether the process runs (a zombie does not)."""
    child = _children.get(pid)
    if child is not None:
        return child.poll() is None
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return False


def exit_code(pid: int) -> int | None:
    """Of a child of this process that has ended; negative: the signal that ended it. None: not known."""
    child = _children.get(pid)
    return None if child is None else child.poll()


def finish(pid: int, signum: int, patience_s: float) -> None:
    """Sends a child of this process the signal and waits for its end; if that does not come, kills it."""
    child = _children.pop(pid)
    with suppress(ProcessLookupError):
        child.send_signal(signum)
    try:
        child.wait(patience_s)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()


def marked(
    marker: str, user: int | None = None, journalled: Mapping[Started, str] | None = None
) -> list[int]:
    """Pids of the processes that carry exactly this marker.

    `user`: who some of them may run as. `journalled`: markers of such processes, for where the kernel hides
    them. FabricError if it hides that of a process of the user's that is not among these.
    """
    return [pid for pid in _others() if _mark_of(pid, user, journalled or {}) == marker]


def _mark_of(pid: int, user: int | None, journalled: Mapping[Started, str]) -> str | None:
    try:
        return _environment_mark(pid, Path("/proc"))
    except PermissionError as error:
        started = Started.of(pid)
        if started is not None and started in journalled:
            return journalled[started]
        if user is not None and _user_of(pid) == user:
            raise FabricError(
                f"the kernel hides whose process {pid} of user {user} is: {error.strerror}",
                "run this with the capability CAP_SYS_PTRACE (docker run --cap-add SYS_PTRACE)",
            ) from error
    except OSError:
        pass  # it has ended
    return None


def _user_of(pid: int) -> int | None:
    with suppress(OSError):
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("Uid:"))
    return None


def inside(*namespaces: str) -> list[int]:
    """Pids of the processes in these network namespaces; none of one that is not there."""
    there = set()
    for one in namespaces:
        with suppress(FileNotFoundError):
            there.add(_identity((namespace.DIRECTORY / one).stat()))
    found = []
    for pid in _others() if there else ():
        with suppress(OSError):
            if _identity(Path(f"/proc/{pid}/ns/net").stat()) in there:
                found.append(pid)
    return found


def _identity(file: os.stat_result) -> tuple[int, int]:
    return file.st_dev, file.st_ino


def _others() -> list[int]:
    pids = [int(one.name) for one in Path("/proc").iterdir() if one.name.isdigit()]
    return [pid for pid in pids if pid != os.getpid()]


def mark_of(pid: int, proc: Path = Path("/proc")) -> str | None:
    """The marker of a process or thread: its deployment, a slash and its step. None of others."""
    with suppress(OSError):
        return _environment_mark(pid, proc)
    return None


def _environment_mark(pid: int, proc: Path) -> str | None:
    start = f"{MARKER}=".encode()
    for variable in (proc / str(pid) / "environ").read_bytes().split(b"\0"):
        if variable.startswith(start):
            return variable.removeprefix(start).decode(errors="replace")
    return None


def end_marked(marker: str, user: int | None = None, journalled: Mapping[Started, str] | None = None) -> None:
    """Ends every process with that marker: SIGTERM, and SIGKILL after a while. Returns when they are gone.

    As `marked`. FabricError if they do not go, too. Anybody can start one with that marker: what another
    user, who is not `user`, starts after this has begun is not waited for. All of the deployment's were there
    before, those that gave up rights too.
    """
    began_ticks = Started.now_ticks()

    def found() -> list[int]:
        return [pid for pid in marked(marker, user, journalled) if not _strange(pid, user, began_ticks)]

    _end_all(found)


def _strange(pid: int, user: int | None, since_ticks: int) -> bool:
    """Whether somebody else has started it after that moment."""
    started = Started.of(pid)
    return (
        started is not None
        and started.start_ticks > since_ticks
        and _user_of(pid) not in {os.getuid(), user, None}
    )


def end_inside(*namespaces: str) -> None:
    """The same of every process in these network namespaces, whoever put it there."""
    _end_all(partial(inside, *namespaces))


def _end_all(found: Callable[[], list[int]]) -> None:
    # The rounds after the first are for what they have started in their last moments.
    for patience_s in (TERM_S, *[0.0] * KILL_ROUNDS):
        if not _end_those_there(found, patience_s):
            return
    raise FabricError(f"processes {found()} do not end", "look what keeps them: ps, dmesg")


def _end_those_there(found: Callable[[], list[int]], patience_s: float) -> bool:
    """One round; False if there were none. Whom a signal could not be sent is left to the next one."""
    ends = {}
    try:
        for pid in found():
            with suppress(ProcessLookupError):
                ends[pid] = os.pidfd_open(pid)
        # They are looked for again while the descriptors are open: a pid may have been used anew.
        there = {pid: ends[pid] for pid in found() if pid in ends}
        asked = {fd for fd in there.values() if _sent(fd, signal.SIGTERM)}
        deadline = time.monotonic() + patience_s
        for pid, fd in there.items():
            left_s = max(0.0, deadline - time.monotonic()) if fd in asked else 0.0
            if _ended(fd, left_s) or (_sent(fd, signal.SIGKILL) and _ended(fd, TERM_S)):
                child = _children.pop(pid, None)
                if child is not None:
                    child.wait()
    finally:
        for fd in ends.values():
            os.close(fd)
    return bool(ends)


def _sent(pidfd: int, number: signal.Signals) -> bool:
    try:
        signal.pidfd_send_signal(pidfd, number)
    except OSError:  # it has ended, or it could not be sent
        return False
    return True


def _ended(pidfd: int, patience_s: float) -> bool:
    """Whether the process ends within that time."""
    poll = select.poll()  # select(2) takes no descriptor past 1023
    poll.register(pidfd, select.POLLIN)
    return bool(poll.poll(patience_s * 1000))


START_S = 30.0
LAST_LINES = 4


def wait_for(name: str, path: Path, pid: int, log: Path) -> None:
    """Returns when the process accepts connections at `path`; that the file is there is not enough.

    FabricError with the end of its log if it has ended, or does not within START_S.
    """
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as attempt:
            try:
                attempt.connect(str(path))
            except OSError:
                pass
            else:
                return
        if not alive(pid):
            break
        stop_signals.check()
        time.sleep(0.01)
    raise FabricError(f"{name} does not start: {log_end(log)}", f"its log: {log}")


def printable(line: str) -> str:
    """One line of a log as it may be shown, without blanks at its ends: a guest or a program could send
    controls of a terminal to whoever reads it."""
    return "".join(one for one in _CONTROLS.sub("", line) if one.isprintable()).strip()


def log_end(log: Path, lines: int = LAST_LINES) -> str:
    """The last lines of a process's log, in one."""
    said = log.read_text(errors="replace").splitlines() if log.exists() else []
    return " | ".join(said[-lines:]) or "it said nothing"


def allow_all_descriptors() -> None:
    """As many as the administrator lets this process have: each namespace that is worked in takes some."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
