# SPDX-License-Identifier: Apache-2.0
"""l2fwd-wire: l2fwd in mode mac-swap against testpmd macswap, each a system under test on a vhost-user wire.

`bench.on_a_wire` says how; 64-byte frames of 1,024 flows.
"""

from __future__ import annotations

from contextlib import AbstractContextManager

from bench.data_plane import stream
from bench.on_a_wire import Turn, compared, testpmd_system, weir_system
from bench.pairs import Line
from weir.protocol.configuration import StageConfig

FLOWS = 1024
TARGET = 1.0


def _ours(devargs: str) -> AbstractContextManager[Turn]:
    return weir_system(StageConfig(nf="l2fwd", options={"mode": "mac-swap"}), devargs)


def run() -> list[Line]:
    """Ratios of packets a second: at full load, NDR and PDR."""
    return compared(
        "l2fwd-wire",
        (_ours, testpmd_system("macswap")),
        lambda port: stream(port, frame_bytes=64, flows=FLOWS, to=port),
        target=TARGET,
    )
