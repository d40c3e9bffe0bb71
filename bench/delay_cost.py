# SPDX-License-Identifier: Apache-2.0
"""delay-cost: a receiver that measures latency, IPDV and jitter, against the same that only counts."""

from __future__ import annotations

from bench.data_plane import sent, stream, weir_dp
from bench.pairs import Line, interleave, line
from weir.dataplane import DataPlaneClient
from weir.dataplane.requests import DelayWanted

CORE = 1
SECONDS = 0.05  # short, and many of them: what drifts, drifts for both of a pair
NEVER_NS = 10**12  # settles longer than the run: nothing is measured


def run() -> Line:
    """Ratio of the receiver's cycles a packet."""
    wire = [("left", "right"), ("right", "left")]
    with weir_dp(CORE) as client:
        client.configure(
            {
                "ports": [{"name": a, "kind": "memory", "peer": b} for a, b in wire],
                "areas": [
                    {"name": "generator", "core": CORE, "kind": "generator", "port": "left"},
                    {"name": "receiver", "core": CORE, "kind": "receiver", "port": "right"},
                ],
            }
        )
        one = {**stream("left", frame_bytes=64, flows=1000), "to": "right"}
        client.configure_traffic({"streams": [one]})
        taken = interleave(
            lambda: _cycles(client, DelayWanted(variation=True)),
            lambda: _cycles(client, DelayWanted(settle_ns=NEVER_NS)),
            pairs=150,
        )
    return line("delay-cost", taken, target=0.97, unit="cycles", less_is_better=True)


def _cycles(client: DataPlaneClient, delay: DelayWanted) -> float:
    """Of the receiver's polls with packets, for each packet."""
    client.start()
    before = client.ledger()
    client.start_traffic({0: 0}, round(SECONDS * 1e9), 10**8, delay)
    result = sent(client)
    areas = [
        next(area for area in ledger.areas if area.name == "receiver") for ledger in (before, client.ledger())
    ]
    return (areas[1].busy_cycles - areas[0].busy_cycles) / result.streams[0].delivered
