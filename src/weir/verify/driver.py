# SPDX-License-Identifier: Apache-2.0
"""What suites ask of a cloud, whatever it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from weir.base.error import FabricError
from weir.lab.performance import Performance
from weir.lab.sla import Sla
from weir.measure import Traffic
from weir.measure.one_case import OnChain
from weir.results.result import Ceiling


class CloudError(FabricError):
    """The cloud did not do what it was asked for, or not in time: the case fails, with this as its cause."""


class CannotRunError(CloudError):
    """The case cannot be run there, and that is no fault of the cloud's: it is skipped, for this reason."""


@dataclass(frozen=True)
class CleanUp:
    """Of what did stand when building the rest failed; the error tells it, whatever it is: Ctrl-C, too."""

    seconds: float = 0.0
    """Of the time until the error was told."""
    not_removed: str | None = None
    """What stays, and why; None: nothing."""

    def told_by(self, error: BaseException) -> None:
        """From now on."""
        error.__dict__["clean_up"] = self

    @classmethod
    def of(cls, error: BaseException) -> CleanUp:
        """None was needed, if it tells none."""
        found: CleanUp = error.__dict__.get("clean_up", cls())
        return found


@dataclass(frozen=True)
class Service:
    """One that answered."""

    name: str
    answered: str
    """What, and by which version: "ovs-vswitchd 3.1.0"."""


@dataclass(frozen=True)
class Resource:
    """Something that stands."""

    kind: str
    """ "network", "subnet", "router", "image", "flavor", "server"."""
    name: str
    state: str
    """ "active": it is of use."""
    detail: str = ""


ACTIVE = "active"


@dataclass(frozen=True)
class ServerWanted:
    """An instance that a case needs."""

    name: str
    user_data: str = ""
    """A script for its start; {NAME} stands for the address of the server of that name, inside."""


@dataclass(frozen=True)
class StackWanted:
    """What a case needs, all at once: a project with a network, a subnet and a router to the outside; and
    servers in it, each of which can be reached by SSH from outside."""

    servers: tuple[ServerWanted, ...] = ()
    new_project: bool = False
    """In one of its own, beside another that has the same addresses."""


class Stack(Protocol):
    """What stands of that."""

    def resources(self) -> Sequence[Resource]:
        """All of it, looked at now. CloudError."""

    def run(self, server: str, command: str, within_s: float) -> str:
        """What a command says that runs in a server, by SSH from the network outside. CloudError if it cannot
        be reached, or the command fails."""

    def console(self, server: str) -> str:
        """What it has said since its start."""

    def address(self, server: str) -> str:
        """Inside."""


class Driver(Protocol):
    """One kind of cloud."""

    @property
    def system(self) -> str:
        """What it is, in a few words."""

    @property
    def fidelity(self) -> Sequence[str]:
        """What its results say of other clouds, in sentences."""

    def require(self) -> None:
        """WeirError where nothing can be verified: this machine or this user lacks what it takes."""

    def services(self, within_s: float, built: ExitStack) -> Sequence[Service]:
        """Those that carry it; each has just answered. CloudError names one that does not, or not in time.
        What has to be built for that goes when `built` is closed."""

    def stack(self, wanted: StackWanted, within_s: float) -> AbstractContextManager[Stack]:
        """For the body; taken down after it, however it ends. CloudError if it does not stand in time."""


@dataclass(frozen=True)
class HostsWanted:
    """Servers in which a case runs programs of its own, all in one network."""

    path: tuple[str, ...]
    """By name, in the order in which one speaks to the next, and some again: at nodes in turn, so that
    neighbours are at different ones."""
    vcpus: int = 0
    """CPUs that the programs of each may run on; 0: all."""

    @property
    def names(self) -> tuple[str, ...]:
        """Each once."""
        return tuple(dict.fromkeys(self.path))


class Program(Protocol):
    """One that was started in a server."""

    def exit_code(self) -> int | None:
        """None while it runs; negative: the signal that ended it."""

    def said(self) -> str:
        """Its last words, in one line."""

    def end(self, patience_s: float, *, quietly: bool = False) -> None:
        """By SIGUSR1 if `quietly`, else by SIGTERM; killed if it has not ended after that time."""


