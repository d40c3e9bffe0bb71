# SPDX-License-Identifier: Apache-2.0
"""generator-fields: what fields that change from packet to packet cost the generator, against flows alone."""

from __future__ import annotations

from dataclasses import replace

from bench.data_plane import generator, offered_pps, stream, weir_dp
from bench.pairs import Line, interleave, line
from weir.protocol import DataPlaneClient
from weir.protocol.traffic import PacketFieldConfig, TrafficConfigure

CORE = 1
SECONDS = 0.5
FLOWS = 1024
TUPLE = (
    PacketFieldConfig(field="src_ip", order="random", from_=0xC6120000, count=65536),
    PacketFieldConfig(field="dst_ip", order="random", from_=0xC6130000, count=65536),
    PacketFieldConfig(field="src_port", order="random", from_=1024, count=64512),
    PacketFieldConfig(field="dst_port", order="random", values=(53, 80, 443), weights=(1, 2, 7)),
)
"""A random five-tuple for each packet."""


def run() -> Line:
    """Ratio of packets a second: a random five-tuple to 1024 flows; in the detail one random port."""
    with weir_dp(CORE) as client:
        generator(client, CORE, flows=FLOWS)
        four, one = (_against(client, fields) for fields in (TUPLE, TUPLE[2:3]))
    other = {"ratio": one.ratio, "min": one.min, "max": one.max, **one.detail}
    return replace(four, detail={**four.detail, "one_random_port": other})


def _against(client: DataPlaneClient, fields: tuple[PacketFieldConfig, ...]) -> Line:
    plain = stream("out", frame_bytes=64, flows=FLOWS)
    changing = TrafficConfigure(streams=(plain.streams[0].model_copy(update={"fields": fields}),))

    def pps(traffic: TrafficConfigure) -> float:
        client.configure_traffic(traffic)
        return offered_pps(client, SECONDS)

    taken = interleave(lambda: pps(changing), lambda: pps(plain))
    return line("generator-fields", taken, target=None, unit="pps")
