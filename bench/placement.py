# SPDX-License-Identifier: Apache-2.0
"""Fleets for the placement benches, drawn from a seed, and one run: the tests' referee checks every limit.

Three kinds of hosts in three zones, of which most are needed; chains sized by rate and cycles a packet, some
of them bound to a zone; four groups of chains of which no more than two may share a host.
"""

from __future__ import annotations

import random
import time

from bench.pairs import Line
from tests.unit.planning.fleet import referee
from weir.lab.fleet import AntiAffinity, FleetChain, FleetFile, FleetHost, NumaNode
from weir.planning.fleet.instance import fleet_of
from weir.planning.fleet.search import Answer, Search
from weir.planning.fleet.stop import Stop

GAP = 0.01  # the search ends when it is proved
SEED = 1
SEARCH_SHARE = 0.9  # of the limit; the rest is for the model before it and the last moves after it
_KINDS = {
    "small": FleetHost(
        cost=1.0, cpu_ghz=2.6, numa=(NumaNode(cores=30, memory_gb=96, hugepages_gb=64, link_gbps=100),)
    ),
    "large": FleetHost(
        cost=2.0,
        cpu_ghz=3.0,
        link_gbps=200,
        numa=(NumaNode(count=2, cores=32, memory_gb=192, hugepages_gb=96, link_gbps=100),),
    ),
    "fast": FleetHost(
        cost=2.6,
        cpu_ghz=3.5,
        link_gbps=200,
        numa=(NumaNode(count=2, cores=36, memory_gb=256, hugepages_gb=128, link_gbps=200),),
    ),
}


def drawn(chains: int, hosts: int, classes: int) -> FleetFile:
    """A fleet of so many chains in so many classes."""
    draw = random.Random(SEED)
    places = [(kind, f"zone-{zone}") for zone in range(3) for kind in _KINDS]
    return FleetFile(
        weir=1,
        name="bench",
        hosts={
            f"{kind}-{zone[-1]}": _KINDS[kind].model_copy(
                update={"zone": zone, "count": _share(hosts, len(places), index)}
            )
            for index, (kind, zone) in enumerate(places)
        },
        chains={f"c{index}": _chain(draw, _share(chains, classes, index)) for index in range(classes)},
        anti_affinity=tuple(
            AntiAffinity(
                chains=tuple(f"c{one}" for one in draw.sample(range(classes), max(2, classes // 20))),
                per_host=2,
            )
            for _ in range(4)
        ),
    )


def _chain(draw: random.Random, count: int) -> FleetChain:
    rate_pps = 10 ** draw.uniform(5.9, 6.9)
    frame_bytes = draw.choice((64, 256, 512))
    return FleetChain(
        count=count,
        rate_pps=rate_pps,
        cycles_per_packet=(draw.choice((300.0, 450.0, 700.0, 1100.0, 1600.0)),),
        frame_bytes=frame_bytes,
        memory_gb=round(draw.choice((1, 2, 4, 8, 16)) + draw.random(), 3),
        hugepages_gb=draw.choice((0.5, 1, 2, 4)),
        zones=(f"zone-{draw.randrange(3)}",) if draw.random() < 0.15 else None,
    )


def _share(total: int, parts: int, index: int) -> int:
    return total // parts + (index < total % parts)


def placed(chains: int, hosts: int, classes: int, limit_s: float) -> tuple[Answer, float]:
    """One search, and the seconds that it took with everything around it."""
    begin = time.perf_counter()
    fleet = fleet_of(drawn(chains, hosts, classes))
    answer = Search(
        fleet, Stop(SEARCH_SHARE * limit_s, time.monotonic), gap=GAP, seed=SEED, tell=lambda _: None
    ).run()
    return answer, time.perf_counter() - begin


def line(name: str, chains: int, hosts: int, classes: tuple[int, ...], *, limit_s: float, gap: float) -> Line:
    """`ratio`: the gap that is allowed to the one that is proved, of the fleet where it is worst.

    0 if a search took longer than its limit, left a chain without a place or broke a limit.
    """
    ratios, detail = [], {}
    for number in classes:
        answer, seconds = placed(chains, hosts, number, limit_s)
        standing = answer.standing
        broken = referee.broken(answer.room.fleet, referee.places(answer.room))
        kept = seconds <= limit_s and not standing.unplaced and not broken
        ratios.append(gap / max(standing.gap, 1e-4) if kept else 0.0)
        detail[f"{number}_classes"] = {
            "seconds": round(seconds, 1),
            "gap": round(standing.gap, 5),
            "hosts": standing.hosts,
            "cost": standing.cost,
            "cost_bound": standing.cost_bound,
            "unplaced": standing.unplaced,
            "broken": len(broken),
            "ended": answer.ended,
        }
    return Line(
        name=name,
        ratio=min(ratios),
        min=min(ratios),
        max=max(ratios),
        n=len(ratios),
        target=1.0,
        detail=dict(detail),
    )
