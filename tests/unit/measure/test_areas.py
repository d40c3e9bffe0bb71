# SPDX-License-Identifier: Apache-2.0
"""What an execution area did in a trial, as the difference of two ledgers."""

from __future__ import annotations

from typing import Any

from tests.simulated.device import Response
from tests.simulated.tester import SimulatedDut
from weir.measure.accounting import area_loads, counted
from weir.protocol.ledger import Ledger

from .rig import CAPACITY_PPS, STEADY, Rig


def ledger(times: int) -> Ledger:
    """As weir-dp writes it, after `times` trials that were alike."""
    stage = {"nf": "acl", "in": 90 * times, "out": 80 * times, "cycles": 700 * times, "held": 0}
    stage |= {"long_cycles": 3 * times}
    path: dict[str, Any] = {
        "name": "right",
        "inputs": ["f1.left"],
        "outputs": ["f1.right.0", "f1.right.1"],
        "rx_packets": 100 * times,
        "tx_packets": 75 * times,
        "drops": {"tx_queue_full": 5 * times},
        "fastpath": {"hits": 10 * times, "slow_packets": 90 * times, "cycles": 30 * times, "flows": 3},
        "stages": [stage | {"drops": {"no_rule": 8 * times, "damaged": 2 * times}}],
    }
    area: dict[str, Any] = {"name": "f1", "core": 1, "kind": "chain", "paths": [path]}
    area |= {"busy_cycles": 1000 * times, "idle_cycles": 50 * times, "long_polls": times, "long_cycles": 9}
    return Ledger.model_validate({"tsc": times, "tsc_hz": 1, "areas": [area]})


def test_an_areas_counters_are_those_of_the_trial_alone() -> None:
    (area,) = area_loads(ledger(2), ledger(3))
    assert (area.name, area.core, area.kind) == ("f1", 1, "chain")
    assert (area.busy_cycles, area.idle_cycles, area.long_polls, area.long_cycles) == (1000, 50, 1, 0)
    (path,) = area.paths
    assert path.inputs == ["f1.left"]
    assert path.outputs == ["f1.right.0", "f1.right.1"]
    assert (path.packets_in, path.packets_out, path.dropped, path.fastpath_cycles) == (100, 75, 5, 30)
    (stage,) = path.stages
    assert (stage.nf, stage.packets_in, stage.cycles, stage.dropped) == ("acl", 90, 700, 10)
    assert stage.long_cycles == 3


def with_offload(times: int) -> Ledger:
    found = ledger(times).model_dump(by_alias=True)
    below = {"kind": "xdp", "packets": 60 * times, "bytes": 6000 * times, "flows": times, "put": 4 * times}
    path = found["areas"][0]["paths"][0]
    path["offload"] = below | {"revoked": times, "refused": {"full": 2 * times, "effect": 7}}
    path["drops"]["redirect_failed"] = 11 * times
    return Ledger.model_validate(found)


def test_what_was_offloaded_is_told_apart_from_what_the_area_handled() -> None:
    (area,) = area_loads(with_offload(2), with_offload(3))
    assert (area.packets, area.offloaded, area.handled) == (100, 60, 40)
    (path,) = area.paths
    split = path.offload
    assert split is not None
    assert (split.kind, split.packets, split.l2_bytes) == ("xdp", 60, 6000)
    assert (split.flows, split.put, split.revoked) == (3, 4, 1)
    assert split.refused == {"full": 2, "effect": 0}
    assert path.dropped == 5 + 11


def test_what_an_interface_refused_of_offloaded_packets_is_in_the_balance() -> None:
    drops = counted(with_offload(3), [])
    assert drops["f1/right", "redirect_failed"] == 33


def test_trials_that_an_explanation_reads_have_their_areas_and_those_of_a_search_have_none() -> None:
    runner = Rig(SimulatedDut(Response(CAPACITY_PPS, STEADY.saturation_pps))).runner()
    curve = runner.run("curve", 2 * CAPACITY_PPS, 0.1).trial
    assert [area.name for area in curve.areas] == ["dut"]
    assert curve.areas[0].paths[0].dropped == curve.offered - curve.delivered
    assert runner.run("search", 2 * CAPACITY_PPS, 0.1).trial.areas == []
