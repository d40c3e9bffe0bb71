# SPDX-License-Identifier: Apache-2.0
"""The committed description of the network functions is what the built weir-dp says of itself."""

from __future__ import annotations

import json

import pytest

from tools.nf_description import COMMITTED, WEIR_DP, described
from weir.lab.nf import network_functions


@pytest.mark.skipif(not WEIR_DP.exists(), reason="weir-dp is not built: make native")
def test_the_committed_description_is_what_weir_dp_says() -> None:
    committed = json.loads(COMMITTED.read_text(encoding="utf-8"))
    assert committed == described(), "run: python -m tools.nf_description"


def test_the_committed_description_can_be_read() -> None:
    functions = network_functions()
    assert not functions["sink"].returns
    assert functions["l2fwd"].returns
    mode = functions["l2fwd"].option("mode")
    assert mode is not None
    assert mode.accepts(mode.default or "")


def test_every_drop_reason_is_a_symbol_with_a_sentence() -> None:
    for nf in network_functions().values():
        for reason in nf.drop_reasons:
            assert reason.symbol.isidentifier()
            assert reason.sentence[0].isupper()
            assert reason.sentence.endswith(".")
