# SPDX-License-Identifier: Apache-2.0
"""Switches whose costs are known: what their ledgers would say, the model of these, and what it predicts."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from random import Random

import pytest

from tests.unit.plan.test_switch_areas import switched_lab
from tests.unit.planning.costly import HZ, MEMORY, TRUTH, cycles
from weir import plan
from weir.lab.execution import Area, Execution
from weir.lab.lab import Lab
from weir.lab.variant import TechnologyName
from weir.measure.costs import AreaCost, Costs, PathCost, StageCost
from weir.plan.execution import execution
from weir.plan.trials import bundled, trial_chain, trial_lab
from weir.planning.calibration.calibration import planned
from weir.planning.calibration.rows import FRAMES_A_HOP, hop, own_areas, rows, switch_areas, with_kernel
from weir.planning.model.capacity import CostModel, predict
from weir.planning.model.quality import Measured, calibrated
from weir.planning.model.terms import core_terms, path_terms, rest_terms, state_bytes, weighted

SWITCHES: Mapping[str, float] = {
    **TRUTH,
    "pmd hop": 330,
    "pmd hop across cores": 60,
    "pmd classifier": 90,
    "pmd memory": 2,
    "bytes pmd": 110,
    "bridge hop": 2100,
    "bridge hop across cores": 150,
    "bytes bridge": 220,
    "veth hop": 1200,
    "bytes veth": 90,
    "switch thread hop": 3900,
    "bytes switch thread": 240,
    "take virtio-user": 35,
    "take virtio-user across cores": 30,
    "give virtio-user": 30,
    "give virtio-user across cores": 10,
    "take packet_socket": 190,
    "take packet_socket across cores": 40,
    "give packet_socket": 700,
    "bytes packet_socket": 100,
}
TECHNOLOGIES: tuple[TechnologyName, ...] = ("ovs-dpdk", "linux-bridge", "ovs")
HELD_OUT = [(["f"], "64"), (["f"], "512"), (["f", "f"], "64"), (["f", "g"], "1518"), (["g", "f", "g"], "512")]


def lab_under(technology: TechnologyName, chain: list[str] | None = None) -> Lab:
    functions = {
        "f": {"chain": [{"nf": "nat", "options": {"external": "192.0.2.0/24"}}, {"nf": "l3fwd"}]},
        "g": {"nf": "acl"},
    }
    own = {"technologies": {"ovs": {"datapath": "userspace"}}} if technology == "ovs" else {}
    return switched_lab(technology, chain=[chain or ["f", "g"]], functions=functions, **own)


def of(lab: Lab, technology: TechnologyName, frame: str) -> Execution:
    chain = lab.chains()[0]
    return execution(plan.build_topology(lab, technology, chain, "costs-00000000"), lab, chain, frame)


def true_pps(one: Execution) -> float:
    return HZ / max(cycles(core_terms(one, core, MEMORY), SWITCHES) for core in one.cores())


def ledger(one: Execution, draw: Random, noise: float) -> Costs:
    """What areas would have counted: those of weir-dp with the kernel's time in their system calls."""
    pps = true_pps(one)

    def noisy(terms: Mapping[str, float]) -> float:
        return cycles(terms, SWITCHES) * draw.gauss(1, noise)

    def own(area: Area) -> AreaCost:
        excess = MEMORY.excess_cycles(state_bytes(one, area.core))
        paths, rest = [], []
        for path in area.paths:
            stages, others = path_terms(area, path, one, excess)
            costs = tuple(
                StageCost(stage.nf, noisy(terms)) for stage, terms in zip(path.stages, stages, strict=True)
            )
            paths.append(PathCost(round(1000 * path.share), costs))
            rest.append((path.share, with_kernel(path, others, one)))
        # Of the tester's areas the ledger counts no packets: their cycles are of those that came back.
        per_packet = 1.0 if area.kind in ("generator", "receiver") else max(area.share(), 1e-9)
        whole = noisy(weighted(rest)) / per_packet
        return AreaCost(area.name, round(1000 * area.share()), whole, 0.0, tuple(paths))

    def beside(area: Area) -> AreaCost:
        busy = pps * cycles(weighted([(area.share(), hop(area, one, MEMORY))]), SWITCHES) / HZ
        frames = FRAMES_A_HOP.get(area.paths[0].hop, 1)
        rough = 4 * noise if area.kind == "softirq" else noise
        cost = cycles(hop(area, one, MEMORY), SWITCHES) * draw.gauss(1, rough) / frames
        return AreaCost(area.name, round(1000 * area.share()), cost, 1 - busy, ())

    found = [own(area) for area in own_areas(one)]
    return Costs(pps, 0.0, tuple(found), tuple(beside(area) for area in switch_areas(one)))


