# SPDX-License-Identifier: Apache-2.0
"""Hosts of a Ray cluster: the only module that imports Ray.

A node takes part if it was started with the resource `weir`. A courier, which is an actor, has that resource
while a campaign lasts: so one campaign at a time measures there. Of a chain that spans hosts a placement
group has it, for all of them or none. A node that dies, or is out of reach, ends its courier, and this says
so. So does the cluster's head, if it is gone, before Ray ends this process for it.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib import import_module
from typing import Any

from weir.base.extras import install
from weir.fabric import stop_signals
from weir.hosts.courier import Courier
from weir.hosts.reach import require_head
from weir.hosts.times import (
    ANSWER_S,
    CLUSTER_HEAD_S,
    CONNECT_S,
    COURIER_S,
    COURIERS_END_S,
    LOOK_AT_HEAD_S,
    QUESTION_S,
)
from weir.hosts.transport import PROGRAM, Heard, HostsError

SAID_CHARACTERS = 600
"""Of Ray's own words: the cause comes last."""
_SOON_S, _LOOK_S = 2.0, 5.0
"""Hosts that are free are reserved within the first; so often it is looked after others."""
_A_BIT = 0.001
"""Of the resource that each node has by its address: asked for to be on that node."""
_SILENT = "does not answer; is it or its link down, or does another campaign measure there?"
_OF_WORKER = {"RAY_kill_child_processes_on_worker_exit": "0"}
"""Else Ray kills the program with its courier, and what it has built is left to its lifeline."""


class RayHosts:
    """Those of one cluster."""

    def __init__(self, address: str, program: Sequence[str] = PROGRAM) -> None:
        """`address`: HOST:PORT of a cluster that this machine is a node of, "auto" for the one that it is, or
        ray://HOST:PORT of a client server. `program`: what measures there, arguments of Python. HostsError
        where Ray is not installed, or the cluster cannot be reached."""
        self._ray = _ray()
        self._program = tuple(program)
        if not address.startswith("ray://") and address != "auto":
            require_head(address)
        try:
            with stop_signals.kept():
                self._ray.init(address, log_to_driver=False, logging_level="ERROR")
        except Exception as error:  # Ray raises what its parts raise: no common base
            raise HostsError(
                f"cannot reach a Ray cluster at {address}: {_said(error)}; {_expected(address)}"
            ) from error
        self._known = dict(_named(self._ray.nodes()))
        self._group: Any = None
        self._bundles: dict[str, int] = {}
        self._couriers: dict[str, Any] = {}
        self._lines: dict[str, int] = {}
        self._polls: dict[Any, tuple[str, float]] = {}
        own = self._ray.get_runtime_context()
        self._head = None if address.startswith("ray://") else _Head(own.gcs_address)

    @property
    def names(self) -> Sequence[str]:
        """By name of the machine; by address where several have the same."""
        return list(self._known)

    def reserve(self, wanted: Sequence[str | None], say: Callable[[str], None]) -> Sequence[str]:
        """So many hosts for this campaign, each another one, all at once or none: where others have some, it
        waits, and has none meanwhile. `wanted`: a name or an address for each; None: any. `say`: told what is
        waited for. Their names, in that order. HostsError where the cluster lacks them; KeyboardInterrupt."""
        groups = import_module("ray.util.placement_group")
        known = self._enough(wanted)
        bundles: list[dict[str, float]] = []
        for one in wanted:
            on = {} if one is None else {f"node:{known[one]['NodeManagerAddress']}": _A_BIT}
            bundles.append({"weir": 1.0, **on})
        self._group = groups.placement_group(bundles, strategy="STRICT_SPREAD")
        told = False
        while not self._group.wait(_LOOK_S if told else _SOON_S):
            stop_signals.check()
            self._enough(wanted)
            if self._head is not None and self._head.gone():
                raise HostsError(f"the head of the cluster, {self._head}, is gone")
            if not told:
                say(f"waits for {len(wanted)} hosts at once: another campaign measures on some of them")
                told = True
        self._known = dict(_named(self._ray.nodes()))
        by_id = {node["NodeID"]: name for name, node in self._known.items()}
        placed = groups.placement_group_table(self._group)["bundles_to_node_id"]
        names = [by_id[placed[number]] for number in range(len(wanted))]
        self._bundles = {name: number for number, name in enumerate(names)}
        return names

    def address(self, host: str) -> str:
        """By which the others reach it."""
        return str(self._known[host]["NodeManagerAddress"])

    def _enough(self, wanted: Sequence[str | None]) -> dict[str, dict[str, Any]]:
        """Nodes that offer themselves, by name and by address. HostsError if these are too few, or not
        those."""
        there = _named(self._ray.nodes())
        known = {str(node["NodeManagerAddress"]): node for _, node in there} | dict(there)
        lacking = [one for one in wanted if one is not None and one not in known]
        listed = ", ".join(name for name, _ in there) or "none"
        if lacking or len(there) < len(wanted):
            named = f", among them {', '.join(lacking)}" if lacking else ""
            raise HostsError(
                f"the chains span {len(wanted)} hosts{named}, and these offer themselves to Weir: {listed}; "
                "start Ray on more with `ray start --address=… $(weir offer --ray)`"
            )
        return known

    def begin(self, host: str) -> None:
        """Starts its program, when Ray gives the node to this campaign."""
        strategies = import_module("ray.util.scheduling_strategies")
        where = (
            strategies.PlacementGroupSchedulingStrategy(self._group, self._bundles[host])
            if host in self._bundles
            else strategies.NodeAffinitySchedulingStrategy(self._known[host]["NodeID"], soft=False)
        )
        options = {
            "num_cpus": 0,
            "resources": {"weir": 1},
            "max_concurrency": 4,  # it is asked, told and stopped at the same time
            "scheduling_strategy": where,
            "runtime_env": {"env_vars": _OF_WORKER},
        }
        self._lines[host] = 0
        self._couriers[host] = self._ray.remote(Courier).options(**options).remote(self._program)
        self._poll(host, COURIER_S)

    def send(self, host: str, line: str) -> None:
        """With its number: of threads there a later one may be the first."""
        if host in self._couriers:
            number, self._lines[host] = self._lines[host], self._lines[host] + 1
            self._couriers[host].send.remote(line, number)

    def heard(self, wait_s: float) -> Sequence[Heard]:
        """What any of them has said; one that does not answer is lost."""
        if not self._polls:
            time.sleep(wait_s)
            return []
        waiting = list(self._polls)
        try:
            ready, _ = self._ray.wait(waiting, num_returns=1, timeout=wait_s)
            if ready:
                ready, _ = self._ray.wait(waiting, num_returns=len(waiting), timeout=0)
        except Exception as error:  # as above: such as a client server that is gone
            return self._without_cluster(_said(error))
        found = [self._answer(self._polls.pop(poll)[0], poll) for poll in ready]
        for poll, (host, until_s) in list(self._polls.items()):
            if time.monotonic() > until_s:
                del self._polls[poll]
                found.append(self._end(host, _SILENT))
        if self._head is not None and self._head.gone():
            found += self._without_cluster(f"the head of the cluster, {self._head}, is gone")
        return found

    def stop(self, host: str) -> None:
        """As Ctrl-C would."""
        if host in self._couriers:
            self._couriers[host].stop.remote()

    def close(self) -> None:
        """Ends all programs, waits for what they take down, and leaves the cluster."""
        ends = [one.close.remote() for one in self._couriers.values()]
        if ends:
            self._ray.wait(ends, num_returns=len(ends), timeout=COURIERS_END_S)
        for host in list(self._couriers):
            self._end(host, "")
        if self._group is not None:
            with suppress(Exception):  # as above; it ends with this process's connection anyway
                import_module("ray.util.placement_group").remove_placement_group(self._group)
            self._group = None
        if self._ray.is_initialized():
            with stop_signals.kept():
                self._ray.shutdown()

    def _poll(self, host: str, more_s: float = 0.0) -> None:
        poll = self._couriers[host].poll.remote(QUESTION_S)
        self._polls[poll] = host, time.monotonic() + QUESTION_S + ANSWER_S + more_s

    def _answer(self, host: str, poll: Any) -> Heard:
        try:
            lines, ended = self._ray.get(poll)
        except Exception as error:  # as above
            return self._end(host, f"is lost: {_said(error)}")
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

    def _without_cluster(self, why: str) -> list[Heard]:
        """Couriers may still hear that they are to end, but Ray cannot be asked to end them."""
        lost = [Heard(host, (), f"is lost: {why}") for host in self._couriers]
        self._polls.clear()
        with suppress(Exception):
            for courier in self._couriers.values():
                courier.close.remote()
        self._couriers.clear()
        return lost


