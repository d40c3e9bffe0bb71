# SPDX-License-Identifier: Apache-2.0
"""delay-cost: a receiver that measures latency, IPDV and jitter, against the same that only counts.

As fast as the core can, where packets of one burst have one delay, and at a constant load, where each was due
at a time of its own: the dearer of the two.
"""

from __future__ import annotations

from bench.data_plane import sent, stream, weir_dp
from bench.pairs import Line, interleave, line
from weir.protocol import DataPlaneClient
from weir.protocol.configuration import Configure
from weir.protocol.traffic import DelayWanted

CORE = 1
SECONDS = 0.05  # short, and many of them: what drifts, drifts for both of a pair
NEVER_NS = 10**12  # settles longer than the run: nothing is measured
LOADS = {"as fast as possible": 0.0, "constant": 0.8}  # shares of what is carried; 0: as fast as possible


def run() -> Line:
    """Ratio of the receiver's cycles a packet."""
    wire = [("left", "right"), ("right", "left")]
    with weir_dp(CORE) as client:
        client.configure(
            Configure.model_validate(
                {
                    "ports": [{"name": a, "kind": "memory", "peer": b} for a, b in wire],
                    "areas": [
                        {"name": "generator", "core": CORE, "kind": "generator", "port": "left"},
                        {"name": "receiver", "core": CORE, "kind": "receiver", "port": "right"},
                    ],
                }
            )
        )
        client.configure_traffic(stream("left", frame_bytes=64, flows=1000, to="right"))
        most_pps = _run(client, 0, DelayWanted())[1]
        lines = {name: _pairs(client, share * most_pps) for name, share in LOADS.items()}
    dearest = min(lines.values(), key=lambda found: found.ratio)
    dearest.detail["loads"] = {
        name: {"ratio": found.ratio, "min": found.min, "max": found.max, **found.detail}
        for name, found in lines.items()
    }
    return dearest


def _pairs(client: DataPlaneClient, load_pps: float) -> Line:
    taken = interleave(
        lambda: _run(client, load_pps, DelayWanted(variation=True))[0],
        lambda: _run(client, load_pps, DelayWanted(settle_ns=NEVER_NS))[0],
        pairs=150,
    )
    return line("delay-cost", taken, target=0.97, unit="cycles", less_is_better=True)


def _run(client: DataPlaneClient, load_pps: float, delay: DelayWanted) -> tuple[float, float]:
    """Cycles of the receiver's polls with packets, for each packet; and the rate that was delivered."""
    client.start()
    before = client.ledger()
    client.start_traffic({0: load_pps}, round(SECONDS * 1e9), 10**8, delay)
    result = sent(client)
    areas = [
        next(area for area in ledger.areas if area.name == "receiver") for ledger in (before, client.ledger())
    ]
    delivered = result.streams[0].delivered
    return (areas[1].busy_cycles - areas[0].busy_cycles) / delivered, delivered / SECONDS
