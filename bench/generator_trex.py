# SPDX-License-Identifier: Apache-2.0
"""generator-trex: 64-byte frames with one changing field from one core, against TRex's published rate.

TRex does not run here, so the other side is a constant: 14.4 million packets a second and core with one
changing field, as its makers publish. They measured with a network card; this is DPDK's null port, which
costs less, so the ratio flatters Weir by what a card's driver takes. `one_field_random` in the detail: a
field that is drawn.
"""

from __future__ import annotations

from dataclasses import replace

from bench.data_plane import generator, offered_pps, stream, weir_dp
from bench.pairs import PAIRS, Line, line
from weir.protocol.traffic import PacketFieldConfig

CORE = 1
SECONDS = 0.5
PUBLISHED_PPS = 14.4e6
COUNTED, DRAWN = (
    PacketFieldConfig(field="src_ip", order=order, from_=0xC6120000, count=65536)
    for order in ("in-turn", "random")
)


def run() -> Line:
    """Ratio of packets a second to the constant."""
    counted, drawn = (_against(field) for field in (COUNTED, DRAWN))
    other = {"ratio": drawn.ratio, "min": drawn.min, "max": drawn.max, **drawn.detail}
    return replace(counted, detail={**counted.detail, "one_field_random": other})


def _against(field: PacketFieldConfig) -> Line:
    plain = stream("out", frame_bytes=64, flows=1)
    changing = plain.model_copy(
        update={"streams": (plain.streams[0].model_copy(update={"fields": (field,)}),)}
    )
    with weir_dp(CORE) as client:
        generator(client, CORE, flows=1)
        client.configure_traffic(changing)
        taken = [(offered_pps(client, SECONDS), PUBLISHED_PPS) for _ in range(PAIRS)]
    return line("generator-trex", taken, target=1.0, unit="pps")