class _Head:
    """The cluster's: whether it can be reached."""

    def __init__(self, address: str) -> None:
        """HOST:PORT."""
        self._address = address
        self._seen_s = self._looked_s = time.monotonic()

    def gone(self) -> bool:
        """For CLUSTER_HEAD_S. Looks now and then; takes no longer than a connection may."""
        if time.monotonic() - self._looked_s >= LOOK_AT_HEAD_S:
            host, _, port = self._address.rpartition(":")
            with suppress(OSError):
                socket.create_connection((host.strip("[]"), int(port)), CONNECT_S).close()
                self._seen_s = time.monotonic()
            self._looked_s = time.monotonic()
        return self._looked_s - self._seen_s >= CLUSTER_HEAD_S

    def __str__(self) -> str:
        return self._address


def _named(nodes: Sequence[dict[str, Any]]) -> list[tuple[str, dict[str, Any]]]:
    """Those alive that offer themselves, by name; by address where a name is not enough."""
    there = [node for node in nodes if node["Alive"] and node["Resources"].get("weir", 0) >= 1]
    there.sort(key=lambda node: str(node["NodeManagerAddress"]))
    names = [str(node["NodeManagerHostname"]) for node in there]
    return [
        (name if names.count(name) == 1 else str(node["NodeManagerAddress"]), node)
        for name, node in zip(names, there, strict=True)
    ]


def _said(error: Exception) -> str:
    return " ".join(str(error).split())[-SAID_CHARACTERS:] or repr(error)


def _expected(address: str) -> str:
    same = "the same versions of Ray and Python, and its token and certificates here, if it asks for them"
    if address.startswith("ray://"):
        return f"expected one with a client server there, {same}"
    return (
        f"expected one that this machine is a node of (`ray start --address {address} --num-cpus 0` makes it "
        f"one that measures nothing), {same}"
    )


def _ray() -> Any:
    try:
        return import_module("ray")
    except ModuleNotFoundError as error:
        raise HostsError(
            f"--on needs Ray, which is not installed: `make ray` in a checkout, else `{install('ray')}`, "
            "here and on all hosts; or leave --on out to measure on this machine"
        ) from error
