# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.unit.measure.clocked import ledger
from tests.unit.planning.costly import MEMORY, chain
from tests.unit.planning.sample_model import sample_model
from weir import plan
from weir.lab import Lab, load_lab
from weir.lab.execution import FULL_BURST
from weir.measure.core_speed import Slowing
from weir.measure.windows import Window
from weir.planning.calibration.calibration import document
from weir.planning.calibration.set_up import NothingReturnedError, Visited, setup
from weir.planning.calibration.table import render_validation
from weir.planning.calibration.validation import compared
from weir.planning.calibration.visits import _learn, together, visit
from weir.planning.model.capacity import predict_blind
from weir.planning.model.document import model_of
from weir.protocol import DataPlaneError
from weir.protocol.ledger import Hello

LAB = load_lab(Path(__file__).parents[4] / "labs" / "predict", cpus=(0, 1))
BEST = Slowing(best_cycles=100)


def visited(windows: list[Window], slowing: Slowing = BEST) -> Visited:
    """A set-up that was seen in these windows."""
    one = Visited("one", LAB, LAB.chains()[0], "64", "direct", chain(("nat",)), windows)
    one.slowing = slowing
    return one


def window(cycles: float, *distances: float, **more: Any) -> Window:
    """A second in which a piece of work took so many cycles, with the cores so far from each other."""
    pieces = (cycles, cycles)
    return Window(
        ledger(0, 0, piece_cycles=pieces), ledger(1, 1_000_000, piece_cycles=pieces, **more), distances
    )


def test_windows_count_in_which_the_core_was_hardly_slowed() -> None:
    assert visited([window(120)] * 8).enough()
    assert not visited([window(120)] * 7 + [window(160)] * 20).enough()


def test_windows_do_not_count_in_which_a_core_was_moved() -> None:
    assert not visited([window(100, 80, 320)] * 8).enough()


def test_there_is_a_measurement_for_each_distance_of_the_cores() -> None:
    near, far = [window(100, 80, 84)] * 8, [window(100, 320, 330)] * 8
    found = visited([*near, *far, window(100, 200, 200)]).measurements()
    assert [one.execution.core_distance_cycles for one in found] == [82, 325]


def test_where_no_window_counts_all_are_one_measurement() -> None:
    (found,) = visited([window(160)] * 9).measurements()
    assert found.costs.pps == pytest.approx(1.6e6)


def test_light_loads_are_measured_with_bursts_as_long_as_they_were() -> None:
    one = visited([])
    one.light = {0.2: [window(100, bursts=500_000)] * 4}
    (found,) = one.light_measurements()
    fills = {area.name: area.paths[0].fill for area in found.as_found().areas}
    assert fills == {"generator.left": 1.0, "f1.0": 1.0, "receiver.right": 2 / FULL_BURST}


def test_set_ups_learn_from_each_other_how_fast_the_cores_can_be() -> None:
    fast, slow = visited([window(100)] * 60), visited([window(130)] * 60)
    _learn([fast, slow], Slowing(slope=0.9))
    assert fast.slowing == slow.slowing == Slowing(best_cycles=100, slope=0.9)


def test_what_an_earlier_run_knew_stands_where_it_was_better() -> None:
    slow = visited([window(130)] * 60)
    _learn([slow], BEST)
    assert slow.slowing == BEST


def under(technology: str, *traffic: tuple[str, int], functions: tuple[str, ...] = ("a",)) -> list[Visited]:
    """Set-ups of one chain, by frame and number of flows."""
    found = []
    for frame, flows in traffic:
        lab = Lab.model_validate(
            {
                "weir": 1,
                "name": "several",
                "chain": [list(functions)],
                "technology": technology,
                "functions": {"a": {"nf": "l3fwd"}},
                "traffic": {"flows": {"count": flows}},
            }
        )
        found.append(setup(lab, lab.chains()[0], frame, f"{frame} {flows}", technology))
    return found


def test_behind_a_switch_set_ups_that_differ_in_traffic_alone_are_built_once_few_flows_first() -> None:
    one, other = (
        under("ovs-dpdk", ("64", 4000), ("1518", 64)),
        under("ovs-dpdk", ("64", 64), functions=("a", "a")),
    )
    groups = together([one[0], other[0], one[1]])
    assert [[each.name for each in group] for group in groups] == [["1518 64", "64 4000"], ["64 64"]]


def test_without_a_switch_each_set_up_is_built_anew() -> None:
    assert len(together(under("direct", ("64", 4000), ("1518", 64)))) == 2


HELLO = Hello(
    version="0", protocol=1, dpdk="DPDK 0", pid=1, tsc_hz=1_000_000_000, cores=(0,), memory="no-huge"
)
SILENT = Window(ledger(0, 0), ledger(1, 0), ())


def seen(name: str, windows: list[Window]) -> Visited:
    """A set-up with the areas that the windows' ledgers have."""
    one = visited(windows)
    one.name, one.hello = name, HELLO
    one.execution = replace(one.execution, areas=one.execution.areas[1:])
    return one


def test_a_set_up_of_which_no_packet_came_back_is_named_and_not_in_the_model() -> None:
    found = document(LAB, [seen("mute", [SILENT] * 9), seen("heard", [window(100)] * 9)], MEMORY)
    assert [trial.text for trial in found.trials] == ["heard"]
    assert "No packet came back, so they are not in it: mute." in found.notes


def test_a_set_up_of_which_no_packet_came_back_is_named_and_has_no_error() -> None:
    setups = [seen("heard", [window(100)] * 9), seen("mute", [SILENT] * 9)]
    model = model_of(sample_model())
    blind = [predict_blind(model, one.execution) for one in setups]
    found = compared(setups, ["its lab", "another"], blind, model, "2026-01-01")
    assert [(case.name, case.lab) for case in found.cases] == [("heard", "its lab")]
    assert found.silent == ["mute"]
    assert "no packet came back of mute" in render_validation(found)


def test_where_no_packet_came_back_of_any_there_is_no_model() -> None:
    with pytest.raises(NothingReturnedError, match="mute: no packet came back"):
        document(LAB, [seen("mute", [SILENT] * 9)], MEMORY)


def test_a_distance_of_the_cores_at_which_no_packet_came_back_is_no_measurement() -> None:
    far = Window(ledger(0, 0), ledger(1, 0), (320, 330))
    (found,) = visited([*[window(100, 80, 84)] * 8, *[far] * 8]).measurements()
    assert found.execution.core_distance_cycles == 82


class Refusing:
    """A weir-dp that takes no traffic."""

    def configure_traffic(self, _: object) -> None:
        """Never."""
        raise DataPlaneError("refused", "no")


def test_a_visit_that_weir_dp_refused_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    (one,) = under("direct", ("64", 64))
    topology = plan.build_topology(one.lab, "direct", one.chain, "several-00000000")
    built = SimpleNamespace(client=Refusing(), topology=topology, hello=HELLO)
    monkeypatch.setattr("weir.planning.calibration.visits.running", lambda *_: nullcontext(built))
    with pytest.raises(DataPlaneError):
        visit([one], lambda _: None)
    assert one.visits == 0
