# SPDX-License-Identifier: Apache-2.0
"""How the operations of a case are timed, and what it tells of its clean-up."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any

import pytest

from weir.lab.performance import Performance
from weir.verify.case import Running
from weir.verify.driver import ChainWanted, CloudError, HostsWanted, StackWanted

from .made import MadeCloud


@dataclass
class Failing(MadeCloud):
    """Nothing of it stands: that shows after 5 s, and what there was is gone after 20 s more."""

    now_s: float = 0.0

    @contextmanager
    def _failed(self, *_wanted: object) -> Iterator[Any]:
        self.now_s += 25.0
        error = CloudError("no quota")
        error.clean_up_s, error.not_removed = 20.0, "network stays"
        raise error
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
    assert (run.took_s(), run.clean_up_s, run.not_removed) == (5.0, 20.0, "network stays")
