# SPDX-License-Identifier: Apache-2.0
"""l3fwd-wire, l3fwd-fastclick-wire: l3fwd against DPDK's example and FastClick's router, each as a system under
test on a vhost-user wire.

`bench.on_a_wire` says how, `bench.l3fwd_dpdk` what each does for a packet. 1,000 routes of /28 that lie side by
side, and 16,000 flows of 64-byte frames, one to each address of them: a generator's flows count up. FastClick
takes part where FASTCLICK names it.
"""

from __future__ import annotations

import ipaddress
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from bench import l3fwd_dpdk, l3fwd_fastclick
from bench.data_plane import stream
from bench.dpdk_peer import DpdkPeer
from bench.on_a_wire import CORE, System, compared, weir_system
from bench.pairs import Line
from bench.router import NEXT_HOP, ROUTES, SRC_MAC, program
from weir.protocol.configuration import StageConfig
from weir.protocol.traffic import FlowConfig, TrafficConfigure

FIRST = ipaddress.IPv4Address("10.0.0.0")
PREFIX_BITS, ADDRESSES = 28, 16
TARGET, TARGET_FASTCLICK = 1.0, 2.0


def _prefixes() -> list[str]:
    return [f"{FIRST + index * ADDRESSES}/{PREFIX_BITS}" for index in range(ROUTES)]


def _traffic(port: str) -> TrafficConfigure:
    (one,) = stream(port, frame_bytes=64, flows=1, to=port).streams
    template = one.template.model_copy(update={"dst_ip": str(FIRST)})
    flows = FlowConfig(count=ROUTES * ADDRESSES, vary=("dst_ip",))
    return TrafficConfigure(streams=(one.model_copy(update={"template": template, "flows": flows}),))


@contextmanager
def _ours(devargs: str) -> Iterator[Callable[[], AbstractContextManager[None]]]:
    with tempfile.TemporaryDirectory(prefix="weir-bench-") as folder:
        routes = Path(folder, "routes")
        routes.write_text("".join(f"{prefix} {NEXT_HOP}\n" for prefix in _prefixes()))
        stage = StageConfig(nf="l3fwd", options={"routes": str(routes), "src_mac": SRC_MAC})
        with weir_system(stage, devargs) as turn:
            yield turn


def _peer(name: str, binary: str, application: Callable[[Path, Iterable[str]], list[str]]) -> System:
    @contextmanager
    def system(devargs: str) -> Iterator[Callable[[], AbstractContextManager[None]]]:
        with tempfile.TemporaryDirectory(prefix="weir-bench-") as folder:
            given = application(Path(folder), _prefixes())
            with DpdkPeer(
                binary, name, core=CORE, devargs=devargs, application=given, fed=False
            ) as running:
                yield running.turn

    return system


def run() -> list[Line]:
    """Ratios of packets a second: at full load, NDR and PDR."""
    example = _peer("l3fwd", l3fwd_dpdk.example(), l3fwd_dpdk.application)
    return compared("l3fwd-wire", (_ours, example), _traffic, target=TARGET)


def run_fastclick() -> list[Line]:
    """The same to FastClick. SkipError without it."""
    click = program(l3fwd_fastclick.VARIABLE, "FastClick's click")
    peer = _peer("fastclick", click, l3fwd_fastclick.application)
    return compared("l3fwd-fastclick-wire", (_ours, peer), _traffic, target=TARGET_FASTCLICK)
