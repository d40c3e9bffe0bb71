# SPDX-License-Identifier: Apache-2.0
"""shaper-rate: what leaves a shaper that always has more, against the rates that it was given."""

from __future__ import annotations

from bench.data_plane import forwarded_pps, weir_dp
from bench.pairs import Line, one_figure
from tests.verbs import reset
from weir.protocol import DataPlaneClient
from weir.protocol.configuration import Configure

CORE = 1
SECONDS = 2.0
RATES_BPS = (1_000_000, 10_000_000, 100_000_000, 1_000_000_000)
FRAME_BYTES = 64 + 4  # of a null port, with FCS


def run() -> Line:
    """The smaller of got/asked and asked/got, of the rate that is the farthest off: 0.995 is an error of half
    a percent."""
    with weir_dp(CORE) as client:
        taken = [(_got_bps(client, rate_bps), float(rate_bps)) for rate_bps in RATES_BPS]
    worst = min(min(pair) / max(pair) for pair in taken)
    detail: dict[str, object] = {"got_bps": {str(int(asked)): got for got, asked in taken}}
    return one_figure("shaper-rate", worst, n=len(taken), target=0.995, detail=detail)


def _got_bps(client: DataPlaneClient, rate_bps: int) -> float:
    stage = {"nf": "shaper", "options": {"tenants": f"default rate_bps={rate_bps}", "layer": "l2"}}
    path = {"name": "through", "in": "null", "out": "null", "stages": [stage]}
    client.configure(
        Configure.model_validate(
            {
                "ports": [{"name": "null", "devargs": "net_null0"}],
                "areas": [{"name": "shaper", "core": CORE, "kind": "chain", "paths": [path]}],
            }
        )
    )
    got_bps = forwarded_pps(client, SECONDS) * FRAME_BYTES * 8
    reset(client)
    return got_bps
