# SPDX-License-Identifier: Apache-2.0
"""A lean result from recorded answers of weir-lean: nat and l2fwd, 64-byte frames, 2.45 GHz."""

from __future__ import annotations

from typing import Any

import pytest

from weir.procedures.lean.numbers import (
    Counted,
    ImpossibleError,
    Stepped,
    Timed,
    fastpath_use,
    misses,
    predicted,
    refuse_impossible,
    samples,
    state,
)
from weir.results.lean import LeanState

# Printed by weir-lean; `time 2000` twice, then `step 256`. The core ran at 1.5 times the counter's rate.
FIRST: dict[str, Any] = {
    "batches": 2000,
    "packets": 64000,
    "forwarded": 64000,
    "interrupted": 2,
    "cycled": 63936,
    "cycles": 9272596,
    "middle": 4530.5,
    "core_per_tsc": 1.5,
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
STEPPED = Stepped(batches=256, packets=8192, instructions=4395520, stages=(4006656, 186624))


@pytest.fixture
def timed() -> list[Timed]:
    return [Timed.model_validate(one) for one in (FIRST, SECOND)]


def of(timed: list[Timed], stepped: Stepped | None = None) -> LeanState:
    found = state(timed, stepped)
    assert found is not None
    return found


def test_cycles_are_those_of_packets_that_nothing_interrupted(timed: list[Timed]) -> None:
    found = of(timed)
    assert found.chain.tsc_cycles_per_packet.min == pytest.approx(9272596 / 63936)
    assert found.chain.tsc_cycles_per_packet.max == pytest.approx(9392534 / 63872)
    assert [stage.name for stage in found.stages] == ["nat", "l2fwd"]
    assert found.stages[0].tsc_cycles_per_packet.min == pytest.approx(6762273 / 63936)
    assert found.chain.packets_in == found.chain.packets_out == 128000


def test_cycles_of_the_core_are_those_of_the_counter_times_the_cores_own_clock(timed: list[Timed]) -> None:
    chain = of(timed).chain
    assert chain.cycles_per_packet.median == pytest.approx(1.5 * chain.tsc_cycles_per_packet.median)


def test_stages_and_what_is_in_none_add_up_to_the_chain(timed: list[Timed]) -> None:
    found = of(timed[:1], STEPPED)
    rows = [*found.stages, found.outside]
    assert found.outside.name == "in no stage"
    assert sum(one.cycles_per_packet.median for one in rows) == pytest.approx(
        found.chain.cycles_per_packet.median
    )
    assert sum(one.instructions_per_packet or 0 for one in rows) == pytest.approx(
        found.chain.instructions_per_packet
    )


def test_nothing_that_counts_leaves_instructions_open(timed: list[Timed]) -> None:
    chain = of(timed).chain
    assert chain.instructions_per_packet is None
    assert chain.ipc is None


def test_what_the_host_interrupted_altogether_has_no_cycles() -> None:
    nothing = Timed.model_validate(FIRST | {"cycled": 0, "cycles": 0, "interrupted": 2000})
    assert state([nothing]) is None


def test_instructions_over_cycles_is_ipc_and_without_idle_time_eipc(timed: list[Timed]) -> None:
    found = of(timed, STEPPED)
    assert found.chain.instructions_per_packet == pytest.approx(4395520 / 8192)
    assert found.chain.ipc == pytest.approx(4395520 / 8192 / found.chain.cycles_per_packet.median)
    assert found.chain.eipc == found.chain.ipc
    assert found.stages[1].instructions_per_packet == pytest.approx(186624 / 8192)


def test_a_ratio_that_the_core_cannot_reach_is_refused_with_what_to_do(timed: list[Timed]) -> None:
    possible = of(timed, STEPPED)
    refuse_impossible(possible, retires_most=8.0)
    tenfold = STEPPED.model_copy(update={"instructions": 10 * STEPPED.instructions})
    with pytest.raises(ImpossibleError, match=r"chain: 5365.6 instructions in .* measure again") as refused:
        refuse_impossible(of(timed, tenfold), retires_most=8.0)
    assert "this core was seen to retire 8.0 a cycle at most" in str(refused.value)


def test_hardware_counters_tell_misses_without_those_of_counting(timed: list[Timed]) -> None:
    labels = ("empty", "path", "stage 0", "stage 1")
    targets = [
        {"label": label, "batches": 256, "packets": 8192, "l1d_misses": number, "llc_misses": 0}
        for label, number in zip(labels, (20, 9000, 8000, 900), strict=True)
    ]
    counted = Counted.model_validate({"targets": targets})
    assert misses(counted)["path"].l1d_misses == pytest.approx((9000 - 20) / 8192)
    found = state(timed, None, [counted])
    assert found is not None
    assert found.stages[1].l1d_misses_per_packet == pytest.approx((900 - 20) / 8192)
    assert found.chain.llc_misses_per_packet == 0


def test_drops_are_added_up_over_stages_and_repeats() -> None:
    nat, l2fwd = (dict(stage) for stage in FIRST["stages"])
    one = Timed.model_validate(
        FIRST
        | {"forwarded": 63990, "stages": [nat | {"packets_out": 63990, "drops": {"pool_empty": 10}}, l2fwd]}
    )
    found = of([one, one])
    assert found.chain.drops == found.stages[0].drops == {"pool_empty": 20}
    assert found.stages[1].drops == {}


def test_samples_are_means_of_the_chain_then_of_each_stage(timed: list[Timed]) -> None:
    chain, nat, l2fwd = samples([timed, timed[:1]])
    assert (chain.name, nat.name, l2fwd.name) == ("chain", "nat", "l2fwd")
    assert chain.launches == [[9272596 / 63936, 9392534 / 63872], [9272596 / 63936]]


def test_equation_6(timed: list[Timed]) -> None:
    chain = of(timed).chain
    assert predicted(chain, 2e9, 0.85).pps == pytest.approx(2e9 * 0.85 / chain.cycles_per_packet.median)


def test_a_fast_path_tells_hits_walks_and_what_is_in_no_stage(timed: list[Timed]) -> None:
    assert fastpath_use(timed) is None
    one = with_fastpath(cycles=319680)
    used = fastpath_use([one, one])
    assert used is not None
    assert (used.hits, used.slow_packets) == (126000, 2000)
    outside = of([one, one]).outside
    assert outside.name == "fast path"
    assert outside.tsc_cycles_per_packet.median == pytest.approx(319680 / 63936)


def test_a_fast_path_is_compared_and_stages_that_nobody_walked_are_not() -> None:
    nat, l2fwd = (dict(stage) for stage in FIRST["stages"])
    one = with_fastpath(cycles=319680, stages=[nat | {"cycles": 0}, l2fwd])
    assert [samples.name for samples in samples([[one, one]])] == ["chain", "fast path", "l2fwd"]


def test_an_older_weir_lean_does_not_tell_the_middle_of_its_fast_path() -> None:
    one = Timed.model_validate(FIRST | {"fastpath": {"hits": 63000, "slow_packets": 1000, "cycles": 1}})
    assert "fast path" not in [samples.name for samples in samples([[one]])]


def with_fastpath(cycles: int, **changed: Any) -> Timed:
    fastpath = {"hits": 63000, "slow_packets": 1000, "cycles": cycles, "middle": 160.0}
    return Timed.model_validate(FIRST | {"fastpath": fastpath} | changed)
