# SPDX-License-Identifier: Apache-2.0
"""Variants in reports: compared by name, with what each took off the delays and what was tuned for it."""

from __future__ import annotations

import io
from typing import get_args

from rich.console import Console, Group

from tests.report.synthetic import result
from weir.procedures.latency.section import reduction_tables
from weir.procedures.latency.section_rows import host_of, out_of_reach, reduction_rows
from weir.report import render, summary, terminal
from weir.results.result import DelayMeasure, HostSetting, Reduction, Result, Shortfall

WHY = "here cgroup v1 has the cpuset controller"


def compared() -> Result:
    """Two technologies as variants of one lab, the second one on a host tuned in part."""
    made = result(baseline="as installed")
    made.setups = [setup for setup in made.setups if setup.technology in ("linux-bridge", "ovs-dpdk")]
    for setup in made.setups:
        tuned = setup.technology == "ovs-dpdk"
        setup.variant = "tuned" if tuned else "as installed"
        asked = "auto" if tuned else None
        setup.host = [
            HostSetting(key="pinning", asked=str(tuned).lower(), applied=tuned),
            HostSetting(key="isolation", asked=asked, applied=False, why=WHY if tuned else None),
            HostSetting(key="pmd_cores", asked="1" if tuned else None, applied=tuned),
        ]
    made.shortfalls = [
        Shortfall(subject="isolation", what="said already"),
        Shortfall(subject="c-states", what="no deep sleep to switch off"),
    ]
    made.reductions = [
        reduced("mean", (0.4, 0.5, 0.6)),
        reduced("max", (0.7, 0.8, 0.9), frame="1518"),
        reduced("mean", (-0.4, -0.1, 0.2), frame="1518", loss_ratio=0.01),
    ]
    return made


def reduced(
    measure: DelayMeasure, shares: tuple[float, float, float], frame: str = "64", loss_ratio: float = 0.0
) -> Reduction:
    low, share, high = shares
    return Reduction(
        chain="PVP",
        frame=frame,
        load="100Mbit/s",
        way="tuned",
        baseline="as installed",
        measure=measure,
        baseline_us=100,
        found_us=100 * (1 - share),
        reduction=share,
        reduction_min=low,
        reduction_max=high,
        rounds=3,
        same_load=True,
        loss_ratio=loss_ratio,
    )


def test_variants_are_what_is_compared() -> None:
    made = compared()
    assert summary.technologies(made) == ["as installed", "tuned"]
    ratios = {row.setup.name: row.ratio_text for row in summary.rows(made) if row.case.frame == "64"}
    assert ratios["as installed"] == "1"
    assert float(ratios["tuned"]) > 1


def test_a_change_has_its_sign_and_its_spread() -> None:
    first, second = reduction_rows(compared())
    assert (first.changes()[0], first.spreads()[0], first.values()[0]) == (
        "-50%",
        "-60% to -40%",
        "100 → 50.0",
    )
    assert (second.changes()[2], second.changes()[1]) == ("-80%", "–")


def test_rounds_that_do_not_agree_show_no_change() -> None:
    _, second = reduction_rows(compared())
    assert second.changes()[0] == "+10%?"
    assert second.remark() == "loss 1 %"


def test_what_was_asked_for_in_vain_and_what_no_key_changes_is_said_once() -> None:
    assert out_of_reach(compared()) == [f"isolation (tuned): {WHY}", "c-states: no deep sleep to switch off"]


def test_nothing_is_said_of_hosts_that_do_not_differ() -> None:
    assert host_of(result()) == {}


def test_table_and_page_show_the_changes_and_the_hosts() -> None:
    made = compared()
    text = terminal.render(made, whole=True)
    assert "PVP: change of the delay to as installed" in text
    assert "tuned: pinning, pmd_cores 1" in text
    page = render(made, "html")
    latency, tuned = page.split('<section id="tuned"')
    assert "Each key of the host" in tuned
    assert "Each key of the host" not in latency
    for said in ("Change of the delay to as installed", "-60% to -40%", "What this machine cannot show", WHY):
        assert said in page


def test_changes_of_any_size_fit_into_80_columns() -> None:
    made = compared()
    made.reductions = [
        reduced(measure, (-15.6, -8.2, 0.92), frame="imix:aaaaaaaddddg", loss_ratio=0.01)
        for measure in get_args(DelayMeasure)
    ]
    out = io.StringIO()
    Console(file=out, width=200).print(Group(*reduction_tables(made)))
    lines = [line.rstrip() for line in out.getvalue().splitlines()]
    assert max(map(len, lines)) <= 80
    (changes,) = [line for line in lines if line.startswith("tuned ")]
    assert changes.split() == ["tuned", *["+820%?"] * 6]
    assert any(line.split()[-6:] == ["-92…+1560"] * 6 for line in lines)


def test_a_run_without_goals_has_no_empty_table_and_no_section_of_what_was_not_searched() -> None:
    made = compared()
    for setup in made.setups:
        for case in setup.cases:
            case.throughput = []
    page = render(made, "html")
    assert '<section id="throughput"' not in page
    assert 'href="#throughput"' not in page
    assert "Not searched" not in page
    assert "ratio: to" not in render(made, "terminal")
