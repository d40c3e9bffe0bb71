# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from pathlib import Path

import pytest

from weir import plan
from weir.lab.execution import Area, Execution
from weir.lab.function import NfOptions
from weir.lab.lab import Lab
from weir.plan.execution import execution, list_entries
from weir.plan.trials import FASTPATH_FEW, FASTPATH_MANY, candidates, library, trial_chain, trial_lab

CHAIN = [{"nf": "nat", "options": {"external": "192.0.2.0/24"}}, {"nf": "acl"}, {"nf": "l3fwd"}]


def lab_of(**changes: object) -> Lab:
    its_own = ("architecture", "fastpath", "fastpath_flows")
    function = {"chain": CHAIN} | {key: changes.pop(key) for key in its_own if key in changes}
    spec = {
        "weir": 1,
        "name": "costs",
        "chain": [["f"]],
        "technology": "direct",
        "functions": {"f": function},
        "technologies": {"direct": {"wire": "memory"}},
        "tester": {"direction": "left-to-right"},
        "cores": {"tester": [0], "functions": [0, 1]},
        "traffic": {"flows": {"count": 500}},
    }
    return Lab.model_validate(spec | changes)


def of(lab: Lab) -> Execution:
    chain = lab.chains()[0]
    topology = plan.build_topology(lab, lab.technology[0], chain, "costs-00000000")
    return execution(topology, lab, chain, "64")


def area(found: Execution, name: str) -> Area:
    return next(one for one in found.areas if one.name == name)


def test_run_to_completion_has_all_stages_in_one_area_on_the_first_core() -> None:
    found = of(lab_of())
    there = area(found, "f1").paths[0]
    assert [stage.nf for stage in there.stages] == ["nat", "acl", "l3fwd"]
    assert (there.share, there.entry, there.crossing) == (1.0, "memory", 0.0)
    assert area(found, "receiver.right").share() == 1.0
    assert area(found, "receiver.left").share() == 0.0


def test_the_stage_of_a_pipeline_on_the_other_core_gets_packets_from_this_one() -> None:
    found = of(lab_of(architecture="pipeline"))
    last = area(found, "f1.l3fwd")
    assert last.core == 1
    assert (last.paths[0].entry, last.paths[0].crossing, last.paths[0].cold) == ("ring", 1.0, 1.0)
    assert area(found, "f1.acl").paths[0].parting == 1.0


def test_workers_share_what_the_dispatcher_gets_and_the_receiver_finds_it_cold() -> None:
    found = of(lab_of(architecture="dispatch"))
    assert [area(found, f"f1.worker{number}").share() for number in (0, 1)] == [0.5, 0.5]
    receiver = area(found, "receiver.right").paths[0]
    assert (receiver.crossing, receiver.cold) == (0.0, 1.0)


def test_owners_decide_on_everything_and_appliers_share_it() -> None:
    found = of(lab_of(architecture="separated"))
    assert area(found, "f1.state_core0").share() == 1.0
    assert [area(found, f"f1.rewrite_worker{number}").share() for number in (0, 1)] == [0.5, 0.5]
    assert area(found, "f1.collector").share() == 1.0


def test_who_is_dealt_a_part_of_each_burst_on_its_own_core_finds_short_ones() -> None:
    one_core = {"cores": {"tester": [0], "functions": [1]}}
    assert area(of(lab_of(architecture="dispatch", **one_core)), "f1.worker1").paths[0].fill == 0.5
    assert area(of(lab_of(architecture="dispatch")), "f1.worker1").paths[0].fill == 1.0
    separated = of(lab_of(architecture="separated", **one_core))
    assert area(separated, "f1.state_core0").paths[0].fill == 1.0
    assert area(separated, "f1.rewrite_worker0").paths[0].fill == 0.5
    assert area(separated, "f1.collector").paths[0].fill == 1.0


