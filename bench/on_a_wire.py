# SPDX-License-Identifier: Apache-2.0
"""Two systems under test, each on a wire of the same kind, and one tester that has both wires.

A wire is a vhost-user link: the system under test has the vhost end, which copies packets, and one core; the
tester the virtio-user end, a packed ring of 1024, and the other core. So the system's core fills up first.
Whatever the tester sends comes back on the same wire; what it sent and did not get back is the system's loss.

The systems take turns, the other at rest: how many packets a second come back at full load, then searches for
NDR and PDR as of a lab, up to somewhat more than that. A pair at full load during which other programs or the
host had one of the two cores is taken again; `pairs_again` and `pairs_dropped` in the detail count these.
`refused_share_…` is of the packets at full load that found the ring full: where it is near 0, the tester was
the limit, not the system.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Literal

from bench.data_plane import MEMORY_MB, weir_dp
from bench.hugepages import hugepages
from bench.pairs import PAIRS, Line, SkipError, of_ratios
from bench.testpmd import Testpmd
from bench.undisturbed import OTHERS_SHARE_MAX, Onlookers, Pairs, onlookers, undisturbed_pairs
from weir.lab.measure import Goal, Measure, TrialOptions
from weir.measure.search import search
from weir.measure.tester import Counter, Traffic
from weir.measure.trial import TrialRunner
from weir.protocol import DataPlaneClient
from weir.protocol.configuration import ChainArea, Configure, PathConfig, PortConfig, StageConfig, TesterArea
from weir.protocol.tester import DataPlaneTester
from weir.protocol.traffic import TrafficConfigure

CORE, TESTER_CORE = 1, 0
ROUNDS = 6  # of searches: one more than an interval of the median needs
FULL_S = 0.3
SEARCH_S = 20.0
ABOVE = 1.2  # of what comes back at full load: the highest load tried
LOWEST = 0.05
RING = 1024
LINK_MBPS = 100_000  # no limit here
SOCKET_S = FORWARDING_S = 20.0
GOALS = (Goal(name="NDR", loss_ratio=0), Goal(name="PDR", loss_ratio=0.005))
MEASURE = Measure(goals=GOALS, trial=TrialOptions(duration_sum_s=1.0))

Turn = Callable[[], AbstractContextManager[None]]
System = Callable[[str], AbstractContextManager[Turn]]
"""Given the device arguments of its end; what it gives lets it forward inside the `with`, and not outside."""


@dataclass(frozen=True)
class Full:
    """One run at full load."""

    pps: float
    refused_share: float


@dataclass
class Found:
    """Of one system, a figure a round."""

    full: list[Full]
    ndr_pps: list[float | None] = field(default_factory=list)
    pdr_pps: list[float | None] = field(default_factory=list)


@dataclass(frozen=True)
class _NotReturned:
    """Sent by a port and not come back to it, since weir-dp was configured."""

    place: str
    value: int
    reason: str | None = "not_returned"
    kind: Literal["drop", "packets"] = "drop"


@contextmanager
def weir_system(stage: StageConfig, devargs: str) -> Iterator[Turn]:
    """One of Weir's functions, alone in a weir-dp, with the ledger."""
    with weir_dp(CORE) as client:
        path = PathConfig(name="through", in_="wire", out="wire", stages=(stage,))
        client.configure(
            Configure(
                ports=(PortConfig(name="wire", devargs=devargs, rx_queue_size=RING, tx_queue_size=RING),),
                areas=(ChainArea(name=stage.nf, core=CORE, kind="chain", paths=(path,)),),
                ledger=True,
            )
        )

        @contextmanager
        def turn() -> Iterator[None]:
            client.start()
            try:
                yield
            finally:
                client.stop()

        yield turn


def testpmd_system(mode: str) -> System:
    """DPDK's testpmd in that forwarding mode."""

    @contextmanager
    def system(devargs: str) -> Iterator[Turn]:
        with Testpmd(mode, core=CORE, devargs=[devargs]) as testpmd:

            @contextmanager
            def turn() -> Iterator[None]:
                testpmd.command("start")
                try:
                    yield
                finally:
                    testpmd.command("stop")

            yield turn

    return system


def compared(
    name: str,
    systems: Sequence[System],
    traffic: Callable[[str], TrafficConfigure],
    *,
    target: float | None,
    rounds: int = ROUNDS,
) -> list[Line]:
    """Ratios of the first system to the second: at full load, NDR and PDR. `traffic`: from and to a port.
    `rounds`: of searches; 0: at full load alone."""
    with hugepages(len(systems) * MEMORY_MB + 2 * MEMORY_MB), ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="weir-bench-")))
        sockets = [folder / f"{index}.sock" for index in range(len(systems))]
        turns = [
            stack.enter_context(system(f"net_vhost0,iface={socket},queues=1"))
            for system, socket in zip(systems, sockets, strict=True)
        ]
        tester = stack.enter_context(_tester(sockets, turns))
        others = stack.enter_context(onlookers(CORE, TESTER_CORE))
        for index in range(len(systems)):
            with turns[index]():
                _wait_until_forwarding(tester, traffic(_port(index)))

        def at_full_load(index: int) -> tuple[Full, float]:
            with turns[index]():
                return full_load(tester, traffic(_port(index)), others)

        full = undisturbed_pairs(lambda: at_full_load(0), lambda: at_full_load(1), PAIRS)
        if not full.taken:
            raise SkipError(
                f"others had a core in each of {full.again} pairs, more than {OTHERS_SHARE_MAX:.0%} of its "
                "time: end what runs beside, or take a machine that is quiet"
            )
        found = [Found([pair[index] for pair in full.taken]) for index in range(len(systems))]
        for number in range(rounds):
            order = range(len(systems)) if number % 2 == 0 else reversed(range(len(systems)))
            for index in order:
                with turns[index]():
                    _search(tester, _port(index), traffic(_port(index)), found[index])
    return list(_lines(name, found, full, others.refused, target))


