# SPDX-License-Identifier: Apache-2.0
"""Step kind program: a user's program that is a network function, in a network namespace of its own, and in a
control group of its own; in a container too, whose runtime is then what is started."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from weir.base.error import FabricError
from weir.base.si import MS_PER_S
from weir.base.topology import Topology
from weir.catalogue.programs import Launch
from weir.fabric import ending, markers, process, stop_signals
from weir.fabric.counters import Counter
from weir.fabric.function import container, dpdk, program_files
from weir.fabric.function.control_group import exceeded, group_of
from weir.fabric.function.counters import socket_counters
from weir.fabric.function.readiness import Readiness
from weir.fabric.program_log import BEGINNING, log_end, printable
from weir.fabric.site import Facts, Site
from weir.lab.kernel import SIDES, filled
from weir.plan import Step

_LOOK_S = 0.01
_LAST_LINES, _LAST_WORDS_S = 6, 1.0
_BYTES_PER_MB = 1 << 20
_SHELLS_KILLED = 128 + signal.SIGKILL
"""Exit code of shells and runtimes whose child was."""
# Its lines when it says them, not when a buffer is full: readiness is told from them, and last words are.
_BY_LINES = ("stdbuf", "--output=L", "--error=L")
_MAY_LITTLE = (
    ", as a user of its own with CAP_NET_RAW and CAP_NET_ADMIN, which may read what everybody may; what needs"
    " more has program.user: root"
)
_BACKGROUND = "; keep it in the foreground by its options, if it goes on in the background by itself"
# The program takes the shell's place, so that signals and exit code are its own. Nothing comes in, and no end
# of it: many programs end then.
_LIMITED = f'exec "$@" < <(exec sleep infinity) {BEGINNING}'


class ProgramRun:
    """It, with all that it starts: whatever is in its control group, or its namespace, is ended with it."""

    def do(self, step: Step, site: Site) -> Facts:
        """FabricError if it ends before it is ready, or is not ready in time: with its last words."""
        params = dict(step.params)
        made = dpdk.started_as(params, step.numbers("cores")) if params["counterpart"] else None
        if made is not None:
            params["command"] = [*_list(params["command"]), *made.words]
        values = program_files.written(params, site, made.files if made is not None else {})
        variables = filled([*map(str, _list(params["environment"]))], values)
        environment = {
            "PYTHONUNBUFFERED": "1",
            "RUNTIME_DIRECTORY": str(dpdk.runtime(site, str(params["node"]))),
        }
        environment |= dict(one.split("=", 1) for one in variables)
        words = _command(params, step.numbers("cores"), values, made)
        if params["bundle"]:
            words, environment = container.command(params, site, words, environment), {}
        pid = site.spawn(
            [*_around(params, site), *words],
            netns=None,
            env=environment,
            cores=step.numbers("cores"),
            log=_log(params),
            directory=Path(str(params["directory"])),
            groups=group_of(site, str(params["node"])).entrances(),
        )
        listens = str(params["ready_socket"]) or (made.socket if made is not None else "")
        facts: Facts = {"pid": pid, "socket": filled([listens], values)[0]}
        facts["ready"] = str(params["ready"]) or (made.ready if made is not None else "")
        facts["makes"] = [values[f"{side}.socket"] for side in SIDES if values[f"{side}.socket"]]
        if not params["waits_for_peer"]:
            _wait(facts, params, site)
        return facts

    def settle(self, params: Mapping[str, Any], facts: Facts, site: Site) -> None:
        """Likewise, of one that comes up when weir-dp has connected to it."""
        if params["waits_for_peer"]:
            _wait(facts, params, site)

    def counters(self, topology: Topology, site: Site, outside: Sequence[Counter]) -> list[Counter]:
        """What was lost in programs with ports at sockets; of others their interfaces tell."""
        nodes = [node for node in topology.namespaced() if topology.by_socket(node)]
        return [one for node in nodes for one in socket_counters(topology, site, node, outside)]

    def undo(self, params: Mapping[str, Any], facts: Facts, site: Site) -> None:
        """By its own signal, itself first, then what it started. Who reads its output is not asked to end:
        that hears the last words of all, and ends with them. What is left after its time, by SIGKILL."""
        deadline = time.monotonic() + params["stop_time_limit_ms"] / MS_PER_S
        number, pid = signal.Signals[params["stop_signal"]], facts.get("pid")
        group = group_of(site, params["node"])

        def there() -> set[int]:
            return {*markers.inside(params["netns"]), *group.members()}

        _signal([one for one in there() if one == pid], number)
        while pid in there() and time.monotonic() < deadline:
            time.sleep(_LOOK_S)
        _signal(there() - _readers(there(), self.output(params, site)), number)
        while there() and time.monotonic() < deadline:
            time.sleep(_LOOK_S)
        group.end()
        _signal(there(), signal.SIGKILL)
        ending.end_inside(params["netns"])
        if params.get("bundle"):
            container.remove(params, facts, site)
        site.end()

    def output(self, params: Mapping[str, Any], site: Site) -> Path:
        """All that it said, its last words with it."""
        return site.directory / _log(params)

    def require_running(self, params: Mapping[str, Any], facts: Facts, site: Site) -> None:
        """FabricError with how it ended, or which limit it ran into, and its last words."""
        alive = process.alive(facts["pid"])
        _require_within_limits(params, facts, site)
        if not alive:
            _wait_for_last_words(params)
            raise FabricError(
                f"{_who(params)} {_ended(facts['pid'])} before it was"
                f" taken down: {_words(site.directory / _log(params))}",
                f"see what it says: {site.directory / _log(params)}",
            )


def _require_within_limits(params: Mapping[str, Any], facts: Mapping[str, Any], site: Site) -> None:
    killed = process.exit_code(facts["pid"]) in (-signal.SIGKILL, _SHELLS_KILLED)
    over = exceeded(site, params, killed=killed)
    if over is not None:
        raise FabricError(f"{_who(params)} {over[0]}: {_words(site.directory / _log(params))}", over[1])


def _readers(pids: Collection[int], log: Path) -> set[int]:
    """Those who write what they read into its log: they end when nobody is left who could say anything."""
    found = set()
    for pid in pids:
        with suppress(OSError):  # it has ended, or has no output
            if Path(f"/proc/{pid}/fd/1").samefile(log):
                found.add(pid)
    return found


def _signal(pids: Collection[int], number: signal.Signals) -> None:
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, number)


_MOUNTED = 'mount -t tmpfs -o mode=1777,nosuid,nodev shm /dev/shm && exec "$@"'
_OWN_SHARED_MEMORY = ("sh", "-c", _MOUNTED, "weir")
"""Where `ip netns exec` has made mounts its own."""


def _around(params: Mapping[str, Any], site: Site) -> list[str]:
    """In the namespace, as `ip netns exec` has it, with a /dev/shm that goes with it, or a container's
    runtime with the host's control groups, which that hides; the first to go where memory is short;
    the beginning of its output in the log, and the rest nowhere; as its user, with what packets take and no
    more."""
    limit_bytes = int(str(params["output_mb"])) * _BYTES_PER_MB
    argv = ["ip", "netns", "exec", str(params["netns"]), *_OWN_SHARED_MEMORY]
    if params["bundle"]:
        argv = ["nsenter", f"--net=/run/netns/{params['netns']}"]
    argv += ["choom", "-n", "1000", "--"]
    argv += ["bash", "-c", _LIMITED.format(bytes=limit_bytes), "weir"]
    user = program_files.user_of(params, site)
    return [*argv, *(user.words if user is not None else ()), *_BY_LINES]


def _command(
    params: Mapping[str, Any], cores: list[int], values: Mapping[str, str], made: Launch | None
) -> list[str]:
    main_forwards = made is not None and made.main_forwards
    words = dpdk.environment_words(params, cores, values, main_forwards=main_forwards)
    return dpdk.expanded(filled([*map(str, _list(params["command"]))], values), words)


def _wait(facts: Mapping[str, Any], params: Mapping[str, Any], site: Site) -> None:
    limit_s, log = params["ready_time_limit_ms"] / MS_PER_S, site.directory / _log(params)
    began, readiness = time.monotonic(), Readiness(params, facts, log)
    while True:
        lacks = readiness.lacks()
        code = process.exit_code(facts["pid"])
        _require_within_limits(params, facts, site)
        if code is not None:
            _wait_for_last_words(params)
            raise FabricError(
                f"{_who(params)} {_ended(facts['pid'])} before it was ready: {_words(log)}",
                "mend program.command; it runs in the function's network namespace, without a shell"
                + ("" if params["user"] or params["bundle"] else _MAY_LITTLE)
                + ("" if code else _BACKGROUND),
            )
        if lacks is None:
            return
        if time.monotonic() - began > limit_s:
            raise FabricError(
                f"{_who(params)} {lacks[0]} in {limit_s:g} s: {_words(log)}",
                f"mend {lacks[1]}, or raise program.ready_time_limit_s",
            )
        stop_signals.check()
        time.sleep(_LOOK_S)


def _wait_for_last_words(params: Mapping[str, Any]) -> None:
    """Who reads its output, in its namespace, ends when it has written all of it. What it has started may
    keep that open, and is not waited for."""
    deadline = time.monotonic() + _LAST_WORDS_S
    while markers.inside(str(params["netns"])) and time.monotonic() < deadline:
        time.sleep(_LOOK_S)


def _who(params: Mapping[str, Any]) -> str:
    return f"program {params['node']} ({params['function']})"


def _ended(pid: int) -> str:
    code = process.exit_code(pid)
    if code is not None and code < 0:
        return f"was ended by {process.signal_name(-code)}"
    return "has ended" if code is None else f"has ended with exit code {code}"


def _words(log: Path) -> str:
    return printable(log_end(log, _LAST_LINES))


def _log(params: Mapping[str, Any]) -> str:
    return f"{params['node']}.program.log"


def _list(param: object) -> list[Any]:
    assert isinstance(param, list)
    return param
