# SPDX-License-Identifier: Apache-2.0
"""explain-planted: set-ups in which one thing is deliberately slow, and whether `weir explain` names it.

Each is a real trial of weir-dp. Slowed are: a stage (impair works for so many ns on each packet) at every
place of a chain, run to completion and as pipeline or dispatch, on one core and on two, in the first or the
second function of a chain; a stage that now and then keeps its core, or that drops; a ring that is too short;
copying ports; a switch's PMD; the kernel's receive path under a bridge, by rules that it walks through; and
the tester, which has much more to do than the function. A hit is a verdict
of the right kind that names the right thing. `ratio`: hits to set-ups.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from bench.pairs import Line, SkipError
from tests.private_data_plane import private_data_plane
from weir import fabric, plan
from weir.base.error import WeirError
from weir.base.topology import Topology, switch_namespace
from weir.explain import CaseExplanation, explain_case
from weir.lab import Lab
from weir.lab.frames import mean_frame_bytes
from weir.measure import Traffic
from weir.measure.outside import Nothing, Outside
from weir.measure.tester import ANNOUNCE_FRAMES, SutCounters, no_counters
from weir.measure.trial import TrialRunner
from weir.procedures.driver import running
from weir.protocol import DataPlaneClient, DataPlaneTester
from weir.protocol.configuration import RingConfig
from weir.results.result import Case, Fingerprint, Setup, Trial

DURATION_S = 0.2
MEMORY_MB = 1024
BESIDE = ({"nf": "acl", "options": {"default": "permit"}}, {"nf": "l2fwd"})
"""Functions beside the slow one, much quicker."""
QUICKEST = ({"nf": "l2fwd"},)
LIGHT_PPS, MORE_PPS, MOST_PPS = 200_000.0, 500_000.0, 1_000_000.0
BRIDGE_RULES = 200
RETRIES = 5
"""Of a trial that the host disturbed."""
DISTURBED = frozenset({"oversubscription", "host-stall"})
DISTURBED_MAX = 3
"""Set-ups in which the host is named, and rightly: with more the machine is too busy for this bench."""

Function = Mapping[str, Any]


@dataclass(frozen=True)
class Planted:
    """One set-up, and the verdict that it must have."""

    name: str
    kind: str
    culprit: str
    """How the verdict's name begins."""
    functions: Sequence[Function]
    tester: Sequence[int]
    cores: Sequence[int]
    load_pps: float = 0.0
    """0: as fast as the tester can."""
    frame: int = 64
    flows: int = 1000
    technology: str = "direct"
    technologies: Mapping[str, Any] = field(default_factory=lambda: {"direct": {"wire": "memory"}})
    ring_packets: int | None = None
    bridge_rules: int = 0
    """That the kernel's bridge walks through for each packet, and that none fits."""

    def lab(self, cpus: Sequence[int]) -> Lab:
        """As a user would write it."""
        names = [f"function{number}" for number in range(len(self.functions))]
        return Lab.model_validate(
            {
                "weir": 1,
                "name": "planted",
                "chain": [names],
                "functions": dict(zip(names, self.functions, strict=True)),
                "technology": self.technology,
                "technologies": self.technologies,
                "cores": {"tester": self.tester, "functions": self.cores, "switch": [cpus[-1]]},
                "tester": {"direction": "left-to-right"},
                "traffic": {"frames": [self.frame], "flows": {"count": self.flows}},
                "measure": {
                    "trial": {
                        "duration_s": DURATION_S,
                        "initial_duration_s": 0.1,
                        "retries": RETRIES,
                    }
                },
            }
        )


def run() -> Line:
    """Prints the misses; hits to set-ups."""
    cpus = sorted(os.sched_getaffinity(0))[-2:]
    if len(cpus) < 2:
        raise SkipError("needs two cores")
    setups = [*_stages(cpus), *_stalls(cpus), *_decisions(cpus), *_rings(cpus), *_others(cpus)]
    hits, disturbed, missed = 0, 0, list[str]()
    for one in setups:
        try:
            found = _explained(one, cpus)
        except WeirError as error:
            raise SkipError(f"{one.name}: {error}") from None
        limit = found.limit
        if limit.kind == one.kind and limit.name.startswith(one.culprit):
            hits += 1
            continue
        missed.append(one.name)
        disturbed += limit.kind in DISTURBED
        if disturbed > DISTURBED_MAX:
            raise SkipError(f"the host took cores away in {disturbed} of {hits + len(missed)} set-ups")
        print(f"  missed: {one.name}: {limit.kind} {limit.name}: {limit.sentence}", flush=True)
    print(f"  {hits} of {len(setups)}", flush=True)
    return Line(
        name="explain-planted",
        ratio=hits / len(setups),
        min=hits / len(setups),
        max=hits / len(setups),
        n=len(setups),
        target=0.95,
        detail={"hits": hits, "setups": len(setups), "missed": missed},
    )


