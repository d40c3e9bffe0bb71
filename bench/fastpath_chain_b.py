# SPDX-License-Identifier: Apache-2.0
"""fastpath-chain-b: chain B: rules, balancing, routing, with the fast path and without."""

from __future__ import annotations

from bench.fastpath import against, chain_of_labs_lean, with_fastpath
from bench.pairs import Line


def run() -> Line:
    """Ratio of cycles a packet; 2 or more is asked for."""
    chain = chain_of_labs_lean("b-rtc")
    return against("fastpath-chain-b", with_fastpath(chain), chain, target=2.0)
