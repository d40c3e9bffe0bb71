# SPDX-License-Identifier: Apache-2.0
"""What the local driver tells of a chain that did not come to stand, and of cores that others have."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from types import SimpleNamespace
from typing import Any, cast
from unittest.mock import Mock

import pytest

from weir import fabric
from weir.base.error import FabricError
from weir.fabric.deployment import Deployment, NotGoneError, OnEvent
from weir.lab.performance import Performance
from weir.lab.sut import SutFile
from weir.plan import Step
from weir.procedures.tenants import standing_cloud
from weir.verify.driver import CannotRunError, ChainWanted, CleanUp, CloudError
from weir.verify.drivers import local_chain
from weir.verify.drivers.local_chain import LocalChains

UNDONE_S = 3.0
STAYS = "own-verify-1 is not all gone: bridge: Device or resource busy"
STEP = cast(Step, SimpleNamespace(text="make the bridge"))


class Standing:
    """A deployment whose packets do not come; it takes its time to go, and may not go at all."""

    def __init__(self, pass_time: Callable[[float], None], stays: str) -> None:
        self._pass_time, self._stays = pass_time, stays

    def keep_logs(self, _error: BaseException) -> None:
        pass

    def destroy(self, on_event: OnEvent) -> None:
        on_event(fabric.Event(STEP, "undoing"))
        self._pass_time(UNDONE_S)
        on_event(fabric.Event(STEP, "undone"))
        if self._stays:
            raise NotGoneError(self._stays)


@pytest.mark.parametrize(
    ("stays", "why"), [("", "^no packets come$"), (STAYS, f"^no packets come; and then: {STAYS}$")]
)
def test_the_clean_up_of_a_chain_that_lets_nothing_through_is_told(
    stays: str, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    passed: list[float] = []

    def measured(*_: Any) -> None:
        passed.append(10.0)  # until it is known that nothing comes
        raise FabricError("no packets come")

    monkeypatch.setattr(time, "monotonic", lambda: sum(passed))
    monkeypatch.setattr(Deployment, "deploy", lambda *_: Standing(passed.append, stays))
    monkeypatch.setattr(standing_cloud, "MeasuredCloud", measured)
    monkeypatch.setattr(local_chain.LocalChains, "_topology", lambda *_: SimpleNamespace())
    monkeypatch.setattr(local_chain, "chain_streams", lambda *_: None)
    monkeypatch.setattr(standing_cloud, "cloud_steps", lambda _: [])
    monkeypatch.setattr(fabric, "taking_part", lambda _: ())
    monkeypatch.setattr(fabric, "claimed", nullcontext)
    wanted = ChainWanted(1, "generic", 0, Performance())
    with (
        pytest.raises(CloudError, match=why) as told,
        LocalChains(SutFile(weir=1, name="own")).chain(wanted),
    ):
        pytest.fail("it stands")
    assert CleanUp.of(told.value) == CleanUp(UNDONE_S, stays or None)


@contextmanager
def taken(_cores: Any) -> Iterator[None]:
    """In place of a claim."""
    raise FabricError("lab-1 polls on core 0")
    yield


def test_cores_that_another_deployment_has_are_told_before_the_first_case(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1})
    monkeypatch.setattr(fabric, "claimed", taken)
    monkeypatch.setattr(local_chain, "require_cloud", lambda *_: None)
    with pytest.raises(FabricError, match=r"^lab-1 polls on core 0$"):
        LocalChains(SutFile(weir=1, name="own")).require_tester()


def test_a_case_whose_cores_another_deployment_has_meanwhile_is_skipped(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1})
    monkeypatch.setattr(fabric, "claimed", taken)
    chains, wanted = LocalChains(SutFile(weir=1, name="own")), ChainWanted(1, "generic", 0, Performance())
    with pytest.raises(CannotRunError, match=r"^lab-1 polls on core 0$"):
        chains.tester_alone(Performance())
    with pytest.raises(CannotRunError, match=r"^lab-1 polls on core 0$"), chains.chain(wanted):
        pytest.fail("it stands")


def test_what_to_see_where_nothing_comes_through_is_of_the_clouds_file(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    @contextmanager
    def standing(*_: Any) -> Iterator[Any]:
        yield SimpleNamespace(topology=None, deployment=None, client=None, cloud=None, cores=None)

    @contextmanager
    def polling(*_: Any) -> Iterator[Any]:
        yield SimpleNamespace(), None

    fixes: list[str] = []
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1})
    monkeypatch.setattr(fabric, "claimed", nullcontext)
    monkeypatch.setattr(standing_cloud, "deployed_cloud", standing)
    monkeypatch.setattr(standing_cloud, "MeasuredCloud", lambda *_: Mock())
    monkeypatch.setattr(standing_cloud, "polling", polling)
    monkeypatch.setattr(standing_cloud, "first_packets", lambda *_, fix: fixes.append(fix))
    with LocalChains(SutFile(weir=1, name="own")).chain(ChainWanted(1, "generic", 0, Performance())):
        pass
    (fix,) = fixes
    assert "`performance.instance_commands`" in fix
    assert "weir deploy" not in fix
