# SPDX-License-Identifier: Apache-2.0
"""What was found beside its limit: no reader wonders why it is missed."""

from __future__ import annotations

import pytest

from weir.base.limit_text import found_text, limit_text


@pytest.mark.parametrize(
    ("found", "limit", "said"),
    [
        (30.04, 30, "30.04"),
        (29.9996, 30, "29.9996"),
        (30.0, 30, "30"),
        (3.2, 30, "3.2"),
        (0.051234, 0.05, "0.0512"),
        (1 / 9, 0.0, "0.111"),
        (0.0, 0.05, "0"),
        (999.7, 1500, "1,000"),
        (999.7, 1000, "999.7"),
        (19_449.4, 10_000, "19,449"),
        (9_999.7, 10_000, "9,999.7"),
        (100 + 1e-15, 100, "100"),
    ],
)
def test_what_was_found_has_as_many_digits_as_it_takes_to_differ_from_its_limit(
    found: float, limit: float, said: str
) -> None:
    assert found_text(found, limit) == said


@pytest.mark.parametrize(
    ("limit", "said"),
    [(30, "30"), (150.5, "150.5"), (0.005, "0.005"), (1e7, "10,000,000"), (100.375, "100.375")],
)
def test_a_limit_has_all_the_digits_that_it_was_given(limit: float, said: str) -> None:
    assert limit_text(limit) == said
