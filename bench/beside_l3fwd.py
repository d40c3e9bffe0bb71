# SPDX-License-Identifier: Apache-2.0
"""A function against l3fwd: packets a second of one core, with the same port and packets for both.

The port gives one packet of each flow in a random order, again and again (bench.pcap_port); every flow has
passed before. Beside it, in the details, cycles of the two functions alone, without any port: stage-bench.
"""

from __future__ import annotations

import ipaddress
import random
import statistics
import time
from collections.abc import Iterator, Mapping

from bench.data_plane import forwarded_pps
from bench.hugepages import hugepages
from bench.native_program import CORE, answers
from bench.pairs import Line, SkipError, interleave, line
from bench.pcap_port import pcap_port, udp_frame
from tests.private_data_plane import private_data_plane
from tests.verbs import reset
from weir.protocol import DataPlaneClient
from weir.protocol.configuration import Configure

SECONDS = 0.3
PAIRS, PAIRS_OF_MANY = 10, 5
MANY_FLOWS = 500_000  # the port takes seconds to load them
MEMORY_MB = 1024  # of the function
MEMORY_OF_MOST_MB = 4096  # of the same with ten million sessions
PACKET_BYTES = 2560  # of the port's memory
MBUFS = 16_384  # besides: on their way, and in queues
WARM_UP_S = 60
L3FWD = {"dst_mac": "02:00:00:00:00:09"}
FIRST_PORT, PORTS = 1024, 32768


def against_l3fwd(
    name: str, nf: str, options: Mapping[str, str], *, flows: int, to: tuple[str, int], target: float
) -> Line:
    """Ratio of packets a second of `nf` to those of l3fwd with a default route, on UDP packets of so many
    flows to that address and port."""
    pairs = PAIRS_OF_MANY if flows > MANY_FLOWS else PAIRS
    memory_mb = MEMORY_MB + flows * PACKET_BYTES // 2**20
    with (
        hugepages(memory_mb),
        pcap_port(_frames(flows, to)) as (_, devargs),
        private_data_plane(CORE, memory_mb=memory_mb, huge=True) as path,
        DataPlaneClient(path, connect_s=20) as client,
    ):
        taken = interleave(
            lambda: rate_pps(client, devargs, nf, options, flows),
            lambda: rate_pps(client, devargs, "l3fwd", L3FWD, flows),
            pairs=pairs,
        )
    found = line(name, taken, target=target, unit="pps")
    found.detail["functions_alone_cycles_a_packet"] = _alone(nf, options, flows, to)
    return found


def _frames(flows: int, to: tuple[str, int]) -> Iterator[bytes]:
    first = int(ipaddress.IPv4Address("198.18.0.0"))  # RFC 2544
    destination = int(ipaddress.IPv4Address(to[0]))
    order = list(range(flows))
    random.Random(1).shuffle(order)
    for flow in order:
        yield udp_frame(first + flow // PORTS, destination, FIRST_PORT + flow % PORTS, to[1])


def rate_pps(
    client: DataPlaneClient,
    devargs: str,
    nf: str,
    options: Mapping[str, str],
    flows: int,
    *,
    direction: str = "outbound",
) -> float:
    """What a core forwards of what that port gives, in that direction, once all packets were there twice."""
    stage = {"nf": nf, "options": dict(options)}
    path = {"name": "through", "direction": direction, "in": "port", "out": "port", "stages": [stage]}
    client.configure(
        Configure.model_validate(
            {
                "ports": [{"name": "port", "devargs": devargs}],
                "areas": [{"name": nf, "core": CORE, "kind": "chain", "paths": [path]}],
                "mbufs": flows + MBUFS,  # the port keeps one for each packet
            }
        )
    )
    client.start()
    deadline = time.monotonic() + WARM_UP_S
    while client.ledger().ports[0].tx_packets < 2 * flows:
        if time.monotonic() > deadline:
            raise SkipError(f"{nf} does not forward {2 * flows} packets within {WARM_UP_S} s")
        client.wait(0.05)
    pps = forwarded_pps(client, SECONDS)
    reset(client)
    return pps


def alone_against_l3fwd(
    name: str, nf: str, options: Mapping[str, str], *, flows: int, to: tuple[str, int], target: float
) -> Line:
    """Ratio of cycles a packet of l3fwd to those of `nf`, without any port: so many flows are more packets
    than a port's memory has room for. It asks more of `nf` than a port's cost beside both would. In the
    detail: what the memory alone takes of whoever reads one, or two, cache lines a packet of tables for so
    many flows (cache-lines-bench)."""
    contenders = [*_contender(nf, options), *_contender("l3fwd", L3FWD)]
    rounds = answers("stage-bench", flows, PAIRS_OF_MANY, *to, *contenders, memory_mb=MEMORY_OF_MOST_MB)
    taken = [(float(cycles[nf]), float(cycles["l3fwd"])) for cycles in rounds]
    found = line(name, taken, target=target, unit="cycles_a_packet", less_is_better=True)
    memory = answers("cache-lines-bench", flows, PAIRS_OF_MANY, memory_mb=MEMORY_OF_MOST_MB)
    found.detail["memory_alone_cycles_a_packet"] = {
        lines: statistics.median(float(cycles[lines]) for cycles in memory) for lines in memory[0]
    }
    return found


def begun_a_second(
    name: str, nf: str, options: Mapping[str, str], *, flows: int, to: tuple[str, int], target_per_s: float
) -> Line:
    """Ratio of the new sessions that `nf` begins a second to what is asked for: each packet is a new flow."""
    contender = _contender(nf, options)
    taken = []
    for _ in range(PAIRS):
        (found,) = answers("stage-bench", flows, 0, *to, *contender, memory_mb=MEMORY_MB)
        taken.append((float(found[nf]), target_per_s))
    return line(name, taken, target=1.0, unit="sessions_a_second")


def _alone(nf: str, options: Mapping[str, str], flows: int, to: tuple[str, int]) -> dict[str, float]:
    """Medians over the rounds of stage-bench."""
    contenders = [*_contender(nf, options), *_contender("l3fwd", L3FWD)]
    rounds = answers("stage-bench", flows, PAIRS, *to, *contenders, memory_mb=MEMORY_MB)
    return {one: statistics.median(float(cycles[one]) for cycles in rounds) for one in (nf, "l3fwd")}


def _contender(nf: str, options: Mapping[str, str]) -> list[str]:
    return [f"nf={nf}", *(f"{option}={value}" for option, value in options.items())]
