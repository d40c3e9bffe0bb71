# SPDX-License-Identifier: Apache-2.0
"""Processes of a deployment, started with its marker; and whether they run."""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from weir.base.error import FabricError
from weir.fabric import namespace, stop_signals
from weir.fabric.host import isolated
from weir.fabric.markers import MARKER
from weir.fabric.program_log import log_end

START_S = 30.0
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
            if directory is not None and not directory.is_dir():
                raise FabricError(
                    f"cannot start {argv[0]}: its working directory {directory} is not there", "put it back"
                ) from error
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


def reap(pid: int) -> None:
    """A child of this process that has ended is none any more; others are nobody's here."""
    child = _children.pop(pid, None)
    if child is not None:
        child.wait()


def signal_name(number: int) -> str:
    """Most realtime signals, which have numbers from SIGRTMIN on, are none of `signal.Signals`: signal(7)."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"SIGRTMIN+{number - signal.SIGRTMIN}" if number > signal.SIGRTMIN else f"signal {number}"


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
    code = exit_code(pid) or 0
    ended = f"it was ended by {signal_name(-code)}; " if code < 0 else ""
    raise FabricError(f"{name} does not start: {ended}{log_end(log)}", f"its log: {log}")


def allow_all_descriptors() -> None:
    """As many as the administrator lets this process have: each namespace that is worked in takes some."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
