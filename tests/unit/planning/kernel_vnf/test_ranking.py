# SPDX-License-Identifier: Apache-2.0
"""f from cores and flows, the order of configurations, and the sentences that explain it."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weir.planning.kernel_vnf import reasons
from weir.planning.kernel_vnf.configuration import PUBLISHED, named, published
from weir.planning.kernel_vnf.equations import Parameters
from weir.planning.kernel_vnf.ranking import Case, Prediction, at_scale, predict, rank

TABLE_2 = published("table-2")
HOST = Case(frequency_hz=3.7e9, cores=8, link_bps=10e9, flows=4, frame_bytes=64)
CASES = st.builds(
    Case,
    frequency_hz=st.floats(1e9, 5e9),
    cores=st.integers(2, 128),
    link_bps=st.sampled_from([1e9, 10e9, 100e9]),
    flows=st.integers(1, 200),
    frame_bytes=st.integers(64, 1500),
)


def ranked(rate_pps: float | None = None, **changes: int) -> list[Prediction]:
    return rank(TABLE_2.values(), dataclasses.replace(HOST, **changes), rate_pps=rate_pps)


def names(found: list[Prediction]) -> list[str]:
    return [one.configuration.name for one in found]


@pytest.mark.parametrize(
    ("name", "flows", "scale"),
    [("1+1/ic125", 1, 1), ("1+1/ic125", 3, 3), ("1+1/ic125", 100, 4), ("2+1/ic125", 100, 2), ("5+2", 9, 1)],
)
def test_each_flow_gets_a_set_until_the_cores_are_used_up(name: str, flows: int, scale: int) -> None:
    assert predict(TABLE_2[name], dataclasses.replace(HOST, flows=flows)).scale == scale


def test_a_configuration_without_cores_for_one_set_is_refused_and_not_ranked() -> None:
    with pytest.raises(ValueError, match=r"5\+2 needs 7 cores; expected at least as many, not 6"):
        predict(TABLE_2["5+2"], dataclasses.replace(HOST, cores=6))
    assert "5+2" not in names(ranked(cores=6))
    assert ranked(cores=1) == []


@given(CASES, st.sampled_from(PUBLISHED))
def test_the_first_carries_the_most_and_none_uses_more_than_there_is(case: Case, source: str) -> None:
    found = rank(published(source).values(), case)
    rates = [one.throughput.pps for one in found]
    assert rates == sorted(rates, reverse=True)
    assert all(1 <= one.scale <= case.flows and one.cores <= case.cores for one in found)
    for one in found:
        assert one.throughput.pps >= predict(one.configuration, case).throughput.pps


@given(CASES, st.floats(1e4, 5e6))
def test_for_a_rate_the_first_that_carries_it_takes_the_fewest_cores(case: Case, rate_pps: float) -> None:
    found = rank(TABLE_2.values(), case, rate_pps=rate_pps)
    meeting = [one for one in found if one.meets(rate_pps)]
    assert found[: len(meeting)] == meeting
    assert [one.cores for one in meeting] == sorted(one.cores for one in meeting)
    possible = [one for one in rank(TABLE_2.values(), case) if one.meets(rate_pps)]
    assert len(possible) == len(meeting)


def test_a_full_link_is_filled_with_no_more_cores_than_that_takes() -> None:
    best, *others = ranked(frame_bytes=1500)
    assert best.throughput.limited_by == "link"
    assert best.cores == min(one.cores for one in [best, *others] if one.throughput.limited_by == "link")
    said = reasons.verdict([best, *others])
    assert said == "4+1 is best: 0.822 Mpps on 5 cores. 2+1/ic125 fills the link too, on 6 cores."


def test_sets_are_left_out_only_where_whole_flows_can_do_without() -> None:
    found = {one.configuration.name: one for one in ranked(0.9e6, cores=8, flows=4)}
    three = at_scale(TABLE_2["1+1/ic125"], HOST, 3)
    assert three.meets(0.9e6)  # but with two flows on one of three sets it is full at two thirds of that
    assert found["1+1/ic125"].scale == 4
    assert {one.configuration.name: one.scale for one in ranked(0.9e6, flows=99)}["1+1/ic125"] == 3


def test_the_reason_compares_sets_and_costs_with_the_runner_up() -> None:
    found = ranked()
    assert names(found)[:2] == ["3+1", "2+1/ic125"]
    assert reasons.verdict(found) == (
        "3+1 is best: 1.327 Mpps on 8 cores. 2+1/ic125 follows with 10.8% less: as many sets, and 6,254 "
        "cycles a packet on the fullest core instead of 5,579."
    )


def test_a_lead_within_the_models_error_is_said_when_the_runner_up_takes_fewer_cores() -> None:
    said = reasons.verdict(ranked(flows=1))
    assert said.startswith("5+2 is best: 1.180 Mpps on 7 cores. 4+2 follows with 0.4% less")
    assert said.endswith("That is within the published mean error of 3.74%, and 4+2 takes 6 cores.")


def test_a_rate_is_met_with_a_margin_or_the_nearest_is_named_with_what_limits_it() -> None:
    assert reasons.verdict(ranked(1e6), rate_pps=1e6) == (
        "4+1 is best: 1.000 Mpps on 5 cores, with a margin of 4.6%. 2+1/ic125 takes 6 cores and could carry "
        "1.183 Mpps."
    )
    assert "less than the published mean error" in reasons.verdict(ranked(1.02e6), rate_pps=1.02e6)
    assert reasons.verdict(ranked(1.3e6), rate_pps=1.3e6).endswith("No other configuration carries it.")
    assert reasons.verdict(ranked(2e6), rate_pps=2e6).endswith(
        "nearest with 1.327 Mpps; the processor limits."
    )
    assert reasons.verdict(ranked(2e6, frame_bytes=1500), rate_pps=2e6).endswith("the link limits.")


def test_what_limits_says_what_would_help() -> None:
    assert "2 would fit, but a flow stays on one set" in reasons.limits(ranked(flows=1, cores=15)[0])
    assert reasons.limits(ranked()[0]).endswith("3+1 runs 2 sets of 4 cores (f = 2): all cores.")
    assert reasons.limits(ranked(flows=1)[0]).endswith("and leaves 1 core free.")
    assert reasons.limits(ranked(frame_bytes=1500)[0]) == "The link is full."


@pytest.mark.parametrize(
    ("name", "case", "said"),
    [
        (
            "1+1/ic125",
            dataclasses.replace(HOST, flows=1),
            "f = 1 is extrapolated: it was calibrated at f = 2 and 4",
        ),
        ("4+1", dataclasses.replace(HOST, cores=10), "assumes that it scales as 3+1 does"),
        ("3+1", dataclasses.replace(HOST, flows=3), "3 flows do not share 2 sets evenly"),
        ("3+1", dataclasses.replace(HOST, frame_bytes=9000), "Frames of 9000 bytes are extrapolated"),
    ],
)
def test_what_lies_outside_the_papers_measurements_is_said(name: str, case: Case, said: str) -> None:
    (sentence,) = reasons.caveats([predict(TABLE_2[name], case)])
    assert said in sentence


def test_with_points_of_ones_own_their_frames_count_and_the_papers_error_does_not() -> None:
    basis = reasons.basis_of_points(published("table-1").values())
    assert basis == reasons.Basis((64, 1024), None)
    (sentence,) = reasons.caveats(ranked(frame_bytes=1400, link_bps=int(100e9))[:1], basis=basis)
    assert sentence == "Frames of 1400 bytes are extrapolated: 64 to 1024 were measured."
    assert "mean error" not in reasons.verdict(ranked(flows=1), basis=basis)
    assert "mean error" not in reasons.verdict(ranked(1.02e6), rate_pps=1.02e6, basis=basis)


def test_inside_the_papers_measurements_nothing_is_said() -> None:
    assert reasons.caveats([predict(one, HOST) for one in list(TABLE_2.values())[:5]]) == []


def test_costs_that_are_none_are_refused_or_passed_over() -> None:
    odd = named("1+1", Parameters(0, 0, 1000, -1000))  # nothing at f = 1
    with pytest.raises(ValueError, match=r"1\+1: f = 1 .* would cost 0 cycles"):
        predict(odd, dataclasses.replace(HOST, flows=1))
    assert [one.scale for one in rank([odd], HOST, rate_pps=1.0)] == [2]
    assert reasons.disagreement(predict(TABLE_2["3+1"], dataclasses.replace(HOST, flows=1)), odd) is None
