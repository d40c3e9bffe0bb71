# SPDX-License-Identifier: Apache-2.0
"""l2fwd-wire: l2fwd in mode mac-swap against testpmd macswap, each a system under test on a vhost-user wire.

`bench.on_a_wire` says how; 64-byte frames of 1,024 flows.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

from bench.data_plane import stream
from bench.on_a_wire import CORE, Turn, compared, weir_system
from bench.pairs import Line
from bench.testpmd import Testpmd
from weir.protocol.configuration import StageConfig

FLOWS = 1024
TARGET = 1.0


def _ours(devargs: str) -> AbstractContextManager[Turn]:
    return weir_system(StageConfig(nf="l2fwd", options={"mode": "mac-swap"}), devargs)


@contextmanager
def _testpmd(devargs: str) -> Iterator[Turn]:
    with Testpmd("macswap", core=CORE, devargs=[devargs]) as testpmd:

        @contextmanager
        def turn() -> Iterator[None]:
            testpmd.command("start")
            try:
                yield
            finally:
                testpmd.command("stop")

        yield turn


def run() -> list[Line]:
    """Ratios of packets a second: at full load, NDR and PDR."""
    return compared(
        "l2fwd-wire",
        (_ours, _testpmd),
        lambda port: stream(port, frame_bytes=64, flows=FLOWS, to=port),
        target=TARGET,
    )
