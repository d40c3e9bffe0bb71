# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from xml.etree import ElementTree

from weir.report.validation_picture import picture
from weir.store.model import ErrorShares, ModelValidation, ValidationCase

SHARES = ErrorShares(mean=0.1, p90=0.1, worst=0.1, bias=0.1)
SVG = "{http://www.w3.org/2000/svg}"


def case(measured_pps: float, predicted_pps: float, reach_pps: float) -> ValidationCase:
    return ValidationCase(
        name="a <chain>",
        measured_pps=measured_pps,
        visits_pps=[measured_pps],
        predicted_pps=predicted_pps,
        low_pps=predicted_pps - reach_pps,
        high_pps=predicted_pps + reach_pps,
        naive_pps=measured_pps,
        limited_by="core 0",
        notices=[],
    )


def drawn(*cases: ValidationCase) -> ElementTree.Element:
    found = ModelValidation(
        model_created_at="", cases=list(cases), error=SHARES, naive_error=SHARES, covered=1.0
    )
    return ElementTree.fromstring(picture(found))


def test_a_right_prediction_lies_on_the_line_and_one_too_high_above_it() -> None:
    right, high = drawn(case(8e6, 8e6, 1e6), case(8e6, 9e6, 2e6)).findall(f"{SVG}circle")
    assert right.get("cx") == high.get("cx")
    assert float(high.get("cy", "")) < float(right.get("cy", ""))
    assert right.findtext(f"{SVG}title") == "a <chain>: measured 8.000, predicted 8.000"


def test_an_interval_that_missed_has_another_colour() -> None:
    held, missed = drawn(case(8e6, 8e6, 1e6), case(8e6, 11e6, 1e6)).findall(f"{SVG}circle")
    assert held.get("fill") != missed.get("fill")


def test_everything_lies_within_the_picture() -> None:
    for mpps in (0.03, 1, 12, 148):
        picture_ = drawn(case(mpps * 1e6, mpps * 1e6, mpps * 1e5))
        places = [float(one.get(name, "0")) for one in picture_.iter() for name in ("x2", "y1", "cx", "cy")]
        assert 0 <= min(places) <= max(places) <= 420
