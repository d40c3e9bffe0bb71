# SPDX-License-Identifier: Apache-2.0
"""generator-txonly: one fixed 64-byte frame on a null port, one core, against testpmd's txonly.

Weir's packets still carry stream, sequence and time; testpmd's do not.
"""

from __future__ import annotations

from bench.data_plane import generator, offered_pps, weir_dp
from bench.pairs import Line, interleave, line
from bench.testpmd import Testpmd

CORE = 1
SECONDS = 0.5


def run() -> Line:
    """Ratio of packets a second."""
    with weir_dp(CORE) as client, Testpmd("txonly", core=CORE, devargs=["net_null0,no-rx=1"]) as testpmd:
        generator(client, CORE, flows=1)
        taken = interleave(lambda: offered_pps(client, SECONDS), lambda: testpmd.rate_pps(SECONDS))
    return line("generator-txonly", taken, target=0.8, unit="pps")
