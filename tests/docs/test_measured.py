# SPDX-License-Identifier: Apache-2.0
"""The README's table of rates is made from a result."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.report.disturbed import disturbed, trial
from tests.report.stepped import stepped
from tests.report.synthetic import result
from tests.unit.procedures.latency.test_changes import compared
from tests.unit.procedures.tenants.made import found as cloud
from tools import measured

README = (Path(__file__).resolve().parents[2] / "README.md").read_text(encoding="utf-8")


def test_the_table_is_replaced_and_the_rest_stays() -> None:
    text = measured.with_lines(README, measured.table(result()))
    assert text != README
    assert measured.with_lines(text, measured.table(result())) == text
    assert [part.split(measured.MARKS[0])[0] for part in (text, README)] == [
        README.split(measured.MARKS[0])[0]
    ] * 2
    assert text.endswith(README.split(measured.MARKS[1])[1])


def test_each_chain_and_technology_has_a_line_with_ratios_to_the_baseline() -> None:
    made = result()
    for setup in made.setups:
        for case in setup.cases:
            case.curve, case.trials = [], []  # which would contradict these rates
        for found in (one for case in setup.cases for one in case.throughput):
            if found.load_pps is not None:
                found.load_pps = 0.5e6 if setup.technology == "linux-bridge" else 2e6
                found.load_min_pps, found.load_max_pps = found.load_pps * 0.95, found.load_pps * 1.05
                found.tester_bound = setup.technology == "direct"
                found.stall_labelled = False
    lines = list(measured.table(made))
    assert "| chain | technology | 64 B | 512 B | 1518 B | IMIX a7d4g |" in lines
    assert "| PVP | `direct` |" + 4 * " ≥ 2.000 ±5% (≥4.00 ×, 3.62–4.42) T |" in lines
    assert "| PVVP | `linux-bridge` |" + 4 * " 0.500 ±5% |" in lines
    assert "| PVP | `ovs` |" + 3 * " 2.000 ±5% (4.00 ×, 3.62–4.42) |" + " *irregular* I |" in lines
    assert sum(line.startswith(("| PVP ", "| PVVP ")) for line in lines) == 2 * 4


def test_rates_keep_their_flags_and_the_run_its_own_warnings() -> None:
    lines = list(measured.main_table(disturbed()))
    assert "| PVP | `direct` | ≥ 8.000 ±5% (≥20.0 ×, 19.0–21.0) T |" in lines
    assert "| PVP | `linux-bridge` | 0.400 ±0% |" in lines
    assert "| PVP | `ovs` | 0.100 to 0.250 L |" in lines
    assert "| PVP | `ovs-dpdk` | 1.200 SD; a trial: 2.400 |" in lines
    last = " ".join(lines[-2:])
    assert last.startswith(
        "Its machine was noisy: 5% of the time of its trials does not count. [All that this run"
    )
    assert last.endswith("(labs/switching/README.md#results).")
    lines = list(measured.lab_tables(disturbed()))
    text = " ".join(line.strip() for line in lines)
    assert "T: tester-bound. L: out of time. S: slower state. D: disturbed." in text
    assert "This machine was noisy:  - 288.0 ms of the 5.60 s of all trials (5%) were left out" in text
    for said in (
        "- Out of time (L): ovs PVP, frame 64 (0.100 to 0.250 Mpps).",
        "ovs-dpdk PVP, frame 64 (1.40 times slower and 4.60 times slower to pass data to each other).",
        "- Disturbed (D), share of the time that was left out: ovs-dpdk PVP, frame 64 (56%).",
        "ovs-dpdk PVP, frame 64 (1.200 Mpps, a trial carried 2.400 Mpps).",
    ):
        assert said in text, said
    assert max(len(line) for line in lines if not line.startswith("|")) <= measured.WIDTH


def test_a_rate_below_which_a_trial_lost_packets_has_it_in_its_cell() -> None:
    made = disturbed()
    (case,) = made.setups[1].cases
    case.curve[0] = trial(0.2e6, lost_share=0.05, purpose="curve")
    lines = list(measured.table(made))
    assert "| PVP | `linux-bridge` | 0.400 ±0%; a trial lost 5 % of 0.200 |" in lines
    assert "lost so much of less load" in " ".join(lines)


@pytest.mark.parametrize(
    ("version", "said"),
    [
        ("0.1.0+g1a2b3c4d5e6f", "Weir 0.1.0, commit 1a2b3c4d5e6f, on"),
        ("0.1.0+g1a2b3c4d5e6f.dirty", "Weir 0.1.0, commit 1a2b3c4d5e6f with changes, on"),
        ("0.1.0", "Weir 0.1.0, commit not recorded, on"),
    ],
)
def test_the_caption_names_command_kind_date_commit_and_machine(version: str, said: str) -> None:
    made = disturbed(quick=False)
    made.fingerprint.versions["weir"] = version
    text = " ".join(measured.table(made))
    assert text.startswith("`weir run labs/switching` (a full run), 2026-01-02, ")
    assert said in text
    assert "Imaginary 1000 @ 2.50GHz, 2 cores of a virtual machine, Linux 6.1.0-0-synthetic" in text
    made.quick = True
    assert " ".join(measured.table(made)).startswith("`weir run labs/switching --quick` (a quick run), ")


def test_a_labs_own_readme_has_its_changes_and_what_was_left_out() -> None:
    made = compared()
    made.setups[0].refused = "needs CPUs 1-7, and this machine has CPUs 0-1 to give"
    made.setups[1].fidelity = ["Emulated: the processor of f1 is a program.", "Virtual links."]
    lines = list(measured.lab_tables(made))
    assert "- Emulated: the processor of f1 is a program." in lines
    assert not any("Virtual links" in line for line in lines)
    assert any(
        line.startswith("| PVP | 64 | 100Mbit/s | `tuned` | -50% (-60% to -40%)<br>100 →") for line in lines
    )
    assert "- `tuned`: pinning, pmd_cores 1" in lines
    assert f"- `{made.setups[0].name}`: {made.setups[0].refused}" in lines
    assert "- c-states: no deep sleep to switch off" in lines


def test_what_is_compared_has_its_rate_and_cycles_in_one_table() -> None:
    made = stepped()
    made.spec.pop("steps")
    lines = list(measured.lab_tables(made))
    assert (
        "| chain | frame | variant | NDR, Mpps | × | cycles, functions | cycles, threads | cycles, way |"
        in lines
    )
    assert "| ran-upf | 128 | index | 2.200 | 2.00 | 200 | 220 | 250 |" in lines
    assert "polls, or may, has all of its time in it." in " ".join(lines)


def test_clouds_are_said_to_be_measured_one_after_the_other_and_not_in_pairs() -> None:
    setups = [cloud(4, 10_000)[0], cloud(4, 15_000)[0]]
    setups[0].technology = "bridge-filter"
    text = " ".join(measured.table(result(setups=setups, baseline="bridge-filter")))
    assert "one cloud was built and measured after the other, not in rounds." in text
    assert "pairs" not in text
    alone = " ".join(measured.table(result(setups=setups[:1])))
    assert "± the farthest repeat." in alone
    assert "its ratio" not in alone


@pytest.mark.parametrize("lab", ["switching", "vcpe", "epa", "host", "vm"])
def test_readmes_of_labs_have_marks_for_their_tables(lab: str) -> None:
    text = (measured.ROOT / "labs" / lab / "README.md").read_text(encoding="utf-8")
    assert all(text.count(mark) == 1 for mark in measured.MARKS)