class Hosts(Protocol):
    """Servers that stand, by name."""

    def address(self, server: str) -> str:
        """Inside."""

    def directory(self, server: str) -> str:
        """Its own, as programs in it see it."""

    def write(self, server: str, files: Mapping[str, str]) -> None:
        """Texts, by path in its directory."""

    def read(self, server: str, name: str) -> str:
        """A text; `name`: a path there, or a pattern of one. CloudError if there is none."""

    def start(self, server: str, name: str, words: Sequence[str], *, own_temporary: bool = False) -> Program:
        """A program, in the directory `name` of the server's. CloudError if it cannot be executed.
        `own_temporary`: it leaves files in /tmp, and gets another one, which goes with the server."""

    def run(self, server: str, words: Sequence[str], within_s: float) -> str:
        """What a short program says. CloudError if it fails, or not in time."""


@runtime_checkable
class HostsDriver(Protocol):
    """A driver that has servers for programs of a case's own."""

    def require_programs(self, programs: Mapping[str, str]) -> None:
        """WeirError where one is missing. `programs`: names, or patterns of paths below /usr/lib, and the
        Debian package that each comes with."""

    def hosts(self, wanted: HostsWanted) -> AbstractContextManager[Hosts]:
        """For the body; taken down after it, with all that runs there. CloudError if it does not stand;
        CannotRunError where there are not so many CPUs."""


@dataclass(frozen=True)
class ChainWanted:
    """Instances in a row that forward, from the test host and back to it."""

    instances: int
    technique: str
    """How they and their ports are made: "generic", "pinned+hugepages"."""
    vcpus: int
    """Of each; 0: as it comes."""
    performance: Performance

    def uses(self, acceleration: str) -> bool:
        """Whether the technique has it."""
        return acceleration in self.technique.split("+")


class Chain(Protocol):
    """One that stands, with the tester at both its ends, and lets packets through."""

    @property
    def datapath(self) -> str:
        """What switches."""

    @property
    def fidelity(self) -> Sequence[str]:
        """What its rates rest on, in sentences."""

    @property
    def bring_up_s(self) -> float:
        """Time until it stood."""

    def traffic(self, frame: str, flows: int) -> Traffic:
        """Through it."""

    def measured(self, ceilings: Mapping[str, Ceiling], sla: Sla) -> OnChain:
        """As the instrument takes it. `ceilings`: of the tester alone, by frame."""


@runtime_checkable
class ChainsDriver(Protocol):
    """A driver that builds chains."""

    def require_tester(self) -> None:
        """WeirError where this machine lacks what it takes to load anything."""

    def cannot_build(self, wanted: ChainWanted) -> str | None:
        """What it takes and is not there, in a sentence; None: it can be tried."""

    def chain_needs(self) -> Sequence[str]:
        """What chains take that is seen only when it is asked for: rights, images; in sentences."""

    def tester_alone(self, performance: Performance) -> Mapping[str, Ceiling]:
        """What the tester can do without a cloud, by frame; measured once."""

    def chain(self, wanted: ChainWanted, within_s: float) -> AbstractContextManager[Chain]:
        """For the body; taken down after it, however it ends. CloudError if it does not stand, or nothing
        comes through."""


@dataclass(frozen=True)
class ScenarioWanted:
    """How often a scenario of the suite `sanity` is done, and within which limits."""

    name: str
    """As in its table."""
    iterations: int = 1
    concurrency: int = 1
    """Iterations at a time."""
    projects: int = 1
    users_per_project: int = 1
    failure_ratio: float = 0.0
    """Of the iterations, at most."""
    time_s: float | None = None
    """Of an iteration, at most; None: not judged."""


@dataclass(frozen=True)
class Done:
    """An operation of an iteration."""

    name: str
    seconds: float
    failed: bool = False


@dataclass(frozen=True)
class Iteration:
    """A scenario, done once."""

    seconds: float
    cause: str | None
    """None: it succeeded."""
    operations: tuple[Done, ...] = ()


@runtime_checkable
class ScenarioDriver(Protocol):
    """A driver that has scenarios done by what knows its cloud's API."""

    def require_scenarios(self) -> None:
        """WeirError where this machine lacks what it takes."""

    def scenario(
        self, wanted: ScenarioWanted, within_s: float
    ) -> AbstractContextManager[Sequence[Iteration]]:
        """Done, all of it, when the body begins; what it made is removed after it. CloudError if it was not
        begun or not ended; CannotRunError where the cloud has no such service, or this user no such right."""
