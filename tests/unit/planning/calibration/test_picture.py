# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from xml.etree import ElementTree

from weir.planning.calibration.picture import picture
from weir.results.model import (
    CasePrediction,
    CaseState,
    ErrorShares,
    ModelValidation,
    PredictionErrors,
    ValidationCase,
)

SHARES = ErrorShares(mean=0.1, p90=0.1, worst=0.1, bias=0.1)
ERRORS = PredictionErrors(error=SHARES, naive=SHARES, count=1, held=1, held_low=0.0, held_high=1.0)
SVG = "{http://www.w3.org/2000/svg}"


def said(pps: float, reach_pps: float) -> CasePrediction:
    return CasePrediction(
        pps=pps, low_pps=pps - reach_pps, high_pps=pps + reach_pps, naive_pps=pps, limited_by="core 0"
    )


def case(measured_pps: float, blind_pps: float, reach_pps: float) -> ValidationCase:
    return ValidationCase(
        name="a <chain>",
        measured_pps=measured_pps,
        states_pps=[measured_pps],
        state=CaseState(distance_cycles=None, slowed=1.0),
        blind=said(blind_pps, reach_pps),
        conditional=said(measured_pps, reach_pps),
        notices=[],
        lab="",
    )


def drawn(*cases: ValidationCase) -> ElementTree.Element:
    found = ModelValidation(model_created_at="", cases=list(cases), blind=ERRORS, conditional=ERRORS)
    return ElementTree.fromstring(picture(found))


def dots(*cases: ValidationCase) -> list[ElementTree.Element]:
    return [one for one in drawn(*cases).findall(f"{SVG}circle") if one.get("fill") != "none"]


def test_a_right_prediction_lies_on_the_line_and_one_too_high_above_it() -> None:
    right, high = dots(case(8e6, 8e6, 1e6), case(8e6, 9e6, 2e6))
    assert right.get("cx") == high.get("cx")
    assert float(high.get("cy", "")) < float(right.get("cy", ""))
    assert right.findtext(f"{SVG}title") == "a <chain>: measured 8.000, predicted 8.000, in its state 8.000"


def test_an_interval_that_missed_has_another_colour() -> None:
    held, missed = dots(case(8e6, 8e6, 1e6), case(8e6, 11e6, 1e6))
    assert held.get("fill") != missed.get("fill")


def test_a_ring_is_where_the_state_of_the_machine_puts_the_rate() -> None:
    ring, dot = drawn(case(8e6, 9e6, 2e6)).findall(f"{SVG}circle")
    assert ring.get("fill") == "none"
    assert ring.get("cx") == dot.get("cx")
    assert float(ring.get("cy", "")) > float(dot.get("cy", ""))


def test_everything_lies_within_the_picture() -> None:
    for mpps in (0.03, 1, 12, 148):
        picture_ = drawn(case(mpps * 1e6, mpps * 1e6, mpps * 1e5))
        places = [float(one.get(name, "0")) for one in picture_.iter() for name in ("x2", "y1", "cx", "cy")]
        assert 0 <= min(places) <= max(places) <= 420
