# SPDX-License-Identifier: Apache-2.0
"""The tester of chains, measured without the cloud: what ended it, where something of it does not go."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from types import SimpleNamespace
from typing import Any

import pytest

from weir import fabric
from weir.base.cloud import OUTSIDE, CloudTester
from weir.base.error import FabricError
from weir.fabric.deployment import NotGoneError
from weir.lab.performance import Performance
from weir.measure.machine_state import MachineState
from weir.verify.driver import CleanUp, CloudError
from weir.verify.drivers import tester_alone

STAYS = "own-verify-1 is not all gone: bridge: Device or resource busy"


def ended_by(error: BaseException, monkeypatch: pytest.MonkeyPatch) -> BaseException:
    """What is told of it, while nothing that was built goes."""

    @contextmanager
    def running(*_: Any) -> Iterator[Any]:
        try:
            yield SimpleNamespace(traffic=lambda _frame: None, tester=lambda: None, watched=lambda _: None)
        finally:
            raise NotGoneError(STAYS, "mend that and destroy again")

    def ceilings(*_: Any, **__: Any) -> None:
        raise error

    monkeypatch.setattr(fabric, "claimed", lambda _cores: nullcontext())
    monkeypatch.setattr(tester_alone, "running", running)
    monkeypatch.setattr(tester_alone, "ceilings", ceilings)
    tester = CloudTester(core=0, system_cores=(1,), senders=(OUTSIDE,))
    with pytest.raises(BaseException) as told:  # noqa: PT011 - of any kind
        tester_alone.TesterAlone(MachineState()).measured("own", tester, Performance())
    assert CleanUp.of(told.value) == CleanUp(0.0, STAYS)
    return told.value


def test_ctrl_c_stays_that(monkeypatch: pytest.MonkeyPatch) -> None:
    error = KeyboardInterrupt()
    assert ended_by(error, monkeypatch) is error


def test_an_error_is_told_with_what_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    told = ended_by(FabricError("the tester has ended"), monkeypatch)
    assert isinstance(told, CloudError)
    assert told.message == f"the tester has ended; and then: {STAYS}"
