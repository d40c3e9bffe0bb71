# SPDX-License-Identifier: Apache-2.0
"""Set-ups that the cost model is about, built and measured: for calibration, and for what was held out of it.

Fabric, data plane and measure meet here as they do in the driver; none of them knows the others.
"""

from __future__ import annotations

import itertools
import math
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from weir import plan
from weir.base.topology import Topology
from weir.fabric import lean as process
from weir.fabric import stop_signals
from weir.fabric.built import built
from weir.measure.core_speed import Slowing, best_cycles, slope
from weir.measure.outside import NOTHING, Outside
from weir.measure.tester import ANNOUNCE_FRAMES
from weir.measure.windows import (
    CALM_WANTED,
    LIGHT_SHARES,
    LIGHT_WINDOWS,
    SETTLING_S,
    Probe,
    Window,
    delivered_pps,
    received,
    settle,
    windows,
)
from weir.plan.memory import learning_packets
from weir.planning.calibration.set_up import Visited
from weir.procedures.driver import planned, running, take_down_leftovers
from weir.protocol import DataPlaneClient, DataPlaneError, DataPlaneLostError

VISITS = 3
"""How often each set-up is built: the host's mood differs from one minute to the next."""
LONGEST_S = 60
_ENDING_MS = 1000
TAUGHT_MIN = 100_000
"""Packets that functions need to know all flows; fewer are taught by the load itself."""
TEACHING_SHARE = 0.5
"""Of the rate that new flows are carried at."""
TEACHING_ROOM = 1.05
TEACHING_MAX_S = 40.0
"""A million flows, of which dpi looks into each, take some ten seconds."""
EXTRA_ROUNDS = 4
"""More visits to set-ups that were hardly seen on an undisturbed host."""

Say = Callable[[str], None]


def probe(cpus: Sequence[int]) -> Probe | None:
    """How far the first two of these CPUs are from each other at this moment, and how fast; None for one
    alone."""
    if len(cpus) < 2:
        return None
    return Probe(*process.measure_distance(built("weir-lean"), (cpus[0], cpus[1])))


def visit(some: Sequence[Visited], begins: Callable[[Visited], None], *, light: bool = False) -> None:
    """Builds what these set-ups have in common, which is all but their traffic. Of each, waits until it has
    settled, and reads its ledgers until enough windows were calm.

    `begins`: is told which one comes. `light`: at light loads, too.
    """
    first = max(some, key=lambda one: one.lab.traffic.flows.count)  # whose flows need the most memory
    with running(first.lab, planned(first.lab, first.technology, first.chain)) as chain:
        client, topology = chain.client, chain.topology
        beside: Outside = NOTHING
        if first.technology != "direct":
            client.announce(ANNOUNCE_FRAMES)
            beside = chain.deployment.watch()
        for one in some:
            begins(one)
            one.hello = chain.hello
            client.configure_traffic(plan.streams(topology, one.lab, one.frame))
            one.settled &= _taught(one, client)
            client.start_traffic(dict.fromkeys(range(one.streams()), 0.0), LONGEST_S * 10**9, 0)
            one.settled &= settle(client, time.sleep)
            _look(one, client, beside)
            if light and not one.drawn:
                for share, window in _lightly(one, client):
                    one.light.setdefault(share, []).append(window)
            client.finish_traffic()
            client.traffic_result(_ENDING_MS)
            one.visits += 1


def _taught(one: Visited, client: DataPlaneClient) -> bool:
    """Whether every flow has passed as often as functions need to know it, at a load at which none is lost in
    front of a core that is busy with new flows: at the highest one it would be asked for again and again.

    Few flows learn themselves while rates come to a stand.
    """
    packets = learning_packets(one.lab)
    if packets < TAUGHT_MIN:
        return True
    begun, rate_pps = client.ledger(), math.inf
    for rate in (0.0, TEACHING_SHARE):
        load_pps = max(1.0, rate * rate_pps / one.streams()) if rate else 0.0
        client.start_traffic(dict.fromkeys(range(one.streams()), load_pps), LONGEST_S * 10**9, 0)
        if not rate:
            before = client.ledger()
            time.sleep(SETTLING_S)
            rate_pps = max(1.0, delivered_pps(before, client.ledger()))
            begun = client.ledger()
        else:
            for _ in range(int(TEACHING_MAX_S / SETTLING_S)):
                if received(client.ledger()) - received(begun) >= TEACHING_ROOM * packets:
                    break
                time.sleep(SETTLING_S)
        client.finish_traffic()
        client.traffic_result(_ENDING_MS)
    return received(client.ledger()) - received(begun) >= TEACHING_ROOM * packets