@cache
def model_of(technology: TechnologyName, noise: float = 0.0) -> CostModel:
    """Of the trials that would be run."""
    lab, draw, found = lab_under(technology), Random(1), []
    for number, trial in enumerate(planned(lab, (0, 1), MEMORY, 15, technology)):
        its = trial_lab(lab, trial)
        topology = plan.build_topology(its, technology, trial_chain(its), "costs-00000000")
        one = execution(topology, its, trial_chain(its), trial.frame)
        counted = ledger(one, draw, noise)
        found.append(Measured(one, counted.pps, tuple(rows(one, counted, number, MEMORY)), number))
    return calibrated(found, MEMORY, HZ)[0]


@pytest.mark.parametrize("technology", TECHNOLOGIES)
@pytest.mark.parametrize(("noise", "allowed"), [(0.0, 0.01), (0.02, 0.04)])
def test_rates_of_other_chains_and_frames_follow_from_the_trials(
    technology: TechnologyName, noise: float, allowed: float
) -> None:
    model = model_of(technology, noise)
    for chain, frame in HELD_OUT:
        one = of(lab_under(technology, chain), technology, frame)
        assert predict(model, one).pps == pytest.approx(true_pps(one), rel=allowed)


@pytest.mark.parametrize(
    ("technology", "names"),
    [
        ("ovs-dpdk", ("pmd classifier", "bytes pmd")),
        ("linux-bridge", ("bytes bridge", "bytes packet_socket")),
        ("ovs", ("bytes switch thread", "bytes veth")),
    ],
)
def test_costs_of_the_switch_are_recovered(technology: TechnologyName, names: tuple[str, ...]) -> None:
    parameters = model_of(technology).parameters
    found = dict(zip(parameters.names, parameters.cycles, strict=True))
    for name in names:
        assert found[name] == pytest.approx(SWITCHES[name], rel=0.05)


def test_a_hop_is_known_with_what_it_costs_between_cores() -> None:
    one = of(lab_under("ovs-dpdk"), "ovs-dpdk", "64")
    together = {"pmd hop": 1.0, "pmd hop across cores": 2.0 * one.distance()}
    said = model_of("ovs-dpdk").parameters.value(together)
    assert said == pytest.approx(cycles(together, SWITCHES), rel=0.02)


def test_the_switch_is_what_limits_and_its_core_is_named() -> None:
    one = of(lab_under("ovs-dpdk", ["g"]), "ovs-dpdk", "64")
    said = predict(model_of("ovs-dpdk"), one)
    assert said.limited_by == "core 1: pmd.1"
    alone = {"pmd hop": 1.0, "pmd hop across cores": 2.0 * one.distance()}
    assert said.naive_pps == pytest.approx(HZ / (2 * cycles(alone, SWITCHES)), rel=0.03)


def test_what_the_kernel_does_is_an_area_of_the_core_that_sends() -> None:
    said = predict(model_of("linux-bridge"), of(lab_under("linux-bridge", ["g"]), "linux-bridge", "64"))
    (load,) = said.cores
    assert dict(load.areas)["softirq.0"] == pytest.approx(2 * (2100 + 0.064 * 220), rel=0.05)


def test_no_function_is_on_more_than_one_side_of_a_system_call() -> None:
    one = of(lab_under("linux-bridge"), "linux-bridge", "64")
    generator = next(area for area in one.areas if area.kind == "generator")
    alone = rest_terms(generator, generator.paths[0], one)
    assert with_kernel(generator.paths[0], alone, one).items() - alone.items() == {
        ("bridge hop", 1.0),
        ("bytes bridge", 0.064),
    }


def test_trials_are_few_and_none_is_of_another_switch() -> None:
    lab = lab_under("linux-bridge")
    trials = planned(lab, (0, 1), MEMORY, 15, "linux-bridge")
    assert len(trials) <= 15
    assert {one.technology for one in trials} == {"linux-bridge"}
    assert any(one.apart for one in trials)


@pytest.mark.parametrize("technology", TECHNOLOGIES)
def test_chains_of_trials_have_each_kind_of_traffic_and_are_of_several_lengths(
    technology: TechnologyName,
) -> None:
    trials = planned(lab_under(technology), (0, 1), MEMORY, 15, technology)
    bundles = bundled(trials)
    assert [one for bundle in bundles for one in bundle] == trials
    assert {len({(one.frame, one.flows) for one in bundle}) for bundle in bundles} == {
        4 if technology == "ovs-dpdk" else 3
    }
    assert {bundle[0].parts() for bundle in bundles[:3]} == {1, 2, 3}
    assert len(trials) <= 15


def test_of_fewer_trials_than_a_chain_is_built_for_so_many_are_made() -> None:
    lab = lab_under("ovs-dpdk")
    trials = planned(lab, (0, 1), MEMORY, 3, "ovs-dpdk")
    assert len(trials) == 3
    assert len(bundled(trials)) == 1
