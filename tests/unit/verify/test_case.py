# SPDX-License-Identifier: Apache-2.0
"""How the operations of a case are timed, and what it tells of its clean-up."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any

import pytest

from weir.base.error import FabricError
from weir.lab.performance import Performance
from weir.verify.case import Case, Running, Suite
from weir.verify.driver import ChainWanted, CleanUp, CloudError, HostsWanted, Service, StackWanted
from weir.verify.suites.healthcheck import connection_check

from .made import MadeCloud, verified


@dataclass
class Failing(MadeCloud):
    """Nothing of it stands: that shows after 5 s, and what there was is gone after 20 s more."""

    now_s: float = 0.0
    error: BaseException = field(default_factory=lambda: CloudError("no quota"))

    @contextmanager
    def _failed(self, *_wanted: object) -> Iterator[Any]:
        self.now_s += 25.0
        CleanUp(20.0, "network stays").told_by(self.error)
        raise self.error
        yield

    stack = chain = hosts = _failed  # type: ignore[assignment]
    require_programs = require_tester = cannot_build = chain_needs = tester_alone = lambda *_: None


def building(run: Running, kind: str) -> AbstractContextManager[Any]:
    if kind == "stack":
        return run.stack("boot it", StackWanted())
    if kind == "hosts":
        return run.hosts("boot it", HostsWanted(("a",)))
    return run.chain("boot it", ChainWanted(1, "generic", 0, Performance()))


@pytest.mark.parametrize("kind", ["stack", "chain", "hosts"])
def test_clean_up_is_neither_in_the_time_of_what_failed_nor_in_its_cases(kind: str) -> None:
    cloud = Failing()
    run = Running(cloud, limit_s=60.0, clock=lambda: cloud.now_s)
    with pytest.raises(CloudError, match="no quota"), building(run, kind):
        pass
    assert [(one.name, one.seconds) for one in run.operations] == [("boot it", 5.0)]
    assert (run.took_s(), run.clean_up_s, run.left) == (5.0, 20.0, ["network stays"])


@pytest.mark.parametrize("error", [KeyError("ip_address"), KeyboardInterrupt(), FabricError("disk full")])
def test_what_a_building_leaves_is_told_whatever_ended_it(error: BaseException) -> None:
    cloud = Failing(error=error)
    run = Running(cloud, limit_s=60.0, clock=lambda: cloud.now_s)
    with pytest.raises(type(error)), building(run, "stack"):
        pass
    assert (run.took_s(), run.clean_up_s, run.left) == (5.0, 20.0, ["network stays"])


def test_a_case_that_makes_servers_twice_names_all_that_both_leave() -> None:
    def twice(run: Running) -> None:
        for _ in range(2):
            with run.stack("boot it", StackWanted()):
                pass

    suite = Suite("one", "One?", (Case("one", "a case", twice),))
    found = verified(MadeCloud(leaves=["network 1 stays", "router 2 stays"]), suites=[suite])
    assert found.suites[0].cases[0].not_removed == "network 1 stays; router 2 stays"


@dataclass
class Asked(MadeCloud):
    """Services that are built to be asked, in 3 s; what was built takes 20 s to go, and may stay."""

    now_s: float = 0.0
    stays: str = ""

    def services(self, within_s: float, built: ExitStack) -> Sequence[Service]:
        built.callback(self._gone)
        self.now_s += 3.0
        return super().services(within_s, built)

    def _gone(self) -> None:
        self.now_s += 20.0
        if self.stays:
            raise FabricError(self.stays)


@pytest.mark.parametrize("stays", ["", "bridge stays"])
@pytest.mark.parametrize("down", ["", "network does not answer"])
def test_what_was_built_to_ask_services_is_cleaned_up_and_that_is_in_no_time(down: str, stays: str) -> None:
    cloud = Asked(services_down=down, stays=stays)
    run = Running(cloud, limit_s=10.0, clock=lambda: cloud.now_s)
    with pytest.raises(CloudError, match=down) if down else nullcontext():
        connection_check(run)
    found = "" if down else "network 1.0"
    assert [(one.seconds, one.found) for one in run.operations] == [(3.0, found)]
    assert (run.took_s(), run.clean_up_s, run.left) == (3.0, 20.0, [stays] if stays else [])