def _look(one: Visited, client: DataPlaneClient, beside: Outside) -> None:
    """Windows of the set-up, which is under full load."""
    cores = one.execution.cores()
    calm = 0
    for window in windows(client, time.sleep, lambda: probe(cores), beside):
        one.windows.append(window)
        calm += one.calm(window)
        if calm == CALM_WANTED:
            break


def together(some: Sequence[Visited]) -> list[list[Visited]]:
    """Set-ups that are built as one: behind a switch, which takes longer to build than to measure, those that
    differ in traffic alone. Without one each has functions that have seen no packets."""
    groups: list[tuple[Topology, list[Visited]]] = []
    for one in some:
        topology = plan.build_topology(
            one.lab, one.technology, one.chain, plan.deployment_id(one.lab.name, "00000000")
        )
        group = next((group for same, group in groups if same == topology), None)
        if group is None or one.technology == "direct":
            groups.append((topology, [one]))
        else:
            group.append(one)
    return [sorted(group, key=lambda one: one.lab.traffic.flows.count) for _, group in groups]


def _lightly(one: Visited, client: DataPlaneClient) -> Iterator[tuple[float, Window]]:
    """Windows of the set-up, which is under full load, at shares of the rate that it just carried."""
    cores, streams = one.execution.cores(), one.streams()
    rate_pps = statistics.median(window.pps() for window in one.windows[-CALM_WANTED:])
    for share in LIGHT_SHARES:
        client.finish_traffic()
        client.traffic_result(_ENDING_MS)
        client.start_traffic(
            dict.fromkeys(range(streams), max(1.0, share * rate_pps / streams)), LONGEST_S * 10**9, 0
        )
        time.sleep(SETTLING_S)
        for window in itertools.islice(windows(client, time.sleep, lambda: probe(cores)), LIGHT_WINDOWS):
            yield share, window


def visited(
    setups: Sequence[Visited], say: Say, known: Slowing | None = None, *, light: bool = False
) -> None:
    """All of them in turn, again and again: what drifts, drifts for all. Some may have been visited before.
    Ctrl-C takes down what stands.

    `known`: of an earlier run on this machine. `light`: at light loads, too.
    """
    with stop_signals.held():
        take_down_leftovers(say)
        _learn(setups, known or Slowing())
        for number in range(VISITS):
            due = [one for one in setups if one.visits <= number]
            _round(due, setups, f"round {number + 1} of {VISITS}", say, light=light)
        for number in range(EXTRA_ROUNDS):
            disturbed = [one for one in setups if not one.enough()]
            name = f"extra round {number + 1}, since the host was disturbed"
            _round(disturbed, setups, name, say, light=light)


def _round(some: Sequence[Visited], setups: Sequence[Visited], name: str, say: Say, *, light: bool) -> None:
    """Visits some of the set-ups."""
    numbers = itertools.count(1)
    for group in together(some):
        stop_signals.check()
        try:
            visit(group, lambda one: say(f"{name}, {next(numbers)} of {len(some)}: {one.name}"), light=light)
        except DataPlaneLostError:
            raise
        except DataPlaneError as error:
            # Seen of DPDK: it refused a virtio-user port that Open vSwitch was connecting to, and not again.
            say(f"built again, since weir-dp refused: {error}")
            visit(group, lambda one: say(f"{name}, once more: {one.name}"), light=light)
        _learn(setups, group[0].slowing)
    found = slope(group for one in setups for group in one.slowed())
    if found is not None:
        _learn(setups, replace(setups[0].slowing, slope=found))


def _learn(setups: Sequence[Visited], known: Slowing) -> None:
    """Tells all set-ups what slow cores cost; and how fast they are at best, if that is better than known."""
    best = best_cycles(
        cycles for one in setups for window in one.windows for cycles in window.piece_cycles_by_core.values()
    )
    slowing = replace(known, best_cycles=min(known.best_cycles, best))
    for one in setups:
        one.slowing = slowing
