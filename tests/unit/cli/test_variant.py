# SPDX-License-Identifier: Apache-2.0
"""Which variant of a command the options ask for."""

from __future__ import annotations

from typing import Any

import pytest

from weir.cli.exits import CommandError
from weir.cli.variant import Variant, chosen

MODEL = Variant("published", "model", "--model published", frozenset({"cores", "as_json"}), value="published")
LAB = Variant("lab", "lab", "a LAB", frozenset({"cores", "cpu_ghz", "as_json"}))
NOTHING = {"model": None, "lab": None, "cores": None, "cpu_ghz": None, "as_json": False}


def of(**given: Any) -> str:
    return chosen((MODEL, LAB), NOTHING | given)


def test_the_parameter_that_asks_for_a_variant_chooses_it() -> None:
    assert of(model="published", cores=2) == "published"
    assert of(lab="x.yml", cpu_ghz=2.0, as_json=True) == "lab"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"cores": 2}, "expected one of --model published, a LAB; there is none of them"),
        ({"model": "published", "lab": "x.yml"}, "there is --model published and a LAB"),
        ({"model": "publishd"}, r"unknown --model 'publishd'; known: published \(did you mean published\?\)"),
        ({"model": "published", "cpu_ghz": 1.0}, "--model published does not go with --cpu-ghz"),
    ],
)
def test_options_that_ask_for_none_or_two_or_do_not_go_together_are_refused(
    given: dict[str, Any], said: str
) -> None:
    with pytest.raises(CommandError, match=said):
        of(**given)
