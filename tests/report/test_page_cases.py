# SPDX-License-Identifier: Apache-2.0
"""The page's tables of where the time went."""

from __future__ import annotations

import re

from weir import report
from weir.report.page.cases import areas
from weir.results.result import AreaLoad, Case, CoreLoad, PathLoad

from .synthetic import result

TSC_HZ = 1_000_000_000


def measured() -> Case:
    """The highest load of the curve, with a polling thread and the kernel's receive path."""
    case = result().setups[0].cases[0]
    path = PathLoad(
        name="switch", inputs=[], outputs=["switch:b"], packets_in=2_000_000, packets_out=1_999_993, dropped=7
    )
    trial = max(case.curve, key=lambda one: one.intended_load_pps)
    busy = int(trial.duration_s * TSC_HZ * 0.5)
    trial.areas = [
        AreaLoad(name="f1", core=1, kind="chain", busy_cycles=2 * busy, kernel_cycles=busy, idle_cycles=0),
        AreaLoad(name="pmd.2", core=2, kind="pmd", busy_cycles=busy, idle_cycles=busy, paths=[path]),
    ]
    nothing = dict.fromkeys(("user_s", "system_s", "irq_s", "idle_s"), 0.0)
    trial.cores = [
        CoreLoad(
            core=1,
            window_s=2.0,
            softirq_s=1.0,
            steal_s=0.1,
            frames=4_321,
            dropped=0,
            squeezed=17,
            accounted=0.93,
            **nothing,
        )
    ]
    return case


def cells(markup: str) -> list[list[str]]:
    rows = [re.findall(r"<td[^>]*>(.*?)</td>", row) for row in re.findall(r"<tr>(.*?)</tr>", markup)]
    return [row for row in rows if row]


def test_areas_in_and_outside_weir_dp_without_the_kernels_time_twice() -> None:
    found, _ = areas(measured(), TSC_HZ)
    f1, pmd = cells(found)
    assert f1[:4] == ["f1", "chain", "1", "50%"]
    assert pmd[:4] == ["pmd.2", "pmd", "2", "50%"]
    assert pmd[5:] == ["2,000,000", "7"]


def test_cores_with_what_is_stolen_squeezed_and_accounted() -> None:
    _, cores = areas(measured(), TSC_HZ)
    assert cells(cores) == [["1", "0%", "0%", "50%", "5%", "0%", "4,321", "0", "17", "93%"]]


def test_a_result_without_ledgers_has_no_such_table() -> None:
    assert areas(result().setups[0].cases[0], TSC_HZ) == []
    assert "Where the time went" not in report.render(result(), "html")
