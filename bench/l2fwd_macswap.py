# SPDX-License-Identifier: Apache-2.0
"""l2fwd-macswap: l2fwd in mode mac-swap, with the ledger, against testpmd's macswap on a null port."""

from __future__ import annotations

from bench.data_plane import forwarded_pps, forwarder, weir_dp
from bench.pairs import Line, interleave, line
from bench.testpmd import Testpmd

CORE = 1
SECONDS = 0.5


def run() -> Line:
    """Ratio of packets a second."""
    with weir_dp(CORE) as client, Testpmd("macswap", core=CORE, devargs=["net_null0"]) as testpmd:
        client.configure(forwarder(CORE, ledger=True))
        taken = interleave(lambda: forwarded_pps(client, SECONDS), lambda: testpmd.rate_pps(SECONDS))
    return line("l2fwd-macswap", taken, target=1.0, unit="pps")
