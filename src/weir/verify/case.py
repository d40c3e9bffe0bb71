# SPDX-License-Identifier: Apache-2.0
"""A case of a suite: what it does with a cloud, and how each thing that it does is timed."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace

from weir.base.error import WeirError
from weir.fabric import stop_signals
from weir.lab.application import Application
from weir.lab.performance import Performance
from weir.lab.sut import SutFile
from weir.results.calls import CallCapacity, CallLoad
from weir.results.chains import ChainLoad
from weir.results.result import Ceiling
from weir.results.scenario import ScenarioLoad
from weir.results.verification import Operation
from weir.verify.driver import (
    ACTIVE,
    CannotRunError,
    Chain,
    ChainsDriver,
    ChainWanted,
    CleanUp,
    CloudError,
    Driver,
    Hosts,
    HostsDriver,
    HostsWanted,
    Iteration,
    Resource,
    ScenarioDriver,
    ScenarioWanted,
    Service,
    Stack,
    StackWanted,
)

_LOOK_S = 0.2


class NotSoError(CloudError):
    """The cloud did what it was asked for, and it is not what was to be."""


@dataclass
class Running:
    """A case that runs: its cloud, its time, and what it did."""

    driver: Driver
    limit_s: float
    application: Application = field(default_factory=Application)
    clock: Callable[[], float] = time.monotonic
    operations: list[Operation] = field(default_factory=list)
    calls: list[CallLoad] = field(default_factory=list)
    capacity: CallCapacity | None = None
    scenario_load: ScenarioLoad | None = None
    chains: list[ChainLoad] = field(default_factory=list)
    say: Callable[[str], None] = lambda _said: None
    """Progress, within a case."""
    clean_up_s: float = 0.0
    left: list[str] = field(default_factory=list)
    """What each clean-up could not remove, and why."""
    began_s: float = field(init=False)

    def __post_init__(self) -> None:
        self.began_s = self.clock()

    def left_s(self) -> float:
        """CloudError if its time is over."""
        left = self.limit_s - self.took_s()
        if left <= 0:
            done = self.operations[-1].name if self.operations else "it began"
            raise CloudError(f"the case has not ended within {self.limit_s:g} s; last, {done}")
        return left

    def over(self) -> bool:
        """Whether its time is."""
        return self.took_s() >= self.limit_s

    def took_s(self) -> float:
        """So far, without clean-up."""
        return self.clock() - self.began_s - self.clean_up_s

    def pause(self) -> None:
        """Between two looks at something that takes its time. Ctrl-C."""
        stop_signals.check()
        time.sleep(_LOOK_S)

    @contextmanager
    def doing(self, what: str) -> Iterator[Operation]:
        """Times it, also if it fails, without the clean-up that follows then."""
        self.left_s()
        found = Operation(name=what, seconds=0.0)
        began, cleaned_s = self.clock(), self.clean_up_s
        try:
            yield found
        finally:
            found.seconds = round(self.clock() - began - (self.clean_up_s - cleaned_s), 3)
            self.operations.append(found)

    def services(self, what: str) -> Sequence[Service]:
        """Those that answered. What had to be built for that is taken down, as clean-up."""
        built = ExitStack()
        with self.doing(what) as done, self._cleaned_up(built), self._building():
            found = self.driver.services(self.left_s(), built)
            done.found = ", ".join(one.answered for one in found)
        return found

    @contextmanager
    def stack(self, what: str, wanted: StackWanted) -> Iterator[Stack]:
        """Made, for the body, and taken down, which is clean-up and no part of the case's time."""
        held = ExitStack()
        with self.doing(what) as done, self._building():
            standing = held.enter_context(self.driver.stack(wanted, self.left_s()))
        with self._cleaned_up(held):
            self.left_s()
            done.found = ", ".join(f"{one.kind} {one.name}" for one in standing.resources())
            yield standing

    @contextmanager
    def hosts(self, what: str, wanted: HostsWanted) -> Iterator[Hosts]:
        """Likewise servers for programs. CannotRunError where the driver has none."""
        driver = self.driver
        if not isinstance(driver, HostsDriver):
            raise CannotRunError("this driver has no servers for programs of a case's own")
        held = ExitStack()
        with self.doing(what) as done, self._building():
            standing = held.enter_context(driver.hosts(wanted))
        with self._cleaned_up(held):
            self.left_s()
            done.found = ", ".join(f"{name} {standing.address(name)}" for name in wanted.names)
            yield standing

    def tester_alone(self, what: str, performance: Performance) -> Mapping[str, Ceiling]:
        """What it can do, by frame; what is built for that does not stand any more. CannotRunError where the
        driver has none."""
        driver = self.driver
        if not isinstance(driver, ChainsDriver):
            raise CannotRunError("this driver builds no chains yet")
        with self.doing(what) as done, self._building():
            ceilings = driver.tester_alone(performance)
            done.found = ", ".join(f"{one.max_pps:,.0f} pps at {frame}" for frame, one in ceilings.items())
        return ceilings

    @contextmanager
    def chain(self, what: str, wanted: ChainWanted) -> Iterator[Chain]:
        """Likewise a chain. CannotRunError where the driver has none."""
        driver = self.driver
        if not isinstance(driver, ChainsDriver):
            raise CannotRunError("this driver builds no chains yet")
        held = ExitStack()
        with self.doing(what) as done, self._building():
            standing = held.enter_context(driver.chain(wanted, self.left_s()))
        with self._cleaned_up(held):
            self.left_s()
            done.found = standing.datapath
            yield standing

    @contextmanager
    def scenario(self, wanted: ScenarioWanted) -> Iterator[Sequence[Iteration]]:
        """Done by the driver, as often as wanted. CannotRunError where it has no such thing."""
        driver = self.driver
        if not isinstance(driver, ScenarioDriver):
            raise CannotRunError("this driver's cloud has no API that scenarios could ask")
        held = ExitStack()
        with self._building():
            found = held.enter_context(driver.scenario(wanted, self.left_s()))
        with self._cleaned_up(held):
            yield found

    @contextmanager
    def _building(self) -> Iterator[None]:
        """For the body, whose error is told once what did stand has been taken down."""
        try:
            yield
        except BaseException as error:
            done = CleanUp.of(error)
            self.clean_up_s += done.seconds
            self.left += [done.not_removed] if done.not_removed is not None else []
            raise

    @contextmanager
    def _cleaned_up(self, held: ExitStack) -> Iterator[None]:
        try:
            yield
        finally:
            began = self.clock()
            try:
                held.close()
            except WeirError as error:
                self.left.append(str(error))
            self.clean_up_s += self.clock() - began


