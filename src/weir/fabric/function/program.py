# SPDX-License-Identifier: Apache-2.0
"""Step kind program: a user's program that is a network function, in a network namespace of its own."""

from __future__ import annotations

import os
import pwd
import re
import signal
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from weir.base.si import MS_PER_S
from weir.fabric import process, stop_signals
from weir.fabric.errors import FabricError
from weir.fabric.process import log_end, printable
from weir.fabric.step_handlers import Facts, Site
from weir.lab.kernel import FILE_PREFIX, filled
from weir.plan import Step

_LOOK_S = 0.01
_LIVES_S = 0.5
"""So long it must have run where nothing tells that it is ready."""
_LAST_LINES = 6
_BYTES_PER_MB = 1 << 20
_PASSED_THROUGH = 0o711
_READ_BY_ALL, _ENTERED_BY_ALL = 0o644, 0o755
# Its lines when it says them, not when a buffer is full: readiness is told from them, and last words are.
_BY_LINES = ("stdbuf", "--output=L", "--error=L")
_CAPABILITIES = "+net_raw,+net_admin"
# The program takes the shell's place, so that signals and exit code are its own. Nothing comes in, and no end
# of it: many programs end then.
_LIMITED = 'exec "$@" < <(exec sleep infinity) > >(stdbuf -o0 head -c {bytes}; exec cat > /dev/null) 2>&1'


class ProgramRun:
    """It, with all that it starts: whatever runs in the namespace at the end is ended."""

    def do(self, step: Step, site: Site) -> Facts:
        """FabricError if it ends before it is ready, or is not ready in time: with its last words."""
        params = step.params
        values = _written(params, site)
        variables = filled([*map(str, _list(params["environment"]))], values)
        environment = {"PYTHONUNBUFFERED": "1"} | dict(one.split("=", 1) for one in variables)
        pid = site.spawn(
            [*_around(params), *filled([*map(str, _list(params["command"]))], values)],
            netns=None,
            env=environment,
            cores=step.numbers("cores"),
            log=_log(params),
            directory=Path(str(params["directory"])),
        )
        _wait(pid, params, site.directory / _log(params))
        return {"pid": pid}

    def undo(self, params: Mapping[str, Any], facts: Facts, site: Site) -> None:
        """By its own signal, itself first: who reads its output hears its last words. What is left after its
        time, by SIGKILL."""
        deadline = time.monotonic() + params["stop_time_limit_ms"] / MS_PER_S
        number, pid = signal.Signals[params["stop_signal"]], facts.get("pid")
        if pid in process.inside(params["netns"]):
            with suppress(ProcessLookupError):
                os.kill(int(str(pid)), number)
        while pid in process.inside(params["netns"]) and time.monotonic() < deadline:
            time.sleep(_LOOK_S)
        _signal_all(params["netns"], number)
        while process.inside(params["netns"]) and time.monotonic() < deadline:
            time.sleep(_LOOK_S)
        _signal_all(params["netns"], signal.SIGKILL)
        process.end_inside(params["netns"])
        site.end()

    def require_running(self, params: Mapping[str, Any], facts: Facts, site: Site) -> None:
        """FabricError with how it ended, and its last words."""
        if not process.alive(facts["pid"]):
            raise FabricError(
                f"{_who(params)} {_ended(facts['pid'])} in the middle of the"
                f" measurement: {_words(site.directory / _log(params))}",
                f"see what it says: {site.directory / _log(params)}",
            )


def _signal_all(netns: str, number: signal.Signals) -> None:
    for pid in process.inside(netns):
        with suppress(ProcessLookupError):
            os.kill(pid, number)


def _written(params: Mapping[str, Any], site: Site) -> dict[str, str]:
    """Its files; where each is, by the name that stands for it."""
    folder = site.directory / f"{params['node']}.files"
    folder.mkdir(exist_ok=True)
    if params["user"]:
        site.directory.chmod(_PASSED_THROUGH)  # its files are below; what else is there cannot be listed
    names = [*map(str, _list(params["file_names"]))]
    values = {f"{FILE_PREFIX}{name}": str(folder / name) for name in names}
    for name, text in zip(names, filled([*map(str, _list(params["file_texts"]))], values), strict=True):
        (folder / name).write_text(text, encoding="utf-8")
        (folder / name).chmod(_READ_BY_ALL)  # whatever the umask: its user reads them
    folder.chmod(_ENTERED_BY_ALL)
    return values


def _around(params: Mapping[str, Any]) -> list[str]:
    """In the namespace, as `ip netns exec` has it; the first to go where memory is short; the beginning of
    its output in the log, and the rest nowhere; as its user, with what packets take and no more."""
    limit_bytes = int(str(params["output_mb"])) * _BYTES_PER_MB
    argv = ["ip", "netns", "exec", str(params["netns"]), "choom", "-n", "1000", "--"]
    argv += ["bash", "-c", _LIMITED.format(bytes=limit_bytes), "weir"]
    if not params["user"]:
        return [*argv, *_BY_LINES]
    try:
        user = pwd.getpwnam(str(params["user"]))
    except KeyError:
        message = f"{_who(params)} is to run as {params['user']}, and there is no such user"
        raise FabricError(message, "name another one in program.user") from None
    argv += ["setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--init-groups"]
    return [*argv, f"--inh-caps={_CAPABILITIES}", f"--ambient-caps={_CAPABILITIES}", *_BY_LINES]


def _wait(pid: int, params: Mapping[str, Any], log: Path) -> None:
    limit_s = params["ready_time_limit_ms"] / MS_PER_S
    wanted = re.compile(str(params["ready"])) if params["ready"] else None
    began = time.monotonic()
    said = _Said(log)
    while True:
        ready = time.monotonic() - began > _LIVES_S if wanted is None else said.matches(wanted)
        if process.exit_code(pid) is not None:
            raise FabricError(
                f"{_who(params)} {_ended(pid)} before it was ready: {_words(log)}",
                "mend program.command; it runs in the function's network namespace, without a shell",
            )
        if ready:
            return
        if time.monotonic() - began > limit_s:
            raise FabricError(
                f"{_who(params)} has not said {params['ready']!r} in {limit_s:g} s: {_words(log)}",
                "mend program.ready, or raise program.ready_time_limit_s",
            )
        stop_signals.check()
        time.sleep(_LOOK_S)


def _who(params: Mapping[str, Any]) -> str:
    return f"program {params['node']} ({params['function']})"


class _Said:
    """What it has said, read once as it grows."""

    def __init__(self, log: Path) -> None:
        self._log = log
        self._at = 0
        self._last = ""
        """A line that has not ended."""

    def matches(self, wanted: re.Pattern[str]) -> bool:
        """Whether one of the lines that are new does, or the one that has not ended."""
        with self._log.open("rb") as file:
            file.seek(self._at)
            new = file.read()
        self._at += len(new)
        *whole, self._last = (self._last + new.decode(errors="replace")).split("\n")
        return any(wanted.search(line) for line in (*whole, self._last))


def _ended(pid: int) -> str:
    code = process.exit_code(pid)
    if code is not None and code < 0:
        named = -code in {one.value for one in signal.Signals}
        return f"was ended by {signal.Signals(-code).name if named else f'signal {-code}'}"
    return "has ended" if code is None else f"has ended with exit code {code}"


def _words(log: Path) -> str:
    return printable(log_end(log, _LAST_LINES))


def _log(params: Mapping[str, Any]) -> str:
    return f"{params['node']}.program.log"


def _list(param: object) -> list[Any]:
    assert isinstance(param, list)
    return param
