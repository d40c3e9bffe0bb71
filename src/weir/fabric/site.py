# SPDX-License-Identifier: Apache-2.0
"""What a step works on: its deployment's directory, journal and processes, and what other deployments have
noted."""

from __future__ import annotations

import signal
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar, cast

from pyroute2 import IPRoute

from weir.base.error import FabricError
from weir.base.started import Started
from weir.fabric import ending, namespace, netlink, process, run_directories
from weir.fabric.journal import Journal, journals, root
from weir.fabric.lock import Lock
from weir.fabric.packet_sockets import PacketSockets
from weir.fabric.run_directories import HOST_LOCK
from weir.plan import Step

Facts = dict[str, Any]
LOGS = "logs"
ALONE_S = 30.0


class Closing(Protocol):
    """Something open."""

    def close(self) -> None: ...


Kept = TypeVar("Kept", bound=Closing)


@dataclass(frozen=True)
class Newest:
    """The newest generation of deployments that share what was there before them; somebody else who sets
    another value ends a generation."""

    members: list[Facts]
    number: int

    @property
    def following(self) -> int:
        """Of what comes next, where none of the members has left what is there now."""
        return self.number + 1 if self.members else 0


def newest(held: Sequence[Facts]) -> Newest:
    """Of what deployments have noted, each with its `generation`."""
    number = max(map(generation, held), default=0)
    return Newest([one for one in held if generation(one) == number], number)


def generation(held: Facts) -> int:
    """Its number; 0 in notes of earlier versions."""
    return int(held.get("generation", 0))


class Site:
    """One deployment being made or taken down."""

    def __init__(self, deployment: str, directory: Path, journal: Journal) -> None:
        self.deployment = deployment
        self.directory = directory
        self.under_load = False
        """Counters are read while packets are on their way."""
        self._journal = journal
        self._step = ""
        self._routes: dict[str, IPRoute] = {}
        self._packet_sockets: dict[str, PacketSockets] = {}
        self._kept: dict[str, Closing] = {}

    @property
    def journal(self) -> Path:
        """Where the journal is."""
        return self._journal.path

    def at(self, step: Step) -> None:
        """The step that is done or undone next."""
        self._step = step.name

    def note(self, facts: Facts) -> None:
        """Journals facts that the undo needs even if do() does not come to its end."""
        self._journal.write({"facts": facts, "step": self._step})

    def noted(self, key: str) -> list[Any]:
        """What the steps of this deployment have noted under that key, in their order."""
        return [entry.facts[key] for entry in self._journal.standing() if key in entry.facts]

    def facts_of(self, step: str) -> Facts:
        """What a standing step of this deployment, named so, has noted. KeyError if there is none."""
        return {entry.step.name: entry.facts for entry in self._journal.standing()}[step]

    @contextmanager
    def alone(self, *, everywhere: bool = False) -> Iterator[None]:
        """No other deployment of this run directory is in such a body meanwhile; `everywhere`: of none that
        is known. It ends with the process, too. FabricError if another one does not come to its end.
        """
        with ExitStack() as held:
            for place in (root(), *(run_directories.meeting() if everywhere else ())):
                lock = Lock(place / HOST_LOCK)
                if not lock.take(ALONE_S):
                    raise FabricError(
                        f"another weir has held {lock.path} for {ALONE_S:g} s",
                        "see what it waits for: ps, weir inspect",
                    )
                held.callback(lock.release)
            yield

    def elsewhere(self, kind: str, *, everywhere: bool = False, without: str | None = None) -> list[Facts]:
        """What the standing steps of that kind have noted in all other deployments of this run directory;
        `everywhere`: of all that are known, within such an `alone`; `without`: only of those in which no
        process of a step of that kind has been started, or that have ended it."""
        found = []
        others = run_directories.others() if everywhere else ()
        for path in (*journals(), *(path for place in others for path in journals(place))):
            if path != self._journal.path:
                with suppress(FabricError), closing(Journal(path)) as journal:  # it may be gone by now
                    standing = journal.standing()
                    if not any(one.step.kind == without and "pid" in one.facts for one in standing):
                        found += [entry.facts for entry in standing if entry.step.kind == kind]
        return found

    def spawn(
        self,
        argv: list[str],
        *,
        netns: str | None,
        env: Mapping[str, str],
        cores: list[int],
        log: str,
        descriptors: Collection[int] = (),
        directory: Path | None = None,
        groups: Collection[Path] = (),
    ) -> int:
        """Starts a process that belongs to the current step; `log` is relative to the run directory, or
        absolute. `descriptors`: those that it gets. `groups`: cgroup.procs of the control groups that it is
        in from the beginning."""
        path = self.directory / log
        path.parent.mkdir(parents=True, exist_ok=True)
        return process.spawn(
            argv,
            marker=self.marker(),
            netns=netns,
            env=dict(env),
            cores=cores,
            log=path,
            descriptors=descriptors,
            directory=directory,
            groups=groups,
        )

    def marker(self) -> str:
        """What the processes of the current step carry in their environment."""
        return self._marker_of(self._step)

    def _marker_of(self, step: str) -> str:
        return f"{self.deployment}/{step}"

    def end(self, user: int | None = None) -> None:
        """Ends the processes of the current step. Idempotent.

        `user`: whose they may be beside this process's; FabricError if one of these may not be looked at, and
        no step has noted it as `started`.
        """
        journalled = {
            Started(**entry.facts["started"]): self._marker_of(entry.step.name)
            for entry in self._journal.standing()
            if "started" in entry.facts
        }
        ending.end_marked(self.marker(), user, journalled)

    def kill(self, pid: int) -> None:
        """Ends a process of the current step at once, as a crash would."""
        process.finish(pid, signal.SIGKILL, ending.TERM_S)

    def route(self, netns: str) -> IPRoute:
        """A netlink socket in that namespace, kept open: opening one costs more than making a link."""
        if netns not in self._routes:
            self._routes[netns] = netlink.kept(IPRoute, namespace.inside(netns))
        return self._routes[netns]

    def packet_sockets(self, netns: str) -> PacketSockets:
        """The AF_PACKET sockets of that namespace; kept open too."""
        if netns not in self._packet_sockets:
            self._packet_sockets[netns] = netlink.kept(PacketSockets, namespace.inside(netns))
        return self._packet_sockets[netns]

    def forget(self, netns: str) -> None:
        """Closes the sockets there: an open one would keep the namespace alive."""
        for opened in (self._routes.pop(netns, None), self._packet_sockets.pop(netns, None)):
            if opened is not None:
                opened.close()

    def kept(self, name: str, make: Callable[[], Kept]) -> Kept:
        """What `make` made under that name, kept open until `close`."""
        if name not in self._kept:
            self._kept[name] = make()
        return cast(Kept, self._kept[name])

    def close(self) -> None:
        """Closes all netlink sockets and whatever else was kept open."""
        while self._kept:
            self._kept.popitem()[1].close()
        for netns in {*self._routes, *self._packet_sockets}:
            self.forget(netns)
