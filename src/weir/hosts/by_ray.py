# SPDX-License-Identifier: Apache-2.0
"""Hosts of a Ray cluster, reached by its client server: the only module that imports Ray.

A node takes part if it was started with the resource `weir`. A courier, which is an actor, has that resource
while a campaign lasts: so one campaign at a time measures there. A node that dies, or is out of reach, ends
its courier, and this says so.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from weir.hosts.courier import SILENT_S, Courier
from weir.hosts.transport import PROGRAM, Heard, HostsError

SCHEME = "ray://"
SAID_CHARACTERS = 600
"""Of Ray's own words: the cause comes last."""
_SERVER_DIED = "Starting Ray client server failed"
_TRIES = 3
_POLL_S = 1.0
_START_S = 60.0
_ENDING_S = 90.0


class RayHosts:
    """Those of one cluster."""

    def __init__(self, address: str, program: Sequence[str] = PROGRAM) -> None:
        """`address`: ray://HOST:PORT of the client server. `program`: what measures there. HostsError where
        Ray is not installed, or the cluster cannot be reached."""
        self._ray = _ray()
        self._program = tuple(program)
        try:
            self._connect(address)
        except Exception as error:  # Ray raises what its parts raise: no common base
            said = " ".join(str(error).split())[-SAID_CHARACTERS:] or repr(error)
            raise HostsError(
                f"cannot reach a Ray cluster at {address}: {said}; expected one with a client server there, "
                "the same versions of Ray and Python, and its token (RAY_AUTH_MODE=token) here"
            ) from error
        self._nodes = {name: node["NodeID"] for name, node in _named(self._ray.nodes())}
        self._couriers: dict[str, Any] = {}
        self._polls: dict[Any, tuple[str, float]] = {}
        self._lost: list[Heard] = []

    def _connect(self, address: str) -> None:
        """Ray's head forks a server for each client, beside threads of gRPC: now and then that one dies at
        once. The next one is another."""
        for again in range(_TRIES - 1, -1, -1):
            try:
                self._ray.init(address, log_to_driver=False, logging_level="ERROR")
                return
            except Exception as error:  # as above
                if again == 0 or _SERVER_DIED not in str(error):
                    raise
                self._ray.shutdown()

    @property
    def names(self) -> Sequence[str]:
        """By name of the machine; by address where several have the same."""
        return list(self._nodes)

    def begin(self, host: str) -> None:
        """Starts its program, when Ray gives the node to this campaign."""
        affinity = import_module("ray.util.scheduling_strategies").NodeAffinitySchedulingStrategy
        options = {
            "num_cpus": 0,
            "resources": {"weir": 1},
            "max_concurrency": 4,  # it is asked, told and stopped at the same time
            "scheduling_strategy": affinity(self._nodes[host], soft=False),
        }
        self._couriers[host] = self._ray.remote(Courier).options(**options).remote(self._program)
        self._poll(host, _START_S)

    def send(self, host: str, line: str) -> None:
        """Lines are few, and each comes after the answer to the one before: threads there keep the order."""
        if host in self._couriers:
            self._couriers[host].send.remote(line)

    def heard(self, wait_s: float) -> Sequence[Heard]:
        """What any of them has said; one that does not answer is lost."""
        found, self._lost = self._lost, []
        if not self._polls:
            if not found:
                time.sleep(wait_s)
            return found
        waiting = list(self._polls)
        ready, _ = self._ray.wait(waiting, num_returns=1, timeout=0 if found else wait_s)
        if ready:
            ready, _ = self._ray.wait(waiting, num_returns=len(waiting), timeout=0)
        for poll in ready:
            host, _until_s = self._polls.pop(poll)
            found.append(self._answer(host, poll))
        for poll, (host, until_s) in list(self._polls.items()):
            if time.monotonic() > until_s:
                del self._polls[poll]
                found.append(self._end(host, "does not answer; is another campaign measuring there?"))
        return found

    def stop(self, host: str) -> None:
        """As Ctrl-C would."""
        if host in self._couriers:
            self._couriers[host].stop.remote()

    def close(self) -> None:
        """Ends all programs, waits for what they take down, and leaves the cluster."""
        ends = [one.close.remote() for one in self._couriers.values()]
        if ends:
            self._ray.wait(ends, num_returns=len(ends), timeout=_ENDING_S)
        for host in list(self._couriers):
            self._end(host, "")
        if self._ray.is_initialized():
            self._ray.shutdown()

    def _poll(self, host: str, more_s: float = 0.0) -> None:
        poll = self._couriers[host].poll.remote(_POLL_S)
        self._polls[poll] = host, time.monotonic() + _POLL_S + SILENT_S / 2 + more_s

    def _answer(self, host: str, poll: Any) -> Heard:
        try:
            lines, ended = self._ray.get(poll)
        except Exception as error:  # as above
            return self._end(host, f"is lost: {type(error).__name__}")
        if ended is not None:
            self._end(host, ended)
            return Heard(host, lines, ended)
        self._poll(host)
        return Heard(host, lines)

    def _end(self, host: str, why: str) -> Heard:
        courier = self._couriers.pop(host, None)
        if courier is not None:
            self._ray.kill(courier)
        return Heard(host, (), why)


def _named(nodes: Sequence[dict[str, Any]]) -> list[tuple[str, dict[str, Any]]]:
    """Those alive that offer themselves, by name; by address where a name is not enough."""
    there = [node for node in nodes if node["Alive"] and node["Resources"].get("weir", 0) >= 1]
    there.sort(key=lambda node: str(node["NodeManagerAddress"]))
    names = [str(node["NodeManagerHostname"]) for node in there]
    return [
        (name if names.count(name) == 1 else str(node["NodeManagerAddress"]), node)
        for name, node in zip(names, there, strict=True)
    ]


def _ray() -> Any:
    try:
        return import_module("ray")
    except ModuleNotFoundError as error:
        raise HostsError(
            "--on needs Ray, which is not installed; install it with `pip install 'weir[ray]'`, here and on "
            "all hosts, or leave --on away to measure on this machine"
        ) from error