def active(stack: Stack, kinds: set[str]) -> list[Resource]:
    """Those of these kinds. NotSoError if one is missing, or is of no use."""
    found = [one for one in stack.resources() if one.kind in kinds]
    missing = kinds - {one.kind for one in found}
    if missing:
        raise NotSoError(f"there is no {sorted(missing)[0]}, though it was made")
    for one in found:
        if one.state != ACTIVE:
            raise NotSoError(f"{one.kind} {one.name} is {one.state}, and should be {ACTIVE}")
    return found


def percent(share: float) -> str:
    """ "99.5%": a share that a file asks for, as it was asked for."""
    return f"{100 * share:.10g}%"


@dataclass(frozen=True)
class Case:
    """One of a suite's."""

    name: str
    title: str
    run: Callable[[Running], None]
    """CloudError: it fails."""
    lacks: Callable[[Driver], str | None] = lambda _driver: None
    """What it takes and that driver has not, in a sentence: the case is skipped. None: it can be tried."""


@dataclass(frozen=True)
class Suite:
    """Cases that belong together."""

    name: str
    title: str
    cases: tuple[Case, ...]
    planned: Callable[[SutFile], tuple[Case, ...]] | None = None
    """Of a suite whose cases are those that the file asks for."""
    require: Callable[[Driver, Application], None] = lambda _driver, _application: None
    """WeirError where none of them can be run: this machine lacks what it takes."""
    needs: Callable[[Driver], Sequence[str]] = lambda _driver: ()
    """What its cases take of that driver's cloud and of this host, in sentences."""
    fidelity: tuple[str, ...] = ()
    """What its results say of other clouds, in sentences."""
    measures: bool = False
    """Its cases take the time that they are given: it is not judged."""

    def of(self, sut: SutFile) -> Suite:
        """With the cases that the file asks for."""
        return replace(self, cases=self.planned(sut)) if self.planned is not None else self