def _chain(place: int, slow: Mapping[str, int], beside: Sequence[Function] = BESIDE, **way: Any) -> Function:
    """Quick functions and the slow one at that place."""
    stages = list(beside)
    stages.insert(place, {"nf": "impair", "options": dict(slow)})
    return {"chain": stages, **way}


def _stages(cpus: Sequence[int]) -> Iterator[Planted]:
    """Slow on each packet."""
    alone, apart = (cpus[:1], cpus[:1]), (cpus[:1], cpus[1:])
    both = (cpus[:1], cpus)
    for place in range(3):
        for busy_ns, frame in ((600, 64), (2500, 512)):
            slow = {"busy_ns": busy_ns}
            for where in (alone, apart):
                said = f"at {place}, {busy_ns} ns, {frame} B, cores {where[0]} and {where[1]}"
                chain = _chain(place, slow)
                yield Planted(f"run-to-completion {said}", "stage", "f1/impair", [chain], *where, frame=frame)
            for where in (apart, both):
                said = f"at {place}, {busy_ns} ns, {frame} B, cores {where[0]} and {where[1]}"
                chain = _chain(place, slow, architecture="pipeline")
                culprit = "f1.impair/impair"
                yield Planted(f"pipeline {said}", "stage", culprit, [chain], *where, frame=frame)
    for workers in (1, 2):
        chain = _chain(1, {"busy_ns": 1500}, architecture="dispatch", workers=workers)
        yield Planted(f"dispatch to {workers}", "stage", "f1.worker", [chain], *apart)
    for place in range(2):
        for where in (alone, apart):
            functions = [_chain(1, {"busy_ns": 1500 if at == place else 0}) for at in range(2)]
            said = f"function {place + 1} of 2, cores {where[0]} and {where[1]}"
            yield Planted(said, "stage", f"f{place + 1}/impair", functions, *where)


def _stalls(cpus: Sequence[int]) -> Iterator[Planted]:
    """Keeps its core for longer than the queue ahead of it can hold what comes; not for long in all."""
    for place, frame in ((0, 64), (1, 64), (0, 512), (1, 512)):
        chain = _chain(place, {"stall_us": 7000, "stall_every_ms": 80}, QUICKEST)
        name = f"stalls at {place}, {frame} B"
        yield Planted(
            name,
            "own-stall",
            "f1/impair",
            [chain],
            cpus[:1],
            cpus[1:],
            load_pps=MOST_PPS,
            frame=frame,
        )


def _decisions(cpus: Sequence[int]) -> Iterator[Planted]:
    for place, every in ((0, 10), (1, 50), (2, 3)):
        chain = _chain(place, {"drop_every": every})
        name = f"drops every {every}th at {place}"
        yield Planted(name, "decision", "f1/impair", [chain], cpus[:1], cpus[1:], load_pps=LIGHT_PPS)


def _rings(cpus: Sequence[int]) -> Iterator[Planted]:
    """Bursts of 32, from a stage that lets packets wait, into a ring of fewer on another core."""
    for ring_packets, frame in ((8, 64), (8, 512), (16, 64), (16, 512)):
        chain = {
            "chain": [{"nf": "impair", "options": {"stall_us": 200, "stall_every_ms": 1}}, BESIDE[0]],
            "architecture": "pipeline",
        }
        yield Planted(
            f"ring of {ring_packets}, {frame} B",
            "queue",
            "ring f1.right.1",
            [chain],
            cpus[:1],
            cpus,
            load_pps=MORE_PPS,
            frame=frame,
            ring_packets=ring_packets,
        )


