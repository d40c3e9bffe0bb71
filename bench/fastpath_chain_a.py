# SPDX-License-Identifier: Apache-2.0
"""fastpath-chain-a: chain A: address translation, inspection, routing, with the fast path and without."""

from __future__ import annotations

from bench.fastpath import against, chain_of_labs_lean, with_fastpath
from bench.pairs import Line


def run() -> Line:
    """Ratio of cycles a packet; 2 or more is asked for."""
    chain = chain_of_labs_lean("a-rtc")
    return against("fastpath-chain-a", with_fastpath(chain), chain, target=2.0)
