# SPDX-License-Identifier: Apache-2.0
"""What an SMF did by N4 is in the result, and each report says it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest

from weir.report import markdown, terminal
from weir.report.page import document as page
from weir.results.result import Result
from weir.results.setup import N4Figures

from .synthetic import result

COUNTED = {
    "associations": 1,
    "sessions": 900,
    "established": 1000,
    "modified": 7,
    "deleted": 100,
    "accepted": 1108,
    "refused": 3,
    "refused_rule_failure": 2,
    "refused_version": 1,
    "refused_no_resources": 0,
    "repeated": 4,
    "not_associated": 5,
    "malformed": 6,
}


def test_causes_that_nobody_was_given_are_left_out() -> None:
    found = N4Figures.of("upf", COUNTED)
    assert found.refused_by == {"rule_failure": 2, "version": 1}
    assert (found.function, found.sessions, found.refused) == ("upf", 900, 3)


WRITTEN: dict[str, Callable[[Result], str]] = {
    "markdown": markdown.render,
    "terminal": partial(terminal.render, whole=True),
    "page": page.document,
}


@pytest.mark.parametrize("written", WRITTEN)
def test_reports_say_what_was_done_and_what_was_refused_or_ignored(written: str) -> None:
    made = result()
    made.setups[0].n4 = [N4Figures.of("upf", COUNTED)]
    text = " ".join(WRITTEN[written](made).split())
    for part in (
        "900 at the end, of 1 association; 1,000 established, 7 modified, 100 deleted",
        "1,108 accepted, 3 refused (rule failure 2, version 1), 4 repeated",
        "ignored: 5 of peers not associated, 6 malformed",
    ):
        assert part in text
