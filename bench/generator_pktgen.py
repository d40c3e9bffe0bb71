# SPDX-License-Identifier: Apache-2.0
"""generator-pktgen: 64-byte frames over a virtio-user/vhost wire, against Pktgen-DPDK 23.06.1.

The sender has CORE and the virtio-user end (a packed ring of 1024). At the vhost end a weir-dp on TAKER_CORE
takes and frees; its count is the rate, the same way for both, so what a sender only claims does not count.
(The other way round is not possible: Pktgen refuses a vhost port, which has no MTU to set.)

`ratio` is like against like: both vary five-tuples, Pktgen in range mode. Weir builds and stamps every packet
anew; Pktgen writes its packets once and sends them again and again. `…_fixed` in the JSON is one flow against
Pktgen's single packet, its fastest. The port has a link speed of 100 Gbit/s: Pktgen paces by it, takes an
unknown one for 10 Gbit/s, and would stop at 14.88 Mpps.

`taker_busy_ours`, `taker_busy_peer`: the share of the taker's time in polls that brought packets. Below 1 the
sender's core is the limit, not the taker's.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import median

from bench.data_plane import MEMORY_MB, generator, send, sent, stream, taken, taker, weir_dp
from bench.hugepages import hugepages
from bench.pairs import Line, interleave, line
from bench.pktgen import MEMORY_MB as PKTGEN_MB
from bench.pktgen import Pktgen, program
from weir.protocol import DataPlaneClient

CORE = 1
TAKER_CORE = 0
SECONDS = 0.2
PAIRS = 20
MARGIN_S = 0.2  # the sender begins before the taker is looked at, and ends after
TARGET = 1.2
FLOWS = 1024
VARIED = ("enable 0 range",)
LINK_MBPS = 100_000  # no limit here


@dataclass
class Wire:
    """A taker, and the device arguments of the end that a sender opens."""

    taker: DataPlaneClient
    devargs: str
    busy: list[float] = field(default_factory=list)

    def taken_pps(self) -> float:
        """While a sender sends."""
        self.taker.start()
        found = taken(self.taker, SECONDS)
        self.taker.stop()
        self.busy.append(found.busy)
        return found.pps


@contextmanager
def _wire(index: int) -> Iterator[Wire]:
    with tempfile.TemporaryDirectory(prefix="weir-bench-") as folder, weir_dp(TAKER_CORE) as client:
        path = Path(folder) / "wire.sock"
        client.configure(taker(TAKER_CORE, f"net_vhost{index},iface={path},queues=1"))
        devargs = f"net_virtio_user{index},path={path},queues=1,queue_size=1024,packed_vq=1,speed={LINK_MBPS}"
        yield Wire(client, devargs)


def _against(sender: DataPlaneClient, ours: Wire, *, flows: int, commands: tuple[str, ...] = ()) -> Line:
    sender.configure_traffic(stream("out", frame_bytes=64, flows=flows))
    ours.busy.clear()

    def weir_pps() -> float:
        send(sender, SECONDS + MARGIN_S)
        pps = ours.taken_pps()
        sent(sender)
        return pps

    with (
        _wire(1) as theirs,
        closing(Pktgen(core=CORE, devargs=theirs.devargs, commands=commands)) as pktgen,
    ):

        def pktgen_pps() -> float:
            with pktgen.sending():
                return theirs.taken_pps()

        found = line("generator-pktgen", interleave(weir_pps, pktgen_pps, PAIRS), target=TARGET, unit="pps")
    busy = {"taker_busy_ours": median(ours.busy), "taker_busy_peer": median(theirs.busy)}
    return replace(found, detail={**found.detail, **busy})


def run() -> Line:
    """Ratio of packets a second. SkipError without Pktgen."""
    program()
    with hugepages(PKTGEN_MB + 3 * MEMORY_MB), _wire(0) as ours, weir_dp(CORE) as sender:
        generator(sender, CORE, flows=FLOWS, devargs=ours.devargs)
        varied = _against(sender, ours, flows=FLOWS, commands=VARIED)
        fixed = _against(sender, ours, flows=1)
    both = {"ratio": fixed.ratio, "min": fixed.min, "max": fixed.max, **fixed.detail}
    return replace(varied, detail={**varied.detail, **{f"{key}_fixed": value for key, value in both.items()}})
