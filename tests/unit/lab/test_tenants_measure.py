# SPDX-License-Identifier: Apache-2.0
"""What a lab with tenants says of its measurement: what is read, and what is refused, and where."""

from __future__ import annotations

from pathlib import Path

import pytest

from weir.lab import LabFileError
from weir.lab.tenants import TenantsFile
from weir.lab.tenants_load import load_tenants

GOOD = "weir: 1\nname: cloud\ntenants:\n  - {name: red, count: 3}\n"


def loaded(folder: Path, more: str = "") -> TenantsFile:
    (folder / "lab.yml").write_text(GOOD + more)
    return load_tenants(folder)


def test_one_tenant_sends_and_then_all_unless_the_file_says_how_many(tmp_path: Path) -> None:
    assert loaded(tmp_path).sending() == (1, 3)
    assert loaded(tmp_path, "measure: {sending: [2, 3]}\n").sending() == (2, 3)
    (tmp_path / "lab.yml").write_text(GOOD.replace("count: 3", "count: 1"))
    assert load_tenants(tmp_path).sending() == (1,)
    (tmp_path / "lab.yml").write_text(GOOD.replace("count: 3", "count: 70"))
    assert load_tenants(tmp_path).sending() == (1, 64)


def test_rates_and_times_have_units_as_in_labs_of_chains(tmp_path: Path) -> None:
    wanted = loaded(tmp_path, "measure: {loads: [10kpps, 500], duration_s: 200ms}\n").measure
    assert wanted.loads == (10_000, 500)
    assert wanted.duration_s == 0.2


def test_searches_are_those_of_chains_with_what_the_file_says(tmp_path: Path) -> None:
    more = "measure: {repeats: 5, goals: [{name: NDR, loss_ratio: 0}], trial: {drain_ms: 50}, seed: 7}\n"
    searched = loaded(tmp_path, more).measure.of_searches()
    assert [(goal.name, goal.loss_ratio) for goal in searched.goals] == [("NDR", 0)]
    assert (searched.repeats, searched.trial.drain_ms, searched.seed, searched.curve.points) == (5, 50, 7, 0)


def test_each_way_to_filter_that_is_compared_has_a_cloud_of_its_own(tmp_path: Path) -> None:
    assert [one.cloud.security for one in loaded(tmp_path).compared()] == ["bridge-filter"]
    found = loaded(tmp_path, "measure: {security: [none, ovs-conntrack]}\n").compared()
    assert [(one.cloud.security, one.cloud.isolation) for one in found] == [
        ("none", "vxlan"),
        ("ovs-conntrack", "vxlan"),
    ]


def test_each_number_of_shared_functions_that_is_compared_has_a_cloud_of_its_own(tmp_path: Path) -> None:
    cloud = "cloud: {functions: [{name: dpi, commands: [x]}, {name: firewall}]}\n"
    assert [len(one.cloud.functions) for one in loaded(tmp_path, cloud).compared()] == [2]
    found = loaded(tmp_path, f"{cloud}measure: {{functions: [0, 1], security: [none, ovs-conntrack]}}\n")
    assert [
        (one.cloud.security, [each.name for each in one.cloud.functions]) for one in found.compared()
    ] == [("none", []), ("none", ["dpi"]), ("ovs-conntrack", []), ("ovs-conntrack", ["dpi"])]
    assert found.cloud.functions[0].directory == str(tmp_path)


def test_commands_of_functions_run_beside_the_lab_file_unless_it_says_where(tmp_path: Path) -> None:
    (tmp_path / "rules").mkdir()
    functions = "{name: a, commands: [nft -f x]}, {name: b, directory: rules}"
    (tmp_path / "lab.yml").write_text(GOOD.replace("count: 3", f"functions: [{functions}]"))
    first, second = load_tenants(tmp_path).tenants[0].functions
    assert (first.directory, second.directory) == (str(tmp_path), str(tmp_path / "rules"))


def test_in_a_hurry_there_are_three_loads_and_no_repeats(tmp_path: Path) -> None:
    quick = loaded(tmp_path).measure.in_a_hurry()
    assert (quick.loads, quick.repeats) == ((1e3, 10e3, 100e3), 1)
    few = loaded(tmp_path, "measure: {loads: [1kpps, 2kpps]}\n").measure.in_a_hurry()
    assert few.loads == (1e3, 2e3)


def test_in_a_hurry_the_loads_are_the_lowest_a_middle_and_the_highest_one_in_whatever_order(
    tmp_path: Path,
) -> None:
    more = "measure: {loads: [30kpps, 1kpps, 100kpps, 3kpps, 10kpps]}\n"
    assert loaded(tmp_path, more).measure.in_a_hurry().loads == (1e3, 10e3, 100e3)


REACHED = GOOD.replace("count: 3", "count: 3, floating: 1, ingress: [{protocol: udp, ports: [9, 9]}]")
FROM_OUTSIDE = "tester: {direction: right-to-left}\n"


def test_traffic_goes_outside_unless_the_file_says_otherwise_and_both_directions_halve_the_tenants(
    tmp_path: Path,
) -> None:
    assert loaded(tmp_path).tester.directions == ("left-to-right",)
    many = REACHED.replace("count: 3", "count: 70")
    for direction, ways, most in (("right-to-left", 1, 64), ("bidirectional", 2, 32)):
        (tmp_path / "lab.yml").write_text(f"{many}tester: {{direction: {direction}}}\n")
        tenants = load_tenants(tmp_path)
        assert len(tenants.tester.directions) == ways
        assert tenants.sending() == (1, most)


