# SPDX-License-Identifier: Apache-2.0
"""l3fwd-wire: l3fwd against DPDK's example, both as systems under test on a vhost-user wire.

`bench.on_a_wire` says how, `bench.l3fwd_dpdk` what each does for a packet. 1,000 routes of /28 that lie side
by side, and 16,000 flows of 64-byte frames, one to each address of them: a generator's flows count up.
"""

from __future__ import annotations

import ipaddress
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from bench import l3fwd_dpdk
from bench.data_plane import stream
from bench.dpdk_peer import DpdkPeer
from bench.on_a_wire import CORE, System, Turn, compared, weir_system
from bench.pairs import Line
from bench.router import NEXT_HOP, ROUTES, SRC_MAC
from weir.protocol.configuration import StageConfig
from weir.protocol.traffic import FlowConfig, TrafficConfigure

FIRST = ipaddress.IPv4Address("10.0.0.0")
PREFIX_BITS, ADDRESSES = 28, 16
TARGET = 1.0


def _prefixes() -> list[str]:
    return [f"{FIRST + index * ADDRESSES}/{PREFIX_BITS}" for index in range(ROUTES)]


def routed_traffic(port: str) -> TrafficConfigure:
    """A packet to each address of the routes in turn, from and to that port."""
    (one,) = stream(port, frame_bytes=64, flows=1, to=port).streams
    template = one.template.model_copy(update={"dst_ip": str(FIRST)})
    flows = FlowConfig(count=ROUTES * ADDRESSES, vary=("dst_ip",))
    return TrafficConfigure(streams=(one.model_copy(update={"template": template, "flows": flows}),))


@contextmanager
def _ours(devargs: str) -> Iterator[Turn]:
    with tempfile.TemporaryDirectory(prefix="weir-bench-") as folder:
        routes = Path(folder, "routes")
        routes.write_text("".join(f"{prefix} {NEXT_HOP}\n" for prefix in _prefixes()))
        stage = StageConfig(nf="l3fwd", options={"routes": str(routes), "src_mac": SRC_MAC})
        with weir_system(stage, devargs) as turn:
            yield turn


def against(
    name: str, peer: str, binary: str, application: Callable[[Path, Iterable[str]], list[str]], target: float
) -> list[Line]:
    """Ratios of l3fwd to a router that is a DPDK program. `application`: its arguments, given a folder for
    its files, and the prefixes."""
    return compared(name, (_ours, router(peer, binary, application)), routed_traffic, target=target)


def router(name: str, binary: str, application: Callable[[Path, Iterable[str]], list[str]]) -> System:
    """That program with the routes."""

    @contextmanager
    def system(devargs: str) -> Iterator[Turn]:
        with tempfile.TemporaryDirectory(prefix="weir-bench-") as folder:
            given = application(Path(folder), _prefixes())
            with DpdkPeer(binary, name, core=CORE, devargs=devargs, application=given, fed=False) as running:
                yield running.turn

    return system


def run() -> list[Line]:
    """Ratios of packets a second: at full load, NDR and PDR."""
    return against("l3fwd-wire", "l3fwd", l3fwd_dpdk.example(), l3fwd_dpdk.application, TARGET)