@pytest.mark.parametrize(("room", "remembered"), [(500, 1.0), (499, 0.0)])
def test_a_fast_path_knows_all_flows_or_none_since_they_come_in_turn(room: int, remembered: float) -> None:
    path = area(of(lab_of(fastpath=True, fastpath_flows=room)), "f1").paths[0]
    assert (path.remembers, path.remembered) == (True, remembered)


def test_a_worker_remembers_its_part_of_the_flows() -> None:
    found = of(lab_of(architecture="dispatch", fastpath=True, fastpath_flows=250))
    assert area(found, "f1.worker0").paths[0].remembered == 1.0


def test_fast_paths_are_tried_where_the_lab_has_one() -> None:
    assert {trial.fastpath_flows for trial in candidates(lab_of(), (0, 1))} == {0}
    remembering = lab_of(fastpath=True)
    trials = candidates(remembering, (0, 1))
    assert {trial.fastpath_flows for trial in trials} == {0, FASTPATH_FEW, FASTPATH_MANY}
    one = next(trial for trial in trials if trial.fastpath_flows == FASTPATH_FEW)
    assert area(of(trial_lab(remembering, one)), "f1").paths[0].remembers


def test_in_both_directions_each_path_takes_half_and_there_are_twice_as_many_flows() -> None:
    found = of(lab_of(tester={"direction": "bidirectional"}))
    assert [path.share for path in area(found, "f1").paths] == [0.5, 0.5]
    assert found.flows == 1000


def test_entries_of_lists_are_counted_in_options_and_files(tmp_path: Path) -> None:
    rules = tmp_path / "rules"
    rules.write_text("# first\npermit udp any any\n\ndeny tcp any any # last\n")
    lab = lab_of(
        functions={"f": {"chain": [{"nf": "acl", "options": {"rules": str(rules)}}, {"nf": "l3fwd"}]}}
    )
    stages = area(of(lab), "f1").paths[0].stages
    assert [stage.rules for stage in stages] == [2, 0]


@pytest.mark.parametrize(
    ("nf", "option", "text", "count"),
    [
        ("shaper", "tenants_file", "10.0.0.0/24 rate_bps=1, 10.0.1.0/24 rate_bps=1 # a, b\ndefault\n", 3),
        ("policer", "tenants_file", "vlan:1 srtcm, vlan:2 srtcm", 2),
        ("lb", "services_file", "192.0.2.1:80/tcp 10.0.0.1:80,192.0.2.1:80/tcp 10.0.0.2:80", 2),
        ("lb", "services", "192.0.2.1:80/tcp 10.0.0.1:80,192.0.2.1:80/tcp 10.0.0.2:80", 2),
        ("dpi", "rules_file", "1 drop /a{1,2}/\n2 drop /b{3,}/ # last, and least\n", 2),
    ],
)
def test_a_file_is_parted_as_weir_dp_reads_it(
    nf: str, option: str, text: str, count: int, tmp_path: Path
) -> None:
    file = tmp_path / "list"
    file.write_text(text)
    value = str(file) if option.endswith("_file") else text
    assert list_entries(NfOptions(nf=nf, options={option: value})) == count


def test_trials_have_the_functions_of_the_lab_in_every_architecture_on_one_core_and_two() -> None:
    lab = lab_of()
    found = candidates(lab, (0, 1))
    assert {one.architecture for one in found} == {"run-to-completion", "pipeline", "dispatch", "separated"}
    assert {one.alone() for one in found} == {True, False}
    assert {function.nf for one in found for function in one.functions} == {"nat", "acl", "l3fwd"}
    assert len(library(lab)) == 3


def test_a_trials_lab_can_be_built_as_it_says() -> None:
    lab = lab_of()
    trial = next(one for one in candidates(lab, (0, 1)) if one.architecture == "pipeline" and not one.alone())
    its = trial_lab(lab, trial)
    topology = plan.build_topology(its, "direct", trial_chain(its), "costs-00000000")
    assert tuple(topology.nodes[0].cores) == trial.tester
    assert its.traffic.flows.count == trial.flows


def test_on_one_core_no_trial_asks_for_another() -> None:
    assert all(one.alone() for one in candidates(lab_of(cores=None), (0,)))
