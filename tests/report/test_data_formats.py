# SPDX-License-Identifier: Apache-2.0
"""The JSON report loses nothing and keeps its schema."""

from __future__ import annotations

import json

import jsonschema
import pytest

from weir import report
from weir.report.data_formats import schema
from weir.results.result import Result

from .hostile import hostile
from .synthetic import result


@pytest.mark.parametrize("made", [result(), result(setups=[], finished_at=None), hostile(result(2))])
def test_json_read_back_is_the_same_result(made: Result) -> None:
    text = report.render(made, "json")
    assert Result.model_validate_json(text) == made


def test_each_trial_is_one_line_of_json() -> None:
    made = result()
    trials = [trial for _, case in made.cases() for trial in (*case.trials, *case.curve)]
    lines = report.render(made, "json").splitlines()
    assert sum(line.lstrip().startswith('{"purpose":') for line in lines) == len(trials)
    assert f'  "id": "{made.id}",' in lines


@pytest.mark.long
def test_json_is_valid_by_its_schema() -> None:
    jsonschema.validate(json.loads(report.render(result(), "json")), schema())


@pytest.mark.long
def test_schema_refuses_a_field_that_it_does_not_know() -> None:
    document = json.loads(report.render(result(), "json"))
    document["setups"][0]["cases"][0]["throughput"][0]["load_kpps"] = 1
    with pytest.raises(jsonschema.ValidationError, match="load_kpps"):
        jsonschema.validate(document, schema())


def test_unknown_format_names_the_known_ones() -> None:
    with pytest.raises(report.UnknownFormatError, match="terminal, json, csv, html"):
        report.render(result(), "pdf")


@pytest.mark.parametrize("name", list(report.FORMATS))
def test_the_same_result_gives_the_same_text(name: str) -> None:
    assert report.render(result(), name) == report.render(result(), name)