@contextmanager
def _tester(sockets: Sequence[Path], turns: Sequence[Turn]) -> Iterator[DataPlaneClient]:
    """With all wires. A vhost end at rest answers nobody: all go on while wires are joined, and parted."""
    with ExitStack() as parting, weir_dp(TESTER_CORE) as tester:
        with _all(turns):
            for socket in sockets:
                _wait_for(socket)
            tester.configure(_ends(sockets))
            tester.start()
        try:
            yield tester
        finally:
            parting.enter_context(_all(turns))


@contextmanager
def _all(turns: Sequence[Turn]) -> Iterator[None]:
    with ExitStack() as stack:
        for turn in turns:
            stack.enter_context(turn())
        yield


def _port(index: int) -> str:
    return f"wire{index}.left"


def _ends(sockets: Sequence[Path]) -> Configure:
    ports = tuple(
        PortConfig(
            name=_port(index),
            devargs=f"net_virtio_user{index},path={socket},queues=1,queue_size={RING},packed_vq=1,"
            f"speed={LINK_MBPS}",
            rx_queue_size=RING,
            tx_queue_size=RING,
        )
        for index, socket in enumerate(sockets)
    )
    areas = tuple(
        TesterArea(name=f"{kind}.{port.name}", core=TESTER_CORE, kind=kind, port=port.name)
        for port in ports
        for kind in ("generator", "receiver")
    )
    return Configure(ports=ports, areas=areas)


def _wait_for(socket: Path) -> None:
    give_up = time.monotonic() + SOCKET_S
    while not socket.exists():
        if time.monotonic() > give_up:
            raise SkipError(f"no socket {socket} within {SOCKET_S:.0f} s")
        time.sleep(0.05)


def _wait_until_forwarding(client: DataPlaneClient, config: TrafficConfigure) -> None:
    tester = DataPlaneTester(client)
    tester.configure_traffic(config)
    give_up = time.monotonic() + FORWARDING_S
    while tester.run({0: 1000}, 0.1, 0.1).streams[0].delivered == 0:
        if time.monotonic() > give_up:
            raise SkipError(f"nothing comes back on {config.streams[0].port} within {FORWARDING_S:.0f} s")


def full_load(client: DataPlaneClient, config: TrafficConfigure, others: Onlookers) -> tuple[Full, float]:
    """What comes back, and which share of the time others had a core."""
    tester = DataPlaneTester(client)
    tester.configure_traffic(config)
    tester.run({0: 0}, FULL_S / 2, 0.1)  # whatever happens once
    others.begin()
    result = tester.run({0: 0}, FULL_S, 0.1)
    share = others.share(result)
    (stream,) = result.streams
    pps = stream.delivered / (result.tx_duration_ns / 1e9)
    return Full(pps, stream.tx_refused / stream.offered), share


def _search(client: DataPlaneClient, port: str, config: TrafficConfigure, found: Found) -> None:
    tester = DataPlaneTester(client)
    tester.configure_traffic(config)

    def counters() -> Sequence[Counter]:
        (one,) = (one for one in client.ledger().ports if one.name == port)
        return (_NotReturned(port, max(0, one.tx_packets - one.rx_packets)),)

    def rest(seconds: float) -> None:
        client.wait(seconds)

    runner = TrialRunner(
        tester,
        counters,
        Traffic.from_config("64", 64.0, config),
        options=MEASURE.trial,
        on_trial=lambda _trial: None,
        sleep=rest,
    )
    high_pps = ABOVE * median(one.pps for one in found.full)
    deadline = time.monotonic() + SEARCH_S
    ndr, pdr = search(runner, MEASURE, (LOWEST * high_pps, high_pps), clock=time.monotonic, deadline=deadline)
    found.ndr_pps.append(ndr.load_pps)
    found.pdr_pps.append(pdr.load_pps)


def _lines(
    name: str, found: Sequence[Found], full: Pairs[Full], refused: str | None, target: float | None
) -> Iterator[Line]:
    ours, peer = found
    besides: dict[str, object] = {
        "refused_share_ours": median(one.refused_share for one in ours.full),
        "refused_share_peer": median(one.refused_share for one in peer.full),
        "rounds_without_ndr": _without(ours.ndr_pps, peer.ndr_pps),
        "rounds_without_pdr": _without(ours.pdr_pps, peer.pdr_pps),
        "pairs_again": full.again,
        "pairs_dropped": full.dropped,
        **({"others_unknown": refused} if refused is not None else {}),
    }
    figures = {
        "": [(one.pps, other.pps) for one, other in full.taken],
        "-ndr": _both(ours.ndr_pps, peer.ndr_pps),
        "-pdr": _both(ours.pdr_pps, peer.pdr_pps),
    }
    for suffix, taken in figures.items():
        if not taken:
            continue  # `rounds_without` of the line at full load says so
        detail = {
            "ours_median_pps": median(one for one, _ in taken),
            "peer_median_pps": median(other for _, other in taken),
            **besides,
        }
        ratios = [one / other for one, other in taken]
        yield of_ratios(f"{name}{suffix}", ratios, target=target, detail=detail)


def _both(ours: Sequence[float | None], peer: Sequence[float | None]) -> list[tuple[float, float]]:
    """Of the rounds in which both searches found one."""
    return [(one, other) for one, other in zip(ours, peer, strict=True) if one and other]


def _without(ours: Sequence[float | None], peer: Sequence[float | None]) -> int:
    """Rounds in which the search of one of both was irregular."""
    return len(ours) - len(_both(ours, peer))
