# SPDX-License-Identifier: Apache-2.0
"""A cloud that is made up, for what runs and reports verifications; it does what a test tells it to."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field

from weir.base.error import FabricError
from weir.lab.sut import SutFile
from weir.results.verification import Verification
from weir.verify.case import Suite
from weir.verify.driver import ACTIVE, CloudError, Resource, Service, StackWanted
from weir.verify.run import Run, planned
from weir.verify.suites import SUITES

HEALTHCHECK = SUITES["healthcheck"]


@dataclass
class MadeCloud:
    """What each of them does wrong."""

    services_down: str = ""
    does_not_stand: str = ""
    router_state: str = ACTIVE
    says: str | None = None
    """In place of what a command would say."""
    not_removed: str = ""
    leaves: list[str] = field(default_factory=list)
    """What of each stack, in turn, is not removed; the rest is, or `not_removed`."""
    lacks: str = ""
    stood: list[StackWanted] = field(default_factory=list)
    standing: int = 0

    system: str = "a made-up cloud"
    fidelity: Sequence[str] = ("None of it is real.",)

    def require(self) -> None:
        if self.lacks:
            raise FabricError(self.lacks)

    def services(self, within_s: float, built: ExitStack) -> Sequence[Service]:  # noqa: ARG002
        assert within_s > 0
        if self.services_down:
            raise CloudError(self.services_down)
        return [Service("network", "network 1.0")]

    @contextmanager
    def stack(self, wanted: StackWanted, within_s: float) -> Iterator[MadeStack]:
        assert within_s > 0
        if self.does_not_stand:
            raise CloudError(self.does_not_stand)
        self.stood.append(wanted)
        self.standing += 1
        yield MadeStack(self, wanted, time.monotonic() + within_s)
        self.standing -= 1
        left = self.leaves.pop(0) if self.leaves else self.not_removed
        if left:
            raise FabricError(left)


@dataclass
class MadeStack:
    cloud: MadeCloud
    wanted: StackWanted
    end_s: float
    """Of the case: then nothing is asked any more."""

    def resources(self) -> Sequence[Resource]:
        kinds = ("network", "subnet", "router", "image", "flavor")
        made = [Resource(one, one, self.cloud.router_state if one == "router" else ACTIVE) for one in kinds]
        return [*made, *(Resource("server", one.name, ACTIVE) for one in self.wanted.servers)]

    def run(self, server: str, command: str, within_s: float) -> str:
        assert within_s > 0
        if self.cloud.says is not None:
            return self.cloud.says
        if command.startswith("echo "):
            return f"{command.split()[1].rstrip(';')}\nLinux 6\n1.0\n"
        return f"PING from {server}\n3 packets transmitted, 3 packets received, 0% packet loss\n"

    def console(self, server: str) -> str:
        if time.monotonic() >= self.end_s:
            raise CloudError("read the console: not begun in its time")
        (wanted,) = [one for one in self.wanted.servers if one.name == server]
        return f"booting\n{'vPing OK' if wanted.user_data and self.cloud.says is None else ''}\n"

    def address(self, server: str) -> str:
        return f"10.0.0.{[one.name for one in self.wanted.servers].index(server) + 3}"


def verified(
    cloud: MadeCloud, sut: SutFile | None = None, suites: Sequence[Suite] = (HEALTHCHECK,)
) -> Verification:
    """All of it."""
    sut = sut or SutFile(weir=1, name="made", case_time_limit_s=1.0)
    found = planned(sut, suites, cloud)
    return Run(sut, suites, cloud, found, keep=lambda _: None, told=lambda *_: None).run()
