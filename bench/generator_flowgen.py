# SPDX-License-Identifier: Apache-2.0
"""generator-flowgen: varied five-tuples with right checksums and stamps, against testpmd's flowgen.

flowgen as it comes also receives (and frees) what the null port gives it; without that it is faster.
The ratio is to flowgen as it comes; `ratio_without_rx` in the JSON is to flowgen on a port that is silent.
"""

from __future__ import annotations

from dataclasses import replace

from bench.data_plane import generator, offered_pps, weir_dp
from bench.pairs import Line, interleave, line
from bench.testpmd import Testpmd

CORE = 1
SECONDS = 0.5
FLOWS = 1024


def run() -> Line:
    """Ratio of packets a second."""
    with weir_dp(CORE) as client:
        generator(client, CORE, flows=FLOWS)
        lines = []
        for devargs in ("net_null0", "net_null0,no-rx=1"):
            with Testpmd("flowgen", core=CORE, devargs=[devargs]) as testpmd:
                taken = interleave(lambda: offered_pps(client, SECONDS), lambda: testpmd.rate_pps(SECONDS))
            lines.append(line("generator-flowgen", taken, target=1.3, unit="pps"))
    both, without = lines
    spread = {"ratio_without_rx": without.ratio, "min_without_rx": without.min, "max_without_rx": without.max}
    return replace(both, detail={**both.detail, **spread})
