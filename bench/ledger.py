# SPDX-License-Identifier: Apache-2.0
"""ledger: l2fwd on a null port with the ledger, against the same without it."""

from __future__ import annotations

from bench.data_plane import forwarded_pps, forwarder, weir_dp
from bench.pairs import Line, interleave, line
from tests.verbs import reset

CORE = 1
SECONDS = 0.5


def run() -> Line:
    """Ratio of packets a second."""
    with weir_dp(CORE) as client:

        def measured(*, ledger: bool) -> float:
            client.configure(forwarder(CORE, ledger=ledger))
            pps = forwarded_pps(client, SECONDS)
            reset(client)
            return pps

        taken = interleave(lambda: measured(ledger=True), lambda: measured(ledger=False), pairs=20)
    return line("ledger", taken, target=0.97, unit="pps")
