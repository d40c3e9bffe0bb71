# SPDX-License-Identifier: Apache-2.0
"""What packets cost functions outside weir-dp (Linux, programs, containers, virtual machines): trials at one
load and at next to none in turn; the difference of their time on the cores, for each packet.

Nothing is run inside them, so this is no lean measurement as [Lean] has it: CPU time has what system calls,
copies and wake-ups cost too, caches are as tester and switch leave them, and stages are not told apart.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence

from weir.base.topology import Topology
from weir.lab import Lab
from weir.measure.tester import ANNOUNCE_FRAMES
from weir.measure.trial import TrialRunner
from weir.procedures.driver import RunningChain, running
from weir.results.lean import Spread
from weir.results.loads import POLLS_RATIO, AreaLoad
from weir.results.outside_lean import OutsideArea, OutsideFunction, OutsideLean
from weir.results.trial import Trial

DURATION_S = 1.0
_WARM_UP_S = 0.3
_IDLE_PPS = 20.0
_POLLS_LEAST = 0.05
"""What hardly runs without load is not asked whether it polls."""
_LOST_SAID = 0.001

Key = tuple[str, int]


def measure(
    lab: Lab, topology: Topology, frame: str, load_pps: float, *, repeats: int, say: Callable[[str], None]
) -> OutsideLean:
    """On a chain that is built for it, and taken down. Within `stop_signals.held`. ChainError."""
    trials: list[tuple[Trial, Trial]] = []
    with running(lab, topology) as on:
        runner = _runner(on, frame)
        runner.run("calibration", load_pps, _WARM_UP_S)
        for number in range(repeats):
            say(f"repeat {number + 1} of {repeats}")
            idle = runner.valid("curve", _IDLE_PPS, DURATION_S).trial
            trials.append((idle, runner.valid("curve", load_pps, DURATION_S).trial))
        said, fingerprint, tsc_hz = on.fidelity(), on.fingerprint(), on.hello.tsc_hz
    loaded = [trial for _, trial in trials]
    offered = sum(trial.offered for trial in loaded)
    loss_ratio = sum(trial.offered - trial.delivered for trial in loaded) / offered if offered else 0.0
    areas = costs(trials, tsc_hz)
    return OutsideLean(
        lab=lab.name,
        chain=topology.chain,
        technology=topology.technology,
        frame=frame,
        load_pps=load_pps,
        duration_s=DURATION_S,
        repeats=repeats,
        tsc_hz=tsc_hz,
        functions=[
            OutsideFunction(node=node.name, title=node.nf or node.name, kind=node.kind)
            for node in topology.functions()
            if not node.in_weir_dp
        ],
        areas=areas,
        loss_ratio=loss_ratio,
        fidelity=said,
        fingerprint=fingerprint,
        notes=[*_notes(areas, loaded, loss_ratio)],
    )


def _runner(on: RunningChain, frame: str) -> TrialRunner:
    tester, traffic = on.tester(), on.traffic(frame)
    tester.announce(ANNOUNCE_FRAMES)
    tester.configure_traffic(traffic.config)
    return TrialRunner(
        tester,
        on.counters,
        traffic,
        options=on.lab.measure.trial,
        on_trial=lambda _trial: None,
        outside=on.deployment.watch(sample_stacks=False),
    )


def costs(trials: Sequence[tuple[Trial, Trial]], tsc_hz: float) -> list[OutsideArea]:
    """Of pairs of trials, without load and with it. Dearest first; what is in no loaded trial is left out,
    and so are pairs of which the tester sent nothing."""
    trials = [pair for pair in trials if pair[1].offered]
    kinds = {_key(area): area.kind for _, trial in trials for area in _outside(trial)}
    found = [_cost(key, kind, trials, tsc_hz) for key, kind in kinds.items()]
    return sorted(found, key=lambda one: -one.most_tsc_cycles_per_packet)


def _cost(key: Key, kind: str, trials: Sequence[tuple[Trial, Trial]], tsc_hz: float) -> OutsideArea:
    net, gross, shares, full = [], [], [], []
    for idle, loaded in trials:
        without = _busy(idle, key) / (_window_s(idle) * tsc_hz)
        busy = _busy(loaded, key)
        shares.append(without)
        full.append(busy / (_window_s(loaded) * tsc_hz))
        gross.append(busy / loaded.offered)
        net.append((busy - without * _window_s(loaded) * tsc_hz) / loaded.offered)
    share = statistics.median(shares)
    polls = share > _POLLS_LEAST and share >= POLLS_RATIO * statistics.median(full)
    name, core = key
    return OutsideArea(
        name=name,
        kind=kind,
        core=core,
        tsc_cycles_per_packet=None
        if polls
        else Spread(median=statistics.median(net), min=min(net), max=max(net)),
        most_tsc_cycles_per_packet=statistics.median(gross),
        busy_without_load=share,
    )


def _outside(trial: Trial) -> list[AreaLoad]:
    return [area for area in trial.areas if area.kind in ("guest", "softirq", "syscalls", "pmd", "thread")]


def _key(area: AreaLoad) -> Key:
    return area.name, area.core


def _busy(trial: Trial, key: Key) -> int:
    return sum(area.busy_cycles for area in _outside(trial) if _key(area) == key)


def _window_s(trial: Trial) -> float:
    """From one look to the other, around the trial."""
    return max((core.window_s for core in trial.cores), default=trial.duration_s)


def _notes(areas: Sequence[OutsideArea], loaded: Sequence[Trial], loss_ratio: float) -> list[str]:
    said = []
    polling = [one.name for one in areas if one.tsc_cycles_per_packet is None]
    if polling:
        said.append(f"{', '.join(polling)}: polls, so its time says no more than that a packet costs less.")
    if loss_ratio > _LOST_SAID:
        said.append(
            f"{loss_ratio:.1%} of the packets did not come through: a lower --rate, unless that is its work."
        )
    wrong = [trial.invalid_because[0] for trial in loaded if trial.invalid_because]
    if wrong:
        said.append(f"{len(wrong)} of {len(loaded)} trials cannot be believed: {wrong[0]}")
    return said
