# SPDX-License-Identifier: Apache-2.0
"""Reports say what timed packets, and how exactly."""

from __future__ import annotations

from weir import report
from weir.report import summary
from weir.results.result import ArrivalClock, Result

from .synthetic import result

COUNTER = ArrivalClock(
    direction="left-to-right", clock="counter", driver="net_virtio_user", resolution_ns=0.4, why="no card"
)
CARD = ArrivalClock(
    direction="right-to-left", clock="card", driver="net_ice", resolution_ns=1, uncertainty_ns=412.3
)


def timed(*clocks: ArrivalClock) -> Result:
    made = result()
    for setup in made.setups:
        for case in setup.cases:
            case.clocks = list(clocks)
    return made


def test_clocks_that_differ_are_told_by_direction() -> None:
    there, back = summary.timing([COUNTER, CARD], physical=False)
    assert there == "Left to right: Software timestamps by the time-stamp counter, one for each burst."
    assert back.startswith("Right to left: Arrivals by the network card's clock (net_ice)")
    assert "resolves 1 ns and is known within 412 ns" in back


def test_why_it_is_the_counter_is_said_only_where_there_is_a_card() -> None:
    virtual, physical = (summary.timing([COUNTER], physical=card)[0] for card in (False, True))
    assert "no card" not in virtual
    assert physical.endswith("The network card's own clock does not: no card.")


def test_every_report_for_people_says_what_timed_packets() -> None:
    made = timed(CARD)
    assert any("net_ice" in sentence for sentence, _ in summary.fidelity(made))
    for name in ("terminal", "html"):
        assert "412 ns" in report.render(made, name).replace("\n", " ")


def test_a_result_from_before_says_nothing_of_it() -> None:
    assert summary.setup_clocks(result().setups[0]) == []


def test_the_testers_own_floor_is_told_for_each_setup() -> None:
    told = list(summary.floors(result()))
    assert told[0].endswith("latency floor 2.4 µs; timestamps resolve 0.4 ns.")
