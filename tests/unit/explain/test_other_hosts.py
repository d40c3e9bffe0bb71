# SPDX-License-Identifier: Apache-2.0
"""Where packets were lost in a chain that spans hosts: areas of other hosts are in no trial."""

from __future__ import annotations

from tests.unit.plan.test_spanning import spanning_lab, whole
from tests.unit.store.made import trial
from weir.explain.trial import losses
from weir.measure.spans import LOST_BETWEEN
from weir.plan.spanning import part
from weir.results.loads import AreaLoad
from weir.results.trial import Drop


def test_what_a_function_on_another_host_decided_is_its_decision_and_what_a_wire_lost_is_not() -> None:
    topology = part(whole("direct", spanning_lab()), "edge")
    measured = trial()
    measured.areas = [
        AreaLoad(name="f1", core=1, kind="chain", busy_cycles=1, idle_cycles=1, paths=[]),
    ]
    measured.drops = [
        Drop(place="f2/both/firewall", reason="denied", packets=4),
        Drop(place="wire1:edge-core", reason=LOST_BETWEEN, packets=7),
    ]
    found = losses(measured, topology)
    assert [(one.stage, one.packets) for one in found.decisions] == [("f2/firewall", 4)]
    assert [(one.queue, one.packets) for one in found.overflows] == [("wire1:edge-core", 7)]
