# SPDX-License-Identifier: Apache-2.0
"""The README's table of rates is made from a result."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.report.synthetic import result
from tests.report.test_reductions import compared
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
        for found in (one for case in setup.cases for one in case.throughput):
            if found.load_pps is not None:
                found.load_pps = 0.5e6 if setup.technology == "linux-bridge" else 2e6
                found.tester_bound = setup.technology == "direct"
    lines = list(measured.table(made))
    assert "| chain | technology | 64 B | 512 B | 1518 B | IMIX a7d4g |" in lines
    assert (
        "| PVP | `direct` | ≥ 2.000 (4.00 ×) | ≥ 2.000 (4.00 ×) | ≥ 2.000 (4.00 ×) | ≥ 2.000 (4.00 ×) |"
        in lines
    )
    assert "| PVVP | `linux-bridge` | 0.500 | 0.500 | 0.500 | 0.500 |" in lines
    assert "| PVP | `ovs` | 2.000 (4.00 ×) | 2.000 (4.00 ×) | 2.000 (4.00 ×) | *irregular* |" in lines
    assert sum(line.startswith(("| PVP ", "| PVVP ")) for line in lines) == 2 * 4


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


@pytest.mark.parametrize("lab", ["vcpe", "epa", "host", "vm"])
def test_readmes_of_labs_have_marks_for_their_tables(lab: str) -> None:
    text = (measured.ROOT / "labs" / lab / "README.md").read_text(encoding="utf-8")
    assert all(text.count(mark) == 1 for mark in measured.MARKS)
