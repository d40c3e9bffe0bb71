# SPDX-License-Identifier: Apache-2.0
"""How a soak's load ends, and what is done while it lasts."""

from __future__ import annotations

import signal
from collections.abc import Callable, Collection
from types import SimpleNamespace
from typing import Any

import pytest

from weir.fabric import stop_signals
from weir.procedures.soak.segment import _waiting
from weir.protocol.looking_tester import LookingTester


def client(noted: list[str]) -> Any:
    """Of a weir-dp whose run ends when it should."""
    return SimpleNamespace(
        start_traffic=lambda *_args, **_named: 1,
        finish_traffic=lambda: noted.append("finish"),
        traffic_result=lambda _wait_ms: SimpleNamespace(run=1),
        log_hint="",
    )


def looking(noted: list[str], wait: Callable[[float], bool]) -> LookingTester:
    return LookingTester(
        client(noted), 10.0, lambda: noted.append("look"), wait, lambda: noted.append("complete")
    )


def test_once_all_was_sent_that_is_told_before_the_last_packets_are_counted() -> None:
    noted: list[str] = []
    made = looking(noted, lambda _seconds: False)
    made.run({0: 1.0}, 1.0, 0.0)
    assert noted == ["complete", "look"]
    assert not made.ended_early


def test_a_load_that_somebody_ended_is_not_complete() -> None:
    noted: list[str] = []
    made = looking(noted, lambda _seconds: True)
    made.run({0: 1.0}, 1.0, 0.0)
    assert noted == ["finish", "look"]
    assert made.ended_early


class Cores:
    """Whose switches have to be taken from the kernel so many times."""

    def __init__(self) -> None:
        self.drained = 0

    def filling(self) -> list[int]:
        return [17]

    def drain(self) -> None:
        self.drained += 1


def waits(cores: Cores, *answers: bool) -> bool:
    """`answers`: whether a descriptor can be read before the time is over."""
    left = iter(answers)

    def wait(_seconds: float, others: Collection[int]) -> bool:
        assert list(others) == [17]
        return next(left)

    return _waiting(SimpleNamespace(wait=wait), cores)(10.0)  # type: ignore[arg-type]


def test_what_the_kernel_tells_of_the_cores_is_taken_whenever_half_of_its_room_is_full() -> None:
    cores = Cores()
    assert not waits(cores, True, True, False)
    assert cores.drained >= 2


def test_a_signal_ends_the_wait_at_once() -> None:
    cores = Cores()
    with stop_signals.held(quiet=True):
        signal.raise_signal(signal.SIGTERM)
        assert waits(cores, True, False)


def test_one_that_comes_when_all_was_sent_ends_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    before = {number: signal.getsignal(number) for number in stop_signals.SIGNALS}
    try:
        with stop_signals.held(), stop_signals.allowed(), stop_signals.held():
            stop_signals.finish()
            signal.raise_signal(signal.SIGTERM)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    assert capfd.readouterr().err == ""
