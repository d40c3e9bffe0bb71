# SPDX-License-Identifier: Apache-2.0
"""The detector of regressions, on programs whose true ratio is known."""

from __future__ import annotations

import math
import random

import pytest

from weir.procedures.lean.regression import regressions, verdict, verdicts
from weir.results.lean import LeanSamples, StageVerdict

LAUNCHES, REPEATS = 8, 20


def pair(
    ratio: float, *, noise: float = 0.004, seed: int = 1, drift: float = 0.1
) -> tuple[LeanSamples, LeanSamples]:
    """Two programs: from launch to launch the machine differs by `drift`, they by `noise`, repeats by 1 %."""
    draw = random.Random(seed)
    old, new = [], []
    for _ in range(LAUNCHES):
        base = 100 * math.exp(draw.gauss(0, drift))
        own = base * ratio * math.exp(draw.gauss(0, noise))
        old.append([base * math.exp(draw.gauss(0, 0.01)) for _ in range(REPEATS)])
        new.append([own * math.exp(draw.gauss(0, 0.01)) for _ in range(REPEATS)])
    return LeanSamples(name="nat", launches=old), LeanSamples(name="nat", launches=new)


def words(ratio: float, count: int = 50, noise: float = 0.004) -> list[str]:
    return [verdict(*pair(ratio, noise=noise, seed=seed), interleaved=True).verdict for seed in range(count)]


def test_five_percent_are_always_found_though_the_machine_drifts_by_ten() -> None:
    assert words(1.05).count("slower") == 50


def test_two_percent_are_found_in_four_of_five() -> None:
    assert words(1.02).count("slower") >= 40


def test_equal_programs_raise_no_alarm() -> None:
    found = words(1.0)
    assert found.count("slower") == found.count("faster") == 0
    assert found.count("same") >= 45


def test_a_change_below_a_step_of_the_clock_is_found_in_means_over_many_readings() -> None:
    """A batch of 240 cycles, read by a clock that goes on by 26: 5 % more is less than half of a step."""
    draw = random.Random(1)

    def reading(cycles: float) -> float:
        begins = draw.uniform(0, 26)
        return 26 * ((begins + cycles) // 26)

    def launches(cycles: float) -> list[list[float]]:
        return [
            [sum(reading(cycles) for _ in range(150)) / 150 / 32 for _ in range(60)] for _ in range(LAUNCHES)
        ]

    old, new = (LeanSamples(name="l3fwd", launches=launches(cycles)) for cycles in (240, 252))
    told = verdict(old, new, interleaved=True)
    assert told.verdict == "slower"
    assert told.ratio == pytest.approx(1.05, abs=0.002)


def chain_of(**cycles: float) -> list[LeanSamples]:
    return [
        LeanSamples(name=name, launches=[[usual * (1 + 0.001 * (at % 3))] * 5 for at in range(LAUNCHES)])
        for name, usual in cycles.items()
    ]


def said(before: list[LeanSamples], after: list[LeanSamples]) -> dict[str, str]:
    found = verdicts(before, after, interleaved=True, core_per_tsc=1.5)
    return {one.name: one.verdict for one in found}


def test_what_a_slower_stage_moves_of_its_neighbours_is_not_called_slower() -> None:
    before = chain_of(chain=62, nat=53, l3fwd=7.5, acl=1.5)
    after = chain_of(chain=65.1, nat=55.7, l3fwd=7.9, acl=1.5)
    told = verdicts(before, after, interleaved=True, core_per_tsc=1.5)
    assert {one.name: one.verdict for one in told} == {
        "chain": "slower",
        "nat": "slower",
        "l3fwd": "neighbour",
        "acl": "same",
    }
    assert regressions(told, "chain") == ["nat"]
    sentence = next(one.sentence for one in told if one.name == "l3fwd")
    assert "no verdict beside nat, which changed by more: +5.3% cycles" in sentence


def test_a_small_stage_that_alone_became_slower_is_named() -> None:
    before = chain_of(chain=62, nat=53, l3fwd=7.5)
    assert said(before, chain_of(chain=62.4, nat=53.05, l3fwd=7.9))["l3fwd"] == "slower"


def test_a_neighbour_that_became_slower_by_more_than_the_processor_has_in_flight_is_named_too() -> None:
    before = chain_of(chain=62, nat=53, l3fwd=7.5)
    told = said(before, chain_of(chain=68, nat=56, l3fwd=10.5))
    assert (told["nat"], told["l3fwd"]) == ("slower", "slower")


def test_a_stage_is_not_moved_by_one_that_is_no_neighbour() -> None:
    before = chain_of(chain=70, nat=53, dpi=9, l3fwd=7.5)
    told = said(before, chain_of(chain=73, nat=56, dpi=9, l3fwd=7.9))
    assert (told["nat"], told["dpi"], told["l3fwd"]) == ("slower", "same", "slower")


def test_an_improvement_is_no_regression() -> None:
    assert set(words(0.95)) == {"faster"}


def test_there_is_no_verdict_when_the_noise_exceeds_the_effect() -> None:
    found = words(1.02, noise=0.05)
    assert found.count("none") > 40
    said = verdict(*pair(1.02, noise=0.05), interleaved=True).sentence
    assert "no verdict, the noise exceeds the effect" in said


def test_one_disturbed_launch_decides_nothing() -> None:
    old, new = pair(1.0)
    new.launches[3] = [3 * cycles for cycles in new.launches[3]]
    assert verdict(old, new, interleaved=True).verdict == "same"


def test_the_interval_holds_the_true_ratio_in_most_cases() -> None:
    found = [verdict(*pair(1.03, seed=seed), interleaved=True) for seed in range(60)]
    assert sum(one.low <= 1.03 <= one.high for one in found) >= 52


def test_a_stored_result_is_compared_without_pairs() -> None:
    assert verdict(*pair(1.05, drift=0.002), interleaved=False).verdict == "slower"
    assert verdict(*pair(1.0, drift=0.002), interleaved=False).verdict == "same"
    assert verdict(*pair(1.05, drift=0.2), interleaved=False).verdict == "none"


@pytest.mark.parametrize(
    ("ratio", "said"),
    [(1.0, "exactly as many instructions"), (1.0213, "+2.13% instructions, counted without noise")],
)
def test_instruction_counts_are_a_second_witness(ratio: float, said: str) -> None:
    assert said in verdict(*pair(1.0), interleaved=True, instructions_ratio=ratio).sentence


def judged(name: str, word: str) -> StageVerdict:
    return StageVerdict.model_validate(
        {"name": name, "ratio": 1, "low": 1, "high": 1, "verdict": word, "sentence": ""}
    )


def test_the_stage_is_named_and_the_chain_only_if_no_stage_is_slower() -> None:
    both = [judged("chain", "slower"), judged("nat", "slower"), judged("l2fwd", "same")]
    assert regressions(both, "chain") == ["nat"]
    assert regressions([judged("chain", "slower"), judged("nat", "none")], "chain") == ["chain"]
    assert regressions([judged("chain", "same")], "chain") == []
