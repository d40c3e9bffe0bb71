# SPDX-License-Identifier: Apache-2.0
"""The cost model's page: how far off its rates are from what was measured, and what it knows."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

from markupsafe import Markup
from starlette.datastructures import QueryParams

from weir.report import numbers
from weir.report.page.markup import sheet, tag
from weir.results.model import ModelDocument, ModelTrial
from weir.store.connection import StoreError
from weir.store.model_file import default_model_path, read_model
from weir.web.page import Page
from weir.web.reading import Reading

SIZE, EDGE, MARGIN = 460, 14, 44
"""Of the picture, in SVG user units."""
TEN_PERCENT = 0.1


def page_of(place: Path | None) -> Callable[[Reading, object, QueryParams], Page]:
    """Of the model in that file; None: the machine's own."""

    def page(_reading: Reading, _path: object, _query: QueryParams) -> Page:
        path = place or default_model_path()
        try:
            document = read_model(path)
        except StoreError as error:
            return Page("model", "Cost model", {"model": None, "why": str(error)})
        quality = document.quality
        facts = [
            ("lab", document.lab),
            ("technology", document.technology),
            ("calibrated", document.created_at[:16].replace("T", " ") + " UTC"),
            ("Weir", document.weir),
            ("machine", f"{document.fingerprint.cpu}, {document.fingerprint.cores} cores"),
            ("trials", str(len(document.trials))),
        ]
        said = [
            ("mean error of fitted rates", numbers.percent(quality.mean_error)),
            ("worst", numbers.percent(quality.worst_error)),
            ("left out, root mean square", numbers.percent(quality.predicted_deviation)),
        ]
        fields = {
            "model": document,
            "facts": facts,
            "said": said,
            "picture": picture(document.trials),
            "trials": _trials(document),
            "left_out": _left_out(document),
            "parameters": _parameters(document),
        }
        return Page("model", "Cost model", fields)

    return page


def picture(trials: list[ModelTrial]) -> Markup | None:
    """Fitted over measured rates, both logarithmic; the band is 10 % to either side. None without trials."""
    points = [
        (one.measured_pps, one.fitted_pps) for one in trials if min(one.measured_pps, one.fitted_pps) > 0
    ]
    if not points:
        return None
    logs = [math.log10(one) for pair in points for one in pair]
    low, high = math.floor(min(logs) * 4 - 0.2) / 4, math.ceil(max(logs) * 4 + 0.2) / 4

    def at(value: float) -> float:
        return round((math.log10(value) - low) / (high - low) * (SIZE - MARGIN - EDGE), 1)

    def across(value: float) -> float:
        return MARGIN + at(value)

    def up(value: float) -> float:
        return round(SIZE - MARGIN - at(value), 1)

    first, last = 10**low, 10**high
    off = 1 + TEN_PERCENT
    corners = [
        (first, first * off),
        (last / off, last),
        (last, last),
        (last, last / off),
        (first * off, first),
        (first, first),
    ]
    band = tag("polygon", points=" ".join(f"{across(x)},{up(y)}" for x, y in corners), class_="band")
    line = tag("line", x1=across(first), y1=up(first), x2=across(last), y2=up(last), class_="limit")
    ticks = [10**n * factor for n in range(math.floor(low), math.ceil(high) + 1) for factor in (1, 2, 5)]
    drawn: list[Markup] = [band]
    for value in (one for one in ticks if first <= one <= last):
        name = numbers.times(value / 1e6) if value < 1e9 else f"{value / 1e6:.0f}"
        drawn += [
            tag("line", x1=MARGIN, x2=SIZE - EDGE, y1=up(value), y2=up(value), class_="hair"),
            tag("text", name, x=MARGIN - 6, y=up(value) + 3.5, class_="up"),
            tag("text", name, x=across(value), y=SIZE - MARGIN + 15, class_="across"),
        ]
    drawn.append(line)
    drawn += [
        tag(
            "circle",
            tag("title", _sentence(one)),
            cx=across(one.measured_pps),
            cy=up(one.fitted_pps),
            r=3.6,
            class_="l0",
        )
        for one in trials
        if min(one.measured_pps, one.fitted_pps) > 0
    ]
    middle = (SIZE - MARGIN + EDGE) / 2
    drawn += [
        tag("text", "measured, Mpps", x=(MARGIN + SIZE - EDGE) / 2, y=SIZE - 6, class_="across"),
        tag("text", "fitted, Mpps", x=10, y=middle, class_="across", transform=f"rotate(-90 10 {middle})"),
    ]
    title = tag("title", "Fitted over measured rates; the table below has the numbers.")
    return tag("svg", title, drawn, viewBox=f"0 0 {SIZE} {SIZE}", role="img", class_="chart")


def _error(trial: ModelTrial) -> float | None:
    return trial.fitted_pps / trial.measured_pps - 1 if trial.measured_pps > 0 else None


def _signed(error: float | None) -> str:
    return numbers.NONE if error is None else f"{error + 0.0:+.1%}"  # no -0


def _sentence(trial: ModelTrial) -> str:
    fitted, measured = numbers.mpps(trial.fitted_pps), numbers.mpps(trial.measured_pps)
    return f"{trial.text}: fitted {fitted}, measured {measured} Mpps"


def _trials(document: ModelDocument) -> Markup:
    """The worst first."""
    ordered = sorted(document.trials, key=lambda one: -abs(_error(one) or 0.0))
    lines = [
        [one.text, numbers.mpps(one.measured_pps), numbers.mpps(one.fitted_pps), _signed(_error(one))]
        for one in ordered
    ]
    return sheet(
        "Trials of the calibration",
        ("set-up", "measured, Mpps", "fitted, Mpps", "error"),
        lines,
        1,
        wrap=True,
    )


def _left_out(document: ModelDocument) -> Markup | None:
    """Errors are logarithms of measured over predicted: their sign is turned, so that + is too high."""
    lines = [
        [one.text, _signed(math.expm1(-one.conditional_error)), _signed(math.expm1(-one.blind_error))]
        for one in document.quality.predicted
    ]
    if not lines:
        return None
    head = ("set-up", "in the state it was measured in", "in a state not known")
    return sheet("Predicted without their own measurements", head, lines, 1, wrap=True)


def _parameters(document: ModelDocument) -> Markup:
    lines = [[one.name, f"{one.cycles:.1f}", f"± {one.deviation_cycles:.1f}"] for one in document.parameters]
    return sheet("What each part costs", ("part", "cycles", "standard deviation"), lines, 1)
