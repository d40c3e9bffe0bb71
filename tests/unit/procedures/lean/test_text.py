# SPDX-License-Identifier: Apache-2.0
"""A lean measurement as text."""

from __future__ import annotations

from tests.report.synthetic import result
from weir.procedures.lean.numbers import Timed, predicted, state
from weir.procedures.lean.text import render
from weir.results.lean import LeanResult, LeanState, LeanTraffic

from .test_numbers import FIRST, SECOND, STEPPED


def shown(later: LeanState) -> str:
    return render(
        LeanResult(
            weir="0",
            chain="nat,l2fwd",
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
    )


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
