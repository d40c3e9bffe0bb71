# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace

import pytest

from tests.unit.measure.clocked import HZ, Played, ledger
from weir.measure.core_speed import Slowing
from weir.measure.costs import costs
from weir.measure.windows import Window, windows
from weir.results.result import AreaLoad, CoreLoad, PathLoad, PollingLoad


def load(kind: str, busy: int, packets: int, idle: int = 0, waited: int = 0) -> AreaLoad:
    """Of a thread that takes what the tester sends."""
    path = PathLoad(
        name="all",
        inputs=["switch:tester.left"],
        outputs=[],
        packets_in=packets,
        packets_out=packets,
        dropped=0,
    )
    polling = PollingLoad(polls=1, batches=1, upcalls=0, upcalls_lost=0, waited_cycles=waited)
    return AreaLoad(
        name=f"{kind}.1",
        core=1,
        kind=kind,
        busy_cycles=busy,
        idle_cycles=idle,
        paths=[path],
        polling=polling if kind == "pmd" else None,
    )


def core(softirq_s: float, frames: int) -> CoreLoad:
    return CoreLoad(
        core=1,
        window_s=0.1,
        user_s=0.0,
        system_s=0.1 - softirq_s,
        softirq_s=softirq_s,
        irq_s=0.0,
        steal_s=0.0,
        idle_s=0.0,
        frames=frames,
        dropped=0,
        squeezed=0,
        accounted=1.0,
    )


FAST = Window(
    ledger(0, 0),
    ledger(1, 1_000_000),
    beside=(load("pmd", 900_000_000, 1_200_000, 300_000_000),),
    kernel=(core(0.04, 40_000),),
)
SLOW = Window(
    ledger(0, 0),
    ledger(1, 500_000),
    beside=(load("pmd", 900_000_000, 1_000_000),),
    kernel=(core(0.0, 20_000),),
)


def test_a_polling_thread_costs_what_it_counted_in_the_windows_that_are_used() -> None:
    pmd = costs([FAST] * 8).beside[0]
    assert pmd.name == "pmd.1"
    assert pmd.rest_cycles == pytest.approx(750)


def test_it_was_idle_for_what_the_packets_that_it_was_sent_leave_of_the_window() -> None:
    (looked_longer,) = FAST.beside
    assert looked_longer.busy_cycles + looked_longer.idle_cycles > HZ
    assert costs([FAST] * 8).beside[0].idle_share == pytest.approx(0.25)
    assert FAST.idle()[1] == pytest.approx(0.25)


def _untimed(window: Window) -> Window:
    """With no loop of weir-dp on the second core."""
    looks = [one.model_copy(update={"cores": one.cores[:1]}) for one in (window.before, window.after)]
    return replace(window, before=looks[0], after=looks[1])


def test_what_its_core_was_slowed_by_before_and_after_is_corrected() -> None:
    slowed = replace(_untimed(FAST), probed_cycles={1: 150.0})
    assert costs([slowed] * 8, Slowing(100, slope=0.5)).beside[0].rest_cycles == pytest.approx(600)


def test_a_window_in_which_others_had_its_core_is_of_no_use() -> None:
    def window(waited: int) -> Window:
        return replace(FAST, beside=(load("pmd", 600_000_000, 1_000_000, 200_000_000, waited),))

    assert window(50_000_000).stayed()
    assert not window(400_000_000).stayed()
    assert window(200_000_000).idle()[1] == pytest.approx(1 - 0.6 - 0.2)


def test_the_kernels_ticks_are_counted_over_all_windows_and_those_without_any_too() -> None:
    softirq = costs([*[FAST] * 4, *[SLOW] * 12]).beside[1]
    assert softirq.name == "softirq.1"
    assert softirq.rest_cycles == pytest.approx(4 * 0.04 * HZ / (4 * 40_000 + 12 * 20_000))


def test_a_thread_is_idle_when_it_does_not_run() -> None:
    thread = Window(ledger(0, 0), ledger(1, 1_000_000), beside=(load("thread", 750_000_000, 100),))
    assert costs([thread]).beside[0].idle_share == pytest.approx(0.25)


def test_what_works_beside_is_looked_at_around_each_window() -> None:
    said: list[str] = []

    class Watched(Played):
        def ledger(self):  # type: ignore[no-untyped-def]
            said.append("ledger")
            return super().ledger()

    class Beside:
        def begin(self) -> None:
            said.append("begin")

        def end(self, tsc_hz: float) -> tuple[list[AreaLoad], list[CoreLoad]]:
            said.append("end")
            return [load("pmd", round(tsc_hz), 1)], [core(0.01, 5)]

    found = windows(Watched([ledger(0, 0)]), lambda _: None, lambda: None, Beside())
    first = next(found)
    assert (first.beside[0].name, first.kernel[0].frames) == ("pmd.1", 5)
    assert said == ["begin", "ledger", "ledger", "end"]