@pytest.mark.parametrize(
    "ingress",
    [
        "{protocol: any}",
        "{protocol: udp, ports: [1, 9]}",
        "{protocol: tcp}, {protocol: udp, source: 198.18.0.1/32}",
    ],
)
def test_from_outside_a_tenant_is_reached_if_its_group_lets_the_tester_in(
    ingress: str, tmp_path: Path
) -> None:
    tenant = f"count: 3, floating: 1, ingress: [{ingress}]"
    (tmp_path / "lab.yml").write_text(GOOD.replace("count: 3", tenant) + FROM_OUTSIDE)
    assert load_tenants(tmp_path).tester.directions == ("right-to-left",)


def test_where_nothing_filters_no_group_has_to_let_the_tester_in(tmp_path: Path) -> None:
    tenant = GOOD.replace("count: 3", "count: 3, floating: 1")
    (tmp_path / "lab.yml").write_text(f"{tenant}{FROM_OUTSIDE}cloud: {{security: none}}\n")
    assert load_tenants(tmp_path).tester.directions == ("right-to-left",)
    compared = (
        f"{tenant}{FROM_OUTSIDE}cloud: {{security: none}}\nmeasure: {{security: [none, ovs-conntrack]}}\n"
    )
    (tmp_path / "lab.yml").write_text(compared)
    with pytest.raises(LabFileError, match=r"lets in no UDP to port 9 from 198\.18\.0\.1"):
        load_tenants(tmp_path)


@pytest.mark.parametrize("direction", ["right-to-left", "bidirectional"])
@pytest.mark.parametrize(
    ("tenant", "said"),
    [
        (
            "count: 3, ingress: [{protocol: any}]",
            "tenants[0].floating: is 0, and tester.direction is {}: behind its router's source translation "
            "nobody outside can reach red's instances; expected floating: 1",
        ),
        *(
            (
                f"count: 3, floating: 1, ingress: [{rules}]",
                "tenants[0].ingress: lets in no UDP to port 9 from",
            )
            for rules in (
                "{protocol: tcp}",
                "{protocol: udp, ports: [10, 20]}",
                "{protocol: any, source: 10.0.0.0/8}",
            )
        ),
    ],
)
def test_from_outside_a_tenant_that_cannot_be_reached_is_refused(
    direction: str, tenant: str, said: str, tmp_path: Path
) -> None:
    (tmp_path / "lab.yml").write_text(
        GOOD.replace("count: 3", tenant) + f"tester: {{direction: {direction}}}\n"
    )
    with pytest.raises(LabFileError) as refused:
        load_tenants(tmp_path)
    assert said.format(direction) in str(refused.value)


def test_tenants_that_take_part_in_no_round_need_not_be_reached(tmp_path: Path) -> None:
    others = "  - {name: blue}\n"
    (tmp_path / "lab.yml").write_text(f"{REACHED}{others}{FROM_OUTSIDE}measure: {{sending: [3]}}\n")
    assert load_tenants(tmp_path).measured() == 3
    for more in ("measure: {sending: [4]}\n", "measure: {sending: [3], background: {load: 1kpps}}\n"):
        (tmp_path / "lab.yml").write_text(REACHED + others + FROM_OUTSIDE + more)
        with pytest.raises(LabFileError, match=r"tenants\[1\]\.floating: is 0"):
            load_tenants(tmp_path)


def test_more_tenants_in_both_directions_than_streams_are_refused(tmp_path: Path) -> None:
    many = REACHED.replace("count: 3", "count: 40") + "tester: {direction: bidirectional}\n"
    for more, said in (
        ("measure: {sending: [33]}\n", "has 33 tenants, and 32 can send at once, in both directions"),
        ("measure: {background: {load: 1kpps}}\n", "is of 40 tenants, and 32 can send at once, in both"),
    ):
        (tmp_path / "lab.yml").write_text(many + more)
        with pytest.raises(LabFileError, match=said):
            load_tenants(tmp_path)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("traffic: {frames: 9018}", "lab.yml:5:1: traffic: has frames of 9018 bytes, which instances' MTU"),
        ("traffic: {frames: capture}", "lab.yml:5:1: traffic: has frames of a capture, which chains alone"),
        ("measure: {sending: 4}", "has 4 tenants that send, and there are 3; expected at most 3"),
        ("measure: {sending: [65]}", "measure.sending[0]: is 65; expected"),
        (
            "measure: {trial: {duration_s: 5}}",
            "duration_s 5 and duration_sum_s 1.5; expected none to be shorter than the one before it",
        ),
        ("cores: {tester: 1, system: [1, 2]}", "has CPU 1, on which the tester polls; expected other CPUs"),
        ("measure: {load: [1]}", "unknown key"),
        (
            "measure: {goals: [{name: A, loss_ratio: 0.1}, {name: B, loss_ratio: 0.1}]}",
            "measure.goals: has 0.1 as loss_ratio twice; expected goals that differ in both",
        ),
        (
            "measure: {functions: [1]}",
            "has 1 shared functions, and cloud.functions has 0; expected",
        ),
        ("measure: {tcp: {duration_s: 0}}", "measure.tcp.duration_s: is 0; expected"),
        ("measure: {background: {load: 1kpps, frame: 1519}}", "measure.background.frame: is 1519; expected"),
    ],
)
def test_what_is_wrong_is_said_with_what_to_do(tmp_path: Path, more: str, said: str) -> None:
    with pytest.raises(LabFileError) as refused:
        loaded(tmp_path, f"{more}\n".replace("sending: 4", "sending: [4]"))
    assert said in str(refused.value)
