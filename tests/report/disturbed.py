# SPDX-License-Identifier: Apache-2.0
"""A made-up result of a disturbed machine, with every flag. None of its numbers was ever measured."""

from __future__ import annotations

from typing import Any

from weir.results.result import (
    Case,
    Counted,
    LeftOut,
    Result,
    RoundRate,
    Setup,
    StreamCount,
    Throughput,
    Trial,
    TrialSlices,
)

from .synthetic import FIDELITY, TECHNOLOGIES, result, topology

MEASURE = {
    "exceed_ratio": 0.5,
    "repeats": 1,
    "rounds": 2,
    "trial": {"duration_s": 0.1, "duration_sum_s": 0.3},
    "curve": {"duration_s": 0.1},
}
SLOWER, FARTHER = 1.4, 4.6


def disturbed(**changes: Any) -> Result:
    """PVP at 64 B under four technologies, each with a doubt of its own; the baseline is linux-bridge.

    `direct` is tester-bound, `ovs` ran out of time, `ovs-dpdk` was measured in a worse state of the machine
    with most of its time left out, and a trial of it carried twice what was found.
    """
    throughputs = {
        "direct": found(8e6, rounds=(7.6e6, 8.4e6), tester_bound=True),
        "linux-bridge": found(0.4e6, rounds=(0.4e6, 0.4e6)),
        "ovs": found(0.1e6, lower_bound_pps=0.1e6, upper_bound_pps=0.25e6, out_of_time=True, why="Late."),
        "ovs-dpdk": found(
            1.2e6,
            rounds=(1.2e6,),
            states=((SLOWER, FARTHER),),
            slower_times=SLOWER,
            farther_times=FARTHER,
            left_out_share=0.56,
        ),
    }
    setups = [
        Setup(
            technology=name,
            chain="PVP",
            datapath=TECHNOLOGIES[name][2],
            topology=topology(name, "PVP", 1, TECHNOLOGIES[name][3], TECHNOLOGIES[name][4]),
            fidelity=FIDELITY,
            cases=[case(one, contradicted=name == "ovs-dpdk")],
        )
        for name, one in throughputs.items()
    ]
    spec = {"weir": 1, "name": "switching", "chain": ["PVP"], "measure": MEASURE}
    return result(**{"setups": setups, "spec": spec, **changes})


def found(
    load_pps: float,
    *,
    rounds: tuple[float, ...] = (),
    states: tuple[tuple[float | None, float | None], ...] = (),
    bounds: tuple[bool, ...] | None = None,
    **fields: Any,
) -> Throughput:
    """Of 64-byte frames. `states`: of the rounds, slower and farther times; `bounds`: whether the tester was
    their limit, which older results do not say."""
    known = (*states, *[(None, None)] * (len(rounds) - len(states)))
    ends = {"load_min_pps": min(rounds), "load_max_pps": max(rounds)} if rounds else {}
    return Throughput.model_validate(
        {
            "goal": "NDR",
            "goal_loss_ratio": 0.0,
            "status": "found",
            "load_pps": load_pps,
            "load_min_pps": load_pps,
            "load_max_pps": load_pps,
            "lower_bound_pps": load_pps,
            "upper_bound_pps": load_pps * 1.005,
            "repeats": max(1, len(rounds)),
            "l2_bps": load_pps * 64 * 8,
            "l1_bps": load_pps * 84 * 8,
            "rounds": [
                RoundRate(
                    round=number,
                    load_pps=pps,
                    slower_times=slower,
                    farther_times=farther,
                    tester_bound=None if bounds is None else bounds[number],
                )
                for number, (pps, (slower, farther)) in enumerate(zip(rounds, known, strict=True))
            ],
        }
        | ends
        | fields
    )


def case(one: Throughput, *, contradicted: bool = False) -> Case:
    """Trials below and above the rate; `contradicted`: one carried twice as much."""
    load_pps = one.load_pps or 1e6
    steps = (0.5, 0.9, 1.2, 1.5)
    return Case(
        frame="64",
        mean_frame_bytes=64,
        throughput=[one],
        curve=[trial(load_pps * step, lost_share=max(0.0, 1 - 1 / step), purpose="curve") for step in steps],
        trials=[
            trial(load_pps, lost_share=0.0, away_us=0),
            trial(load_pps, lost_share=0.1, slower_times=SLOWER),
            trial(load_pps * (2 if contradicted else 1), lost_share=0.0),
        ],
    )


def trial(load_pps: float, *, lost_share: float, away_us: float = 6000, **fields: Any) -> Trial:
    """A fifth of a second, the rest after an absence of core 1 counts; packets lost meanwhile do not."""
    offered = round(load_pps * 0.2)
    counted_s = 0.2 - 2 * away_us / 1e6
    counted_offered = round(load_pps * counted_s)
    lost = round(counted_offered * lost_share)
    meanwhile = round(load_pps * away_us / 1e6)
    delivered = offered - lost - meanwhile
    absences = [
        LeftOut(core=1, from_us=50_000, to_us=50_000 + away_us * 0.75, by="python3 (4711)"),
        LeftOut(core=0, from_us=90_000, to_us=90_000 + away_us * 0.25, by="host"),
    ]
    return Trial.model_validate(
        {
            "purpose": "search",
            "intended_load_pps": load_pps,
            "intended_duration_s": 0.2,
            "duration_s": 0.2,
            "intended": offered,
            "offered": offered,
            "delivered": delivered,
            "loss_ratio": 1 - delivered / offered,
            "valid": True,
            "counted": Counted(seconds=counted_s, offered=counted_offered, lost=lost),
            "left_out": absences if away_us else [],
            "slices": TrialSlices(width_us=1000, offered=[offered // 200] * 200, delay_us=[10.0] * 200),
            "distances_cycles": {"0-1": 120.0 if away_us else 540.0},
            "streams": [
                StreamCount(
                    stream=0,
                    direction="left-to-right",
                    intended=offered,
                    offered=offered,
                    delivered=delivered,
                    duplicates=0,
                    reordered=0,
                )
            ],
        }
        | fields
    )
