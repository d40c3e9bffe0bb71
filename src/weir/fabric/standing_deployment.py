# SPDX-License-Identifier: Apache-2.0
"""What stands of a deployment, by its journal; what that counts and does now. Looks, and changes nothing."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from weir.base.error import FabricError
from weir.base.step import Step
from weir.base.words import counted
from weir.fabric import markers, openvswitch, process, stop_signals
from weir.fabric.counters import Counter, kernel_counters, openvswitch_counters
from weir.fabric.interface_watch import InterfaceWatch
from weir.fabric.journal import SUFFIX, Entry, Journal
from weir.fabric.outside.reading import threads_of
from weir.fabric.outside.taken import TakenWatch
from weir.fabric.outside.watch import Watch, taking_part
from weir.fabric.site import Facts, Site
from weir.fabric.step_handlers import Counting, Running, Settling, Switching, step_handler

if TYPE_CHECKING:
    from weir.base.cloud import CloudTopology
    from weir.base.topology import Topology
    from weir.plan import Tuning

_ENDING_S, _LOOK_S = 1.0, 0.01


class StandingDeployment:
    """One deployment that stands, or what is left of one: a chain, a cloud of tenants, or a host that is
    tuned for a lab."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self.id = journal.path.name.removesuffix(SUFFIX)
        self.run_dir: Path = journal.path.with_suffix("")

    @cached_property
    def topology(self) -> Topology | None:
        """Of a chain; None of anything else. FabricError if another version of Weir describes it."""
        return self._journal.topology()

    @cached_property
    def tuning(self) -> Tuning | None:
        """Of a tuned host. FabricError likewise."""
        return self._journal.tuning()

    @cached_property
    def cloud(self) -> CloudTopology | None:
        """Of a cloud of tenants. FabricError likewise."""
        return self._journal.cloud()

    def foreign(self) -> str | None:
        """Why this Weir cannot take it down; None if it can."""
        try:
            self._journal.header()
            self._journal.standing()
        except FabricError as error:
            return str(error)
        return None

    def unreadable(self) -> str | None:
        """Why nothing can be said of it; None if it can. It may be taken down all the same."""
        try:
            _ = self.topology, self.tuning, self.cloud, self.steps()
        except FabricError as error:
            return str(error)
        return None

    def steps(self) -> list[Step]:
        """That stand: done, and not undone."""
        return [entry.step for entry in self._journal.standing()]

    def processes(self) -> dict[str, int]:
        """Pids by the name of the step that started them."""
        return {entry.step.name: int(entry.facts["pid"]) for entry in self._processes}

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
            if lacking := entry.facts.get("lacking"):
                found.append(f"{entry.step.text}: the kernel gave {counted(lacking, 'page')} too few")
        return found

    def settle(self) -> None:
        """Waits for what comes up only when weir-dp has opened its ports. FabricError if it does not."""
        for entry in self._journal.standing():
            handler = step_handler(entry.step.kind)
            if isinstance(handler, Settling):
                handler.settle(entry.step.params, entry.facts, self._counting)

    def counters(
        self, delivered: Mapping[str, int], sent: Mapping[str, int] | None = None, *, under_load: bool = False
    ) -> list[Counter]:
        """What switch and kernel counted. `delivered`: packets that weir-dp took from each of its ports;
        `sent`: those that it gave to each; `under_load`: more are on their way.

        Ctrl-C waits for its end: pyroute2 has handlers for errors of every kind, which would swallow it.
        """
        assert self.topology is not None
        self.require_alive()
        site = self._counting
        site.under_load = under_load
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
            ended_take_part=bool(self.topology.namespaced()),
        )

    def interface_watch(self) -> InterfaceWatch:
        """For times in which somebody changes the chain's interfaces."""
        assert self.topology is not None
        return InterfaceWatch(self.topology)

    def _working(self) -> dict[str, list[int]]:
        """Processes that do its work now, by step: those it started, and whatever runs in the namespace of a
        function, which is the function's: a program's children among them."""
        assert self.topology is not None
        found = {entry.step.name: [int(entry.facts["pid"])] for entry in self._processes}
        for node in self.topology.namespaced():
            own = found.setdefault(f"{node.kind}:{node.name}", [])
            own += [pid for pid in markers.inside(self.topology.namespace_of(node)) if pid not in own]
        return found

    def require_alive(self) -> None:
        """FabricError with what happened to a process that it started, if that has ended."""
        for entry in self._processes:
            handler = step_handler(entry.step.kind)
            if isinstance(handler, Running):
                handler.require_running(entry.step.params, entry.facts, self._counting)
            elif not process.alive(entry.facts["pid"]):
                raise FabricError(
                    f"{entry.step.name} has ended before it was taken down",
                    f"its logs: {self.run_dir}",
                )

    def ended(self) -> str | None:
        """Which of its processes has ended, and how, as far as this user can see. None: none has."""
        try:
            self.require_alive()
        except FabricError as error:
            return error.message
        except PermissionError:
            return None
        return None

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

    def _site(self) -> Site:
        return Site(self.id, self.run_dir, self._journal)

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
        found = {"openvswitch": openvswitch.version()} if self._openvswitch() else {}
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
