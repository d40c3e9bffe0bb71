# SPDX-License-Identifier: Apache-2.0
"""A lean measurement as text."""

from __future__ import annotations

from tests.report.synthetic import result
from weir.procedures.lean import unlike
from weir.procedures.lean.numbers import Timed, predicted, state
from weir.procedures.lean.text import render
from weir.results.lean import LeanResult, LeanState, LeanTraffic

from .test_numbers import FIRST, SECOND, STEPPED


def of(later: LeanState) -> LeanResult:
    return LeanResult(
        weir="0",
        chain="nat,l2fwd",
        options={"nat": {"external": "203.0.113.0/28"}, "l2fwd": {}},
        traffic=LeanTraffic(flows=100, frame="64", frames=100),
        cpu=0,
        batches=2000,
        repeats=2,
        interrupted_batches=6,
        clock="timed additions",
        core_per_tsc=1.5,
        retires_most=8,
        later=later,
        prediction=predicted(later.chain, 2e9, 0.85),
        samples=[],
        fingerprint=result().fingerprint,
    )


def shown(later: LeanState) -> str:
    return render(of(later))


def measured() -> LeanState:
    later = state([Timed.model_validate(one) for one in (FIRST, SECOND)], STEPPED)
    assert later is not None
    return later


def test_a_cost_whose_repeats_lie_far_apart_is_marked() -> None:
    """Seen beside a busy program: 1,542 to 42,393 cycles a packet."""
    later = measured()
    assert "?" not in shown(later)
    costly = later.chain.cycles_per_packet
    costly.max = 2.1 * costly.min
    text = shown(later)
    assert f"{costly.median:.1f}?  {costly.min:.1f}–{costly.max:.1f}" in text
    assert "– ?: its repeats lie more than 2 times apart" in text


def test_each_abbreviation_of_the_table_is_explained() -> None:
    text = shown(measured())
    assert text.startswith("Lean measurement of nat,l2fwd: 2 repeats of 2000 batches of 32 on CPU 0\n")
    for short in ("CPP", "IPP", "eIPC", "CUR"):
        assert short in text
    assert (
        "CPP, IPP: cycles and instructions per packet; eIPC: IPP / CPP, instructions a cycle without "
        "idle time; CUR: share of its time that the core forwards" in text.splitlines()
    )


def test_of_a_chain_that_no_packet_left_nothing_is_predicted() -> None:
    later = measured()
    assert "predicted: nothing" not in shown(later)
    later.chain.packets_out = 0
    assert "\npredicted: nothing, since no packet left the chain\n" in shown(later)


def test_what_a_baseline_was_told_otherwise_is_said() -> None:
    one, other = of(measured()), of(measured())
    assert list(unlike.measured(one, other)) == []
    other.options = {"nat": {"external": "203.0.113.0/27", "sessions": "9"}, "l2fwd": {}}
    other.traffic = LeanTraffic(flows=9000, frame="128", frames=9000)
    assert list(unlike.measured(one, other)) == [
        "The packets differ: 100 frames of 100 flows, frame 64, and 9,000 frames of 9,000 flows, frame 128.",
        "Options differ: nat external 203.0.113.0/28, and 203.0.113.0/27; nat sessions absent, and 9.",
    ]
    one.options = {}
    assert len(list(unlike.measured(one, other))) == 1
