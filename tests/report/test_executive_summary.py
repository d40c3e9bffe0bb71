# SPDX-License-Identifier: Apache-2.0
"""The executive summary: two to four sentences, which never say more than the numbers do."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.procedures.migration.test_section import migrated
from weir.report import noise, rates, render, summary
from weir.report.sections import executive_summary, kind, next_step
from weir.results.result import Result

from .disturbed import disturbed, found
from .latency_runs import latency_run, limit
from .synthetic import result


def carries(run: Result) -> str:
    """The first sentence, of who carries what."""
    return executive_summary(run)[0]


def under(**of: object) -> Result:
    """PVP at 64 B under `direct` and `ovs` with these throughputs."""
    run = disturbed()
    run.setups = [one for one in run.setups if one.name in of]
    for setup in run.setups:
        setup.cases[0].throughput = [of[setup.name]]  # type: ignore[list-item]
        setup.cases[0].trials, setup.cases[0].curve = [], []
    run.baseline = run.setups[0].name
    return run


def test_who_carries_most_and_least_and_their_ratio_with_its_interval() -> None:
    run = under(direct=found(4e6, rounds=(3.9e6, 4.1e6)), ovs=found(1e6, rounds=(1e6, 1e6)))
    assert carries(run) == (
        "At 64 B through PVP direct carries most without loss (NDR), 4.000 Mpps, and ovs least, 1.000 Mpps: "
        "4.00 times as much (3.90–4.10)."
    )


def test_a_rate_that_the_tester_limits_is_at_least_that_and_so_is_its_ratio() -> None:
    run = under(
        direct=found(4e6, rounds=(3.9e6, 4.1e6), tester_bound=True), ovs=found(1e6, rounds=(1e6, 1e6))
    )
    assert "at least 4.000 Mpps" in carries(run)
    assert "at least 4.00 times as much (3.90–4.10)" in carries(run)


@pytest.mark.parametrize(
    "of",
    [
        {"direct": found(1.1e6, rounds=(0.9e6, 1.3e6)), "ovs": found(1e6, rounds=(1e6, 1e6))},
        {"direct": found(4e6, tester_bound=True), "ovs": found(1e6, tester_bound=True)},
        {"direct": found(4e6), "ovs": found(1e6, tester_bound=True)},
        {
            "direct": found(4e6, lower_bound_pps=1e6, upper_bound_pps=4e6, out_of_time=True),
            "ovs": found(2e6),
        },
        {"direct": found(4e6), "ovs": found(1e6, slower_times=1.5)},
        {"direct": found(1.002e6, upper_bound_pps=1.007e6), "ovs": found(1e6, upper_bound_pps=1.005e6)},
    ],
    ids=["pairs differ", "both bound", "lower bound", "out of time", "other state", "closer than bounds"],
)
def test_what_the_numbers_leave_open_is_left_open(of: dict[str, object]) -> None:
    said = carries(under(**of))
    assert "the numbers leave open which carries more: direct (" in said
    assert "times as much" not in said


def test_an_interval_that_lies_above_the_other_rate_decides_without_a_ratio() -> None:
    run = under(direct=found(4e6, lower_bound_pps=3e6, upper_bound_pps=5e6, out_of_time=True), ovs=found(1e6))
    assert carries(run) == (
        "At 64 B through PVP direct carries most without loss (NDR), 3.000 to 5.000 Mpps, and ovs least, "
        f"1.000 Mpps: no ratio, since {rates.NoRatio.OUT_OF_TIME}."
    )


def test_a_rate_of_a_slower_state_that_is_above_another_one_is_the_higher_one_all_the_same() -> None:
    slower = ((1.5, None), (1.5, None))
    bound = found(4e6, rounds=(3.9e6, 4.1e6), states=slower, tester_bound=True, slower_times=1.5)
    said = carries(under(direct=bound, ovs=found(1e6, rounds=(1e6, 1e6))))
    assert said == (
        "At 64 B through PVP direct carries most without loss (NDR), at least 4.000 Mpps, and ovs least, "
        f"1.000 Mpps: no ratio, since {rates.NoRatio.OTHER_STATE}."
    )


def test_the_other_chains_and_frame_sizes_are_counted() -> None:
    assert executive_summary(result())[1] == "direct carries most in all 8 cases (chain and frame size)."
    mixed = result()
    case = next(one for one in mixed.setups if one.technology == "ovs-dpdk").cases[1]
    for one in case.throughput:
        one.load_pps = one.load_min_pps = one.load_max_pps = 1e8
    said = executive_summary(mixed)[1]
    assert said == "Of 8 cases (chain and frame size) most is carried by direct in 7, ovs-dpdk in 1."


def test_one_system_alone_is_compared_with_nothing() -> None:
    run = under(ovs=found(1e6, rounds=(1e6, 1e6)))
    assert carries(run) == "ovs PVP carries 1.000 Mpps at 64 B without loss (NDR)."
    for name in ("terminal", "markdown", "html"):
        text = render(run, name).partition("<main>" if name == "html" else "\n")[2].partition("<script")[0]
        assert not [word for word in ("ratio to", "baseline", "× ovs", "ratios to") if word in text], name


@pytest.mark.parametrize(
    ("found_us", "said"),
    [
        ((40.0, 60.0), "Service level: met, 2 of 2 limits."),
        (
            (40.0, 250.0),
            "Service level: 1 of 2 limits MISSED; farthest off is latency P99 at 10% PDR → under ovs PVP, "
            "64 B: 250.0 µs, where the limit is 100.0 µs.",
        ),
        ((40.0, None), "Service level: 1 of 2 limits not judged."),
    ],
)
def test_a_service_level_is_met_missed_or_not_judged(found_us: tuple[float | None, ...], said: str) -> None:
    run = latency_run()
    for setup, us in zip(run.setups, found_us, strict=True):
        setup.cases[0].verdicts = [limit(us)]
    assert executive_summary(run)[0] == said


def test_delays_are_told_where_nothing_else_was_measured() -> None:
    lost, delay, *_ = executive_summary(latency_run())
    assert lost == "Nothing was lost: 4,000 packets were sent."
    assert "At 10% PDR (PVP, 64 B) the P99 of the delay is " in delay


def test_what_the_machine_did_is_in_one_sentence_and_never_twice() -> None:
    run = disturbed()
    assert noise.headline(run) is None
    (said,) = [one for one in executive_summary(run) if one.startswith("The machine was noisy")]
    assert "python3 (4711)" in said
    assert "1 of 4 rates may be higher in a better state of the machine" in said
    for setup in run.setups:
        for trial in (*setup.cases[0].trials, *setup.cases[0].curve):
            assert trial.counted is not None
            trial.counted.seconds = 0.1
    assert noise.headline(run) is not None
    assert not [one for one in executive_summary(run) if "noisy" in one]


def test_columns_of_variants_are_not_headed_as_technologies() -> None:
    run = result()
    assert summary.way_title(run) == "Technology"
    run.setups[0].variant = "tuned"
    assert summary.way_title(run) == "Variant"
    assert "Variant" in render(run, "terminal")


def test_the_next_step_of_a_run_that_did_not_end_and_of_one_with_nothing() -> None:
    assert "run it again to its end" in str(next_step(result(interrupted=True)))
    assert next_step(result(setups=[])) is None
    refused = [setup for setup in result().setups if setup.refused]
    assert "`weir doctor`" in str(next_step(result(setups=refused)))
    for setup in refused:
        setup.failed = True
    assert "mend what the reason names" in str(next_step(result(setups=refused)))


def test_the_next_step_of_each_doubt() -> None:
    def step(**fields: Any) -> str:
        first = found(4e6).model_copy(update=fields)
        return str(next_step(under(direct=first, ovs=found(1e6))))

    assert "`weir explain RUN`" in step()
    assert "more cores where it was the limit (T)" in step(tester_bound=True)
    assert "raise `measure.max_load_pps`" in step(lab_bound=True)
    assert "unsteady (U)" in step(unsteady=True)
    assert "`time_limit_s`" in step(out_of_time=True)
    assert "`weir doctor`" in step(left_out_share=0.9, out_of_time=True)
    assert "Read with care" in step(status="irregular", load_pps=None, tester_bound=True)


def test_a_run_that_ended_before_it_found_anything_is_what_it_was_to_be() -> None:
    spec = {"measure": {"goals": [], "latency": {"loads": ["10kpps"]}}}
    assert kind(result(setups=[], spec=spec)) == "latency"
    assert kind(result(setups=[], spec={"measure": {"goals": [{"name": "NDR"}]}})) == "throughput"


@pytest.mark.long
def test_a_title_says_what_kind_of_run_it_was() -> None:
    kinds = {"throughput": result(), "latency": latency_run(), "migration": migrated()}
    for name, run in kinds.items():
        assert kind(run) == name
        assert f"<span>{name} report</span>" in render(run, "html")
        assert f": {name} – Weir</title>" in render(run, "html")
        assert render(run, "terminal").splitlines()[1].startswith(f"{name} · ")


@pytest.mark.parametrize("name", ["terminal", "markdown", "html"])
def test_the_summary_stands_before_the_first_table(name: str) -> None:
    text = " ".join(render(result(), name).split())
    at = text.index("direct carries most in all 8 cases (chain and frame size).")
    assert at < text.index(
        {"terminal": "Frame Technology", "markdown": "## Throughput, PVP"}.get(name, "<table")
    )


@pytest.mark.parametrize("run", [result(), disturbed(), latency_run(), migrated(), result(setups=[])])
def test_it_has_four_sentences_at_most(run: Result) -> None:
    assert len(executive_summary(run)) <= 4
