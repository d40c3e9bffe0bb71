# SPDX-License-Identifier: Apache-2.0
"""The README's table of rates is made from a result."""

from __future__ import annotations

from pathlib import Path

from tests.report.synthetic import result
from tools import measured

README = (Path(__file__).resolve().parents[2] / "README.md").read_text(encoding="utf-8")


def test_the_table_is_replaced_and_the_rest_stays() -> None:
    text = measured.with_table(README, result())
    assert text != README
    assert measured.with_table(text, result()) == text
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
