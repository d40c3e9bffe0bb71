# SPDX-License-Identifier: Apache-2.0
"""generator-flowgen: varied five-tuples with right checksums and stamps, against testpmd's flowgen.

Both send to a null port that has nothing to receive. flowgen takes and frees whatever its port has, and a
null port as it comes always has a burst: work that Weir's generator does not do. The ratio to flowgen on such
a port is no comparison of generators; the detail has it, as `flowgen_that_also_receives`.
"""

from __future__ import annotations

from dataclasses import replace

from bench.data_plane import generator, offered_pps, weir_dp
from bench.pairs import Line, interleave, line
from bench.testpmd import Testpmd
from weir.protocol import DataPlaneClient

CORE = 1
SECONDS = 0.5
FLOWS = 1024


def run() -> Line:
    """Ratio of packets a second."""
    with weir_dp(CORE) as client:
        generator(client, CORE, flows=FLOWS)
        silent, receiving = (_against(client, devargs) for devargs in ("net_null0,no-rx=1", "net_null0"))
    other = {"ratio": receiving.ratio, "min": receiving.min, "max": receiving.max, **receiving.detail}
    return replace(silent, detail={**silent.detail, "flowgen_that_also_receives": other})


def _against(client: DataPlaneClient, devargs: str) -> Line:
    with Testpmd("flowgen", core=CORE, devargs=[devargs]) as testpmd:
        taken = interleave(lambda: offered_pps(client, SECONDS), lambda: testpmd.rate_pps(SECONDS))
    return line("generator-flowgen", taken, target=1.3, unit="pps")
