# SPDX-License-Identifier: Apache-2.0
"""fastpath-length: a chain of one function against a chain of six, both with the fast path.

Both translate addresses, so both rewrite them; the longer one also checks, balances, inspects and routes.
"""

from __future__ import annotations

from bench.fastpath import against, chain_of_labs_lean, with_fastpath
from bench.pairs import Line
from weir.plan.lean import LeanChain, chain_of_text

FIREWALL = "firewall:default=permit"


def run() -> Line:
    """Ratio of the cycles of one to those of six; at most 15 % more are asked for."""
    nat, dpi, l3fwd = chain_of_labs_lean("a-rtc").stages
    acl, lb, _ = chain_of_labs_lean("b-rtc").stages
    (firewall,) = chain_of_text(FIREWALL).stages
    short, long = (
        with_fastpath(LeanChain(f"{len(stages)} functions", stages))
        for stages in ((nat,), (acl, lb, firewall, nat, dpi, l3fwd))
    )
    return against("fastpath-length", long, short, target=1 / 1.15)
