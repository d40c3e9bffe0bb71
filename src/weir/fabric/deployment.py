# SPDX-License-Identifier: Apache-2.0
"""Deployments: steps done in order, each journalled first; undone in reverse, from the journal alone."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from weir.base.error import FabricError
from weir.base.step import StepKind
from weir.base.topology import Topology
from weir.fabric import lifeline, openvswitch, process, stop_signals
from weir.fabric.core_claim import CoreClaim, remove_free_locks
from weir.fabric.counters import Counter, kernel_counters, openvswitch_counters
from weir.fabric.function import connections
from weir.fabric.journal import SUFFIX, Entry, Journal, root
from weir.fabric.lock import LOCK_SUFFIX, Lock
from weir.fabric.outside.reading import thread_numbers
from weir.fabric.outside.taken import TakenWatch
from weir.fabric.outside.watch import Watch, taking_part
from weir.fabric.reset import WAYS, Reset
from weir.fabric.step_handlers import (
    Counting,
    Facts,
    Logging,
    Output,
    Running,
    Settling,
    Site,
    Speaking,
    Switching,
    step_handler,
)
from weir.plan import Step, Tuning

if TYPE_CHECKING:
    from weir.base.cloud import CloudTopology

# A killed weir's child holds the lock from fork to exec, when its marker begins to show: worth waiting for.
EXEC_S = 2.0
_ENDING_S, _LOOK_S = 1.0, 0.01
OUTPUT_BYTES_MAX = 1 << 20
"""Of what a program has said; of more than that the end."""


@dataclass(frozen=True)
class Event:
    """Progress. `doing`: journalled, not begun. `done`: made. `recorded`: made, and journalled as made.

    `undoing`, `undone`, `forgotten` likewise on the way back.
    """

    step: Step
    state: Literal["doing", "done", "recorded", "undoing", "undone", "forgotten"]


OnEvent = Callable[[Event], None]


def _ignore(event: Event) -> None:
    """The default for on_event."""


class Deployment:
    """One deployment that stands, or what is left of one: a chain, a cloud of tenants, or a host that is
    tuned for a lab."""

    def __init__(self, journal: Journal, claim: CoreClaim | None = None) -> None:
        self._journal = journal
        self._claim = claim or CoreClaim()
        self.id = journal.path.name.removesuffix(SUFFIX)
        self.run_dir: Path = journal.path.with_suffix("")
        self.outputs: dict[str, Output] = {}
        """What programs of the user's said, by function, once it is down."""

    def about(self, kind: str) -> dict[str, Any] | None:
        """What stands, of that kind of header of its journal; None if it is of another kind. FabricError if
        another version of Weir made it."""
        found: dict[str, Any] | None = self._journal.header().get(kind)
        return found

    @cached_property
    def topology(self) -> Topology | None:
        """Of a chain; None of anything else. FabricError likewise."""
        begun = self.about("begin")
        return None if begun is None else Topology.model_validate(begun)

    @cached_property
    def tuning(self) -> Tuning | None:
        """Of a tuned host. FabricError likewise."""
        tuned = self.about("tune")
        return None if tuned is None else Tuning.model_validate(tuned)

    def unreadable(self) -> str | None:
        """Why nothing can be said of it; None if it can."""
        try:
            self._journal.header()
        except FabricError as error:
            return str(error)
        return None

    @classmethod
    def deploy(
        cls,
        steps: list[Step],
        about: Topology | Tuning | CloudTopology,
        on_event: OnEvent = _ignore,
        *,
        shares_cores: bool = False,
    ) -> Deployment:
        """Does all steps. On an error or Ctrl-C, which acts between two steps, everything is undone first.

        If this process dies before `keep`, it is taken down (`weir.fabric.lifeline`). FabricError, with
        nothing done, if another deployment polls on one of its cores; `shares_cores`: it may.
        """
        lifeline.hold()
        with stop_signals.held():
            claim = CoreClaim()
            if not isinstance(about, Tuning) and not shares_cores:
                claim = CoreClaim.of(taking_part(about))
            try:
                deployment = cls(Journal.begin(about), claim)
            except FabricError:
                claim.release()
                raise
            site = deployment._site()
            try:
                for step in steps:
                    stop_signals.check()
                    deployment._do(step, site, on_event)
                stop_signals.check()
            except BaseException as error:
                site.close()
                try:
                    deployment.keep_logs(error)
                finally:
                    deployment.destroy(on_event)
                raise
            site.close()
        return deployment

    def keep_logs(self, error: BaseException) -> None:
        """Before it is taken down because of that error, which then says where its logs are."""
        for entry in self._journal.standing():
            handler = step_handler(entry.step.kind)
            if isinstance(handler, Logging):
                handler.keep_logs(self._site(), error)

    def keep(self) -> None:
        """From now on it outlives this process, until it is destroyed."""
        self._journal.write({"keep": True})
        self._claim.release()

    def _site(self) -> Site:
        return Site(self.id, self.run_dir, self._journal)

    def _do(self, step: Step, site: Site, on_event: OnEvent) -> None:
        self._journal.write({"do": step.model_dump()})
        on_event(Event(step, "doing"))
        site.at(step)
        try:
            facts = step_handler(step.kind).do(step, site)
        except OSError as error:
            raise FabricError(f"cannot {step.text}: {error}") from error
        on_event(Event(step, "done"))
        self._journal.write({"facts": facts, "step": step.name})
        on_event(Event(step, "recorded"))

    def destroy(self, on_event: OnEvent = _ignore) -> None:
        """Takes down what the journal says was made, last first, and then the journal.

        Goes on past a step that cannot be undone; then raises FabricError and keeps the journal.
        FabricError if another process works on the deployment. Ctrl-C waits for its end.
        """
        with stop_signals.held():
            self._destroy(on_event)

    def _destroy(self, on_event: OnEvent) -> None:
        self._journal.header()
        if not self._journal.lock(wait_s=EXEC_S):
            raise FabricError(
                f"{self.id} belongs to a weir that is running", "wait for its end, or interrupt it"
            )
        self._journal.write({"ending": True})
        failures = []
        if "_counting" in self.__dict__:
            self._counting.close()
        site = self._site()
        for entry in reversed(self._journal.standing()):
            try:
                self._undo(entry, site, on_event)
            except (OSError, FabricError) as error:
                failures.append(f"{entry.step.name}: {error}")
        site.close()
        if failures:
            self._journal.unlock()  # the next destroy may be this process's, too
            raise FabricError(
                f"{self.id} is not all gone: {'; '.join(failures)}", "mend that and destroy again"
            )
        self._journal.remove()
        self._claim.release()
        remove_free_locks()

    def _undo(self, entry: Entry, site: Site, on_event: OnEvent) -> None:
        on_event(Event(entry.step, "undoing"))
        site.at(entry.step)
        handler = step_handler(entry.step.kind)
        handler.undo(entry.step.params, entry.facts, site)
        if isinstance(handler, Speaking):
            self._keep_output(str(entry.step.params["node"]), handler.output(entry.step.params, site))
        on_event(Event(entry.step, "undone"))
        self._journal.write({"undone": entry.step.name})
        on_event(Event(entry.step, "forgotten"))

    def _keep_output(self, node: str, log: Path) -> None:
        """Before the run directory goes."""
        with suppress(OSError), log.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - OUTPUT_BYTES_MAX))
            self.outputs[node] = Output(size, file.read(OUTPUT_BYTES_MAX))

    @property
    def devices(self) -> dict[str, str]:
        """PCI address by port name, of virtual functions."""
        found = {}
        for entry in self._journal.standing():
            if "address" in entry.facts:
                found[str(entry.step.params["port"])] = str(entry.facts["address"])
        return found

    def refused(self) -> list[str]:
        """Settings of the host that the kernel did not let go, a sentence for each step."""
        found = []
        for entry in self._journal.standing():
            paths = entry.facts.get("refused", [])
            if paths:
                more = f" and {len(paths) - 1} more" if len(paths) > 1 else ""
                found.append(f"{entry.step.text}: the kernel keeps /{paths[0]}{more} as it is")
        return found

    def settle(self) -> None:
        """Waits for what comes up only when weir-dp has opened its ports. FabricError if it does not."""
        for entry in self._journal.standing():
            handler = step_handler(entry.step.kind)
            if isinstance(handler, Settling):
                handler.settle(entry.step.params, entry.facts, self._counting)

    def counters(self, delivered: Mapping[str, int], sent: Mapping[str, int] | None = None) -> list[Counter]:
        """What switch and kernel counted. `delivered`: packets that weir-dp took from each of its ports;
        `sent`: those that it gave to each.

        Ctrl-C waits for its end: pyroute2 has handlers for errors of every kind, which would swallow it.
        """
        assert self.topology is not None
        self.require_alive()
        site = self._counting
        with stop_signals.held():
            counters = kernel_counters(self.topology, site, delivered)
            for way, ports in (("rx", delivered), ("tx", sent or {})):
                counters += [
                    Counter(f"weir-dp:{port} {way}_packets", None, "packets", packets)
                    for port, packets in ports.items()
                ]
            if self._openvswitch() and len(self.topology.nodes) > 1:
                counters += openvswitch_counters(self.topology, site)
            try:
                inside = [handler.counters(self.topology, site, counters) for handler in self._counters]
            except FabricError:
                self._require_lasting()
                raise
            return [*counters, *(counter for one in inside for counter in one)]

    def forget_connections(self) -> None:
        """Those that Linux follows in its functions end. What programs and guests remember stays."""
        assert self.topology is not None
        with stop_signals.held():  # pyroute2 would swallow Ctrl-C
            connections.forget(self.topology)

    def watch(self, *, sample_stacks: bool = False) -> Watch:
        """For areas outside weir-dp. FabricError if stacks are to be sampled and cannot be."""
        assert self.topology is not None
        return Watch(self.topology, self._counting, self._working, self.require_alive, sample=sample_stacks)

    def core_watch(self) -> TakenWatch:
        """For times in which others have the cores of what stands here; close it."""
        assert self.topology is not None
        loops = [int(entry.facts["pid"]) for entry in self._processes if entry.step.kind == "weir-dp"]
        return TakenWatch(
            taking_part(self.topology),
            lambda: threads_of(pid for pids in self._working().values() for pid in pids),
            partial(threads_of, loops),
            ended_take_part=any(node.in_namespace for node in self.topology.nodes),
        )

    def _working(self) -> dict[str, list[int]]:
        """Processes that do its work now, by step: those it started, and whatever runs in the namespace of a
        function, which is the function's: a program's children among them."""
        assert self.topology is not None
        found = {entry.step.name: [int(entry.facts["pid"])] for entry in self._processes}
        for node in self.topology.nodes:
            if not node.in_namespace:
                continue
            own = found.setdefault(f"{node.kind}:{node.name}", [])
            own += [pid for pid in process.inside(self.topology.namespace_of(node)) if pid not in own]
        return found

    def resets(self) -> list[Reset]:
        """What can be reset while traffic runs, all of one kind at once; empty where nothing can be."""
        assert self.topology is not None
        kinds = [entry.step.kind for entry in self._journal.standing()]
        ports = {port.kind for port in self.topology.ports}
        return [
            Reset(way.said(kinds.count(kind)), way.clause, partial(self._reset, kind))
            for kind, way in WAYS.items()
            if kind in kinds and way.not_with not in ports
        ]

    def _reset(self, kind: StepKind) -> None:
        """Ctrl-C waits for its end. FabricError if something does not come up again."""
        with stop_signals.held():
            self._counting.close()
            site = self._site()
            try:
                entries = [entry for entry in self._journal.standing() if entry.step.kind == kind]
                for entry in entries:
                    WAYS[kind].first(entry, site)
                for entry in entries:
                    site.at(entry.step)
                    self._journal.write({"facts": WAYS[kind].do(entry, site), "step": entry.step.name})
            except OSError as error:
                raise FabricError(f"cannot reset {kind}: {error}") from error
            finally:
                site.close()
                self.__dict__.pop("_processes", None)

    def require_alive(self) -> None:
        """FabricError with what happened to a process that it started, if that has ended."""
        for entry in self._processes:
            handler = step_handler(entry.step.kind)
            if isinstance(handler, Running):
                handler.require_running(entry.step.params, entry.facts, self._counting)
            elif not process.alive(entry.facts["pid"]):
                raise FabricError(
                    f"{entry.step.name} has ended in the middle of the measurement",
                    f"its logs: {self.run_dir}",
                )

    def _require_lasting(self) -> None:
        """The same of one that does not answer: that it is about to end tells more than that."""
        deadline = time.monotonic() + _ENDING_S
        while time.monotonic() < deadline:
            self.require_alive()
            time.sleep(_LOOK_S)

    @cached_property
    def _processes(self) -> list[Entry]:
        return [entry for entry in self._journal.standing() if "pid" in entry.facts]

    @cached_property
    def _counters(self) -> list[Counting]:
        kinds = dict.fromkeys(entry.step.kind for entry in self._journal.standing())
        return [handler for handler in map(step_handler, kinds) if isinstance(handler, Counting)]

    @cached_property
    def _counting(self) -> Site:
        return self._site()

    def processes(self) -> dict[str, int]:
        """Pids by the name of the step that started them."""
        return {entry.step.name: int(entry.facts["pid"]) for entry in self._processes}

    def datapath(self) -> str:
        """What forwards between the ports, with its version; "none" where they are wired."""
        return next((handler.datapath(facts) for handler, facts in self._switching()), "none")

    def kernel_forwards(self) -> bool:
        """Whether the kernel does it, between the chain's ports."""
        return any(handler.in_kernel(facts) for handler, facts in self._switching())

    def _switching(self) -> Iterator[tuple[Switching, Facts]]:
        for entry in self._journal.standing():
            handler = step_handler(entry.step.kind)
            if isinstance(handler, Switching):
                yield handler, entry.facts

    def _openvswitch(self) -> bool:
        return any(entry.step.kind == "ovs-vswitchd" for entry in self._processes)

    def versions(self) -> dict[str, str]:
        """Of the switch, where it is a program, and of guest images."""
        found = {}
        if self._openvswitch():
            found["openvswitch"] = openvswitch.version()
        return found | {
            f"image of {entry.step.params['node']}": str(entry.facts["image"]) for entry in self._machines()
        }

    def emulated(self) -> list[str]:
        """Functions in virtual machines whose processor is emulated."""
        return [str(one.step.params["node"]) for one in self._machines() if one.facts["accel"] == "tcg"]

    def unlimited(self) -> dict[str, list[str]]:
        """What programs of the user's have no limit of here, by function."""
        entries = self._journal.standing()
        found = {str(one.step.params["node"]): ["limit"] for one in entries if one.step.kind == "program"}
        for one in entries:
            if one.step.kind == "control-group":
                found[str(one.step.params["node"])] = list(one.facts.get("without", []))
        return {node: without for node, without in found.items() if without}

    def steered(self) -> list[str]:
        """Functions in network namespaces that have receive packet steering at all their interfaces."""
        done: dict[str, list[bool]] = {}
        for entry in self._journal.standing():
            if entry.step.kind == "function-port":
                done.setdefault(str(entry.step.params["node"]), []).append(bool(entry.facts.get("rps")))
        return [node for node, each in done.items() if all(each)]

    def _machines(self) -> list[Entry]:
        standing = self._journal.standing()
        return [one for one in standing if one.step.kind == "vm" and not one.step.params.get("incoming")]

    def state(self) -> Literal["kept", "in use", "abandoned", "unreadable"]:
        """What becomes of it if nobody does anything. Any user may ask."""
        if self.unreadable() is not None:
            return "unreadable"
        if self._journal.kept():
            return "kept"
        try:
            abandoned = self.abandoned()
        except FabricError:  # another user's
            return "in use" if self._journal.is_locked() else "abandoned"
        if not abandoned:
            return "in use"
        self._journal.unlock()
        return "abandoned"

    def steps(self) -> list[Step]:
        """That stand: done, and not undone."""
        return [entry.step for entry in self._journal.standing()]

    def abandoned(self) -> bool:
        """Nobody works on it, and it is not kept: its maker was killed, or who was taking it down.

        It is locked then.
        """
        if not self._journal.lock():
            return False
        if self._journal.kept() or self.unreadable() is not None:
            self._journal.unlock()
            return False
        return True


def threads_of(pids: Iterable[int]) -> set[int]:
    """Numbers of the threads that these processes have now."""
    return {tid for pid in pids for tid in thread_numbers(pid)}


def deployments() -> list[Deployment]:
    """All that have a journal, whole or not."""
    found = []
    for path in sorted(root().glob(f"*{SUFFIX}")):
        try:
            found.append(Deployment(Journal(path)))
        except FabricError:
            if path.exists():  # else another weir has just taken it down
                raise
    return found


def clean_leftovers() -> list[str]:
    """Takes down what runs that were killed have left. Returns their ids."""
    gone = []
    for deployment in deployments():
        if deployment.abandoned():
            deployment.destroy()
            gone.append(deployment.id)
    _remove_locks()
    return gone


def _remove_locks() -> None:
    """Of Weirs that were killed before their journal was there."""
    for path in root().glob(f"*{LOCK_SUFFIX}"):
        lock = Lock(path)
        if not path.with_suffix(SUFFIX).exists() and lock.take():
            lock.release()
