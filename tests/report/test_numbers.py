# SPDX-License-Identifier: Apache-2.0
"""Numbers as people read them."""

from __future__ import annotations

import pytest

from weir.report import numbers


@pytest.mark.parametrize(
    ("ratio", "said"),
    [
        (None, numbers.NONE), (0.0, "0"), (0.000013, "0.0013 %"), (1e-6, "0.0001 %"), (1e-7, "0.00001 %"),
        (1.26e-9, "0.00000013 %"), (1e-5, "0.001 %"), (0.005, "0.5 %"), (0.691, "69 %"),
        (0.994, "99 %"), (0.9974, "99.7 %"), (0.9996, "above 99.9 %"), (1.0, "100 %"),
    ],
)  # fmt: skip
def test_a_loss_ratio_never_needs_an_exponent(ratio: float | None, said: str) -> None:
    assert numbers.share(ratio) == said