def _others(cpus: Sequence[int]) -> Iterator[Planted]:
    quick = {"chain": [{"nf": "l2fwd"}]}
    apart, together = (cpus[:1], cpus[1:]), (cpus[:1], cpus[:1])
    for frame, flows in ((64, 1), (64, 100_000), (1518, 1), (1518, 100_000)):
        said = f"tester: {frame} B, {flows} flows"
        yield Planted(said, "tester", "", [quick], *apart, frame=frame, flows=flows)
    copies = {"direct": {"wire": "virtio-user"}}
    for frame in (1024, 1518):
        said = f"copying ports, {frame} B"
        yield Planted(said, "ports", "f1 (ports)", [quick], *apart, frame=frame, technologies=copies)
    for frame in (64, 512):
        yield Planted(
            f"PMD, {frame} B", "switch", "pmd.", [quick], *together, frame=frame, technology="ovs-dpdk"
        )
    for frame in (64, 512):
        yield Planted(
            f"softirq of a bridge, {frame} B",
            "kernel",
            "softirq.",
            [quick],
            *apart,
            frame=frame,
            technology="linux-bridge",
            bridge_rules=BRIDGE_RULES,
        )


def _explained(one: Planted, cpus: Sequence[int]) -> CaseExplanation:
    """Builds it, runs a trial, and explains that alone."""
    lab = one.lab(cpus)
    deployment = plan.deployment_id(lab.name, os.urandom(4).hex())
    topology = plan.build_topology(lab, one.technology, lab.chains()[0], deployment)
    frame = str(one.frame)
    traffic = Traffic.from_config(frame, mean_frame_bytes(frame), plan.streams(topology, lab, frame))
    with _standing(one, lab, topology) as (client, counters, outside):
        hello = client.hello()
        tester = DataPlaneTester(client)
        tester.announce(ANNOUNCE_FRAMES)
        tester.configure_traffic(traffic.config)
        trials: list[Trial] = []
        runner = TrialRunner(
            tester,
            counters,
            traffic,
            options=lab.measure.trial,
            on_trial=trials.append,
            outside=outside,
        )
        if one.load_pps:
            trial = runner.valid("curve", one.load_pps, DURATION_S).trial
        else:
            trial = runner.valid("calibration", 0, DURATION_S).trial
    setup = Setup(technology=one.technology, chain="planted", datapath="none", topology=topology)
    case = Case(frame=frame, mean_frame_bytes=mean_frame_bytes(frame), trials=[trial])
    return explain_case(setup, case, _fingerprint(hello.tsc_hz))


def _fingerprint(tsc_hz: int) -> Fingerprint:
    return fabric.fingerprint(tsc_hz, "hugepages", {})


@contextmanager
def _standing(
    one: Planted, lab: Lab, topology: Topology
) -> Iterator[tuple[DataPlaneClient, SutCounters, Outside]]:
    """Configured and polling. In-memory wires need no deployment; their rings can be made short."""
    if topology.ports[0].kind != "memory":
        with running(lab, topology) as chain:
            if one.bridge_rules:
                _slow_bridge(topology, one.bridge_rules)
            yield chain.client, chain.counters, chain.deployment.watch()
        return
    config = plan.configure(topology, lab)
    rings = tuple(RingConfig(name=ring.name, size=one.ring_packets or ring.size) for ring in config.rings)
    config = config.model_copy(update={"rings": rings})
    used = sorted({area.core for area in config.areas})
    with (
        private_data_plane(*used, memory_mb=MEMORY_MB, huge=True) as path,
        DataPlaneClient(path, connect_s=20) as client,
    ):
        client.configure(config)
        client.start()
        yield client, no_counters, Nothing()


def _slow_bridge(topology: Topology, rules: int) -> None:
    """Rules in the switch's namespace, which ends with the deployment."""
    lines = ["table bridge slow {", "chain forward {", "type filter hook forward priority 0; policy accept;"]
    lines += [
        f"ether saddr 0a:00:00:00:{number // 256:02x}:{number % 256:02x} drop" for number in range(rules)
    ]
    argv = ["ip", "netns", "exec", switch_namespace(topology), "nft", "-f", "-"]
    try:
        subprocess.run(argv, input="\n".join([*lines, "}", "}"]), text=True, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise SkipError(f"cannot slow the bridge with nft: {error}") from error
