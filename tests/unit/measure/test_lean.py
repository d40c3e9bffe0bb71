# SPDX-License-Identifier: Apache-2.0
"""A lean result from recorded answers of weir-lean: nat and l2fwd, 64-byte frames, 2.45 GHz."""

from __future__ import annotations

from typing import Any

import pytest

from weir.measure.lean import Counted, Timed, costs, counts, fastpath_use, predicted, samples

# Printed by weir-lean; `time 2000` twice, then `count 256` under callgrind.
FIRST: dict[str, Any] = {
    "batches": 2000,
    "packets": 64000,
    "forwarded": 64000,
    "interrupted": 2,
    "cycled": 63936,
    "cycles": 9272596,
    "middle": 4530.5,
    "stages": [
        {
            "name": "nat",
            "packets_in": 64000,
            "packets_out": 64000,
            "cycles": 6762273,
            "middle": 3307.3,
            "drops": {},
        },
        {
            "name": "l2fwd",
            "packets_in": 64000,
            "packets_out": 64000,
            "cycles": 947778,
            "middle": 461.1,
            "drops": {},
        },
    ],
}
SECOND: dict[str, Any] = FIRST | {"cycles": 9392534, "cycled": 63872, "interrupted": 4, "middle": 4600.0}
CALLGRIND: dict[str, Any] = {
    "targets": [
        {"label": "empty", "batches": 256, "packets": 8192, "instructions": 5888},
        {"label": "path", "batches": 256, "packets": 8192, "instructions": 4395520},
        {"label": "stage 0", "batches": 256, "packets": 8192, "instructions": 4006656},
        {"label": "stage 1", "batches": 256, "packets": 8192, "instructions": 186624},
    ],
    "shared": False,
}


@pytest.fixture
def timed() -> list[Timed]:
    return [Timed.model_validate(one) for one in (FIRST, SECOND)]


def test_cycles_are_those_of_packets_that_nothing_interrupted(timed: list[Timed]) -> None:
    total, stages = costs(timed, [])
    assert total.cycles_per_packet.min == pytest.approx(9272596 / 63936)
    assert total.cycles_per_packet.max == pytest.approx(9392534 / 63872)
    assert [stage.name for stage in stages] == ["nat", "l2fwd"]
    assert stages[0].cycles_per_packet.min == pytest.approx(6762273 / 63936)
    assert total.packets_in == total.packets_out == 128000


def test_nothing_that_counts_leaves_instructions_open(timed: list[Timed]) -> None:
    total, _ = costs(timed, [])
    assert total.instructions_per_packet is None
    assert total.ipc is None


def test_what_counting_costs_is_taken_off() -> None:
    found = counts(Counted.model_validate(CALLGRIND))
    assert set(found) == {"path", "stage 0", "stage 1"}
    assert found["path"].instructions == pytest.approx((4395520 - 5888) / 8192)
    assert found["path"].cycles is None


def test_instructions_over_cycles_is_ipc_and_without_idle_time_eipc(timed: list[Timed]) -> None:
    total, stages = costs(timed, [Counted.model_validate(CALLGRIND)])
    assert total.instructions_per_packet == pytest.approx(535.85, abs=0.01)
    assert total.instructions_per_packet is not None
    assert total.ipc == pytest.approx(total.instructions_per_packet / total.cycles_per_packet.median)
    assert total.eipc == total.ipc
    assert stages[1].instructions_per_packet == pytest.approx(22.06, abs=0.01)


def test_hardware_counters_give_cycles_and_misses_too(timed: list[Timed]) -> None:
    targets = [dict(target) for target in CALLGRIND["targets"]]
    for target, cycles in zip(targets, (2000, 900000, 800000, 90000), strict=True):
        target |= {"cycles": cycles, "l1d_misses": cycles // 100, "llc_misses": 0}
    total, _ = costs(timed, [Counted.model_validate({"targets": targets})])
    assert total.cycles_per_packet.median == pytest.approx((900000 - 2000) / 8192)
    assert total.l1d_misses_per_packet == pytest.approx((9000 - 20) / 8192)
    assert total.llc_misses_per_packet == 0


def test_drops_are_added_up_over_stages_and_repeats() -> None:
    nat, l2fwd = (dict(stage) for stage in FIRST["stages"])
    one = Timed.model_validate(
        FIRST
        | {"forwarded": 63990, "stages": [nat | {"packets_out": 63990, "drops": {"pool_empty": 10}}, l2fwd]}
    )
    total, stages = costs([one, one], [])
    assert total.drops == stages[0].drops == {"pool_empty": 20}
    assert stages[1].drops == {}


def test_samples_are_middles_of_the_chain_then_of_each_stage(timed: list[Timed]) -> None:
    chain, nat, l2fwd = samples([timed, timed[:1]], 24)
    assert (chain.name, nat.name, l2fwd.name) == ("chain", "nat", "l2fwd")
    assert chain.launches == [[4530.5 / 32, 4600.0 / 32], [4530.5 / 32]]
    assert chain.step_cycles == 24 / 32


def test_equation_6(timed: list[Timed]) -> None:
    total, _ = costs(timed, [])
    found = predicted(total, 2e9, 0.85)
    assert found.pps == pytest.approx(2e9 * 0.85 / total.cycles_per_packet.median)


def test_a_fast_path_tells_hits_walks_and_what_is_in_no_stage(timed: list[Timed]) -> None:
    assert fastpath_use(timed) is None
    one = with_fastpath(cycles=319680)
    used = fastpath_use([one, one])
    assert used is not None
    assert (used.hits, used.walks) == (126000, 2000)
    assert used.cycles_per_packet.median == pytest.approx(319680 / 63936)


def test_a_fast_path_is_compared_and_stages_that_nobody_walked_are_not() -> None:
    nat, l2fwd = (dict(stage) for stage in FIRST["stages"])
    one = with_fastpath(cycles=319680, stages=[nat | {"middle": 0.0}, l2fwd])
    assert [samples.name for samples in samples([[one, one]], 24)] == ["chain", "fast path", "l2fwd"]


def test_an_older_weir_lean_does_not_tell_the_middle_of_its_fast_path() -> None:
    one = Timed.model_validate(FIRST | {"fastpath": {"hits": 63000, "walks": 1000, "cycles": 1}})
    assert "fast path" not in [samples.name for samples in samples([[one]], 24)]


def with_fastpath(cycles: int, **changed: Any) -> Timed:
    fastpath = {"hits": 63000, "walks": 1000, "cycles": cycles, "middle": 160.0}
    return Timed.model_validate(FIRST | {"fastpath": fastpath} | changed)
