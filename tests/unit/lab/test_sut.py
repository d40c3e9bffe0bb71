# SPDX-License-Identifier: Apache-2.0
"""Files of systems under test: what is read, and what is refused, with its line and what to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from weir.lab import LabFileError
from weir.lab.sut import load_sut

GOOD = "weir: 1\nname: own\nsla: {failure_ratio: 0.1, time_s: {max: 30}}\n"


def written(folder: Path, text: str) -> Path:
    (folder / "sut.yml").write_text(text)
    return folder


def test_what_a_file_does_not_say_is_the_local_cloud_and_every_suite(tmp_path: Path) -> None:
    found = load_sut(written(tmp_path, GOOD))
    assert (found.driver, found.suites, found.local.compute_nodes) == (
        "local",
        ("healthcheck", "sanity", "performance", "application"),
        2,
    )
    assert found.sla.time_s.max == 30
    assert load_sut(tmp_path / "sut.yml") == found


def test_one_rate_stands_for_a_list_of_it_with_or_without_digits_behind_the_point(tmp_path: Path) -> None:
    for rate in ("20", "20.5", "[20.5]"):
        found = load_sut(written(tmp_path, f"{GOOD}application: {{call_rate_cps: {rate}}}\n"))
        assert found.application.call_rate_cps == (float(rate.strip("[]")),)


def test_the_file_that_comes_with_weir_is_good() -> None:
    assert load_sut(Path(__file__).parents[3] / "labs" / "cloud").name == "own-cloud"


def test_limits_of_single_scenarios_are_for_those_that_there_are(tmp_path: Path) -> None:
    good = "{NovaServers.pause_and_unpause_server: {time_s: {max: 20}}}"
    for name, expected in (
        ("NovaServers.pause_and_unpause_sever", "one of NovaServers.boot_server_and_list_interfaces, "),
        ("Quotas.neutron", "one of Quotas.cinder_update, Quotas.cinder_update_and_delete, Quotas.neutron_up"),
        ("nova", "a scenario's name, as `weir verify SUT --suite sanity --dry-run` lists them"),
    ):
        sla = f"sla:\n  scenarios:\n    own:\n      {name}: {{time_s: {{max: 20}}}}\n"
        with pytest.raises(LabFileError) as refused:
            load_sut(written(tmp_path, f"weir: 1\nname: own\n{sla}"))
        where = f"sut.yml:6:7: sla.scenarios.own.{name}"
        assert f"{where}: names no scenario of `sanity`; expected {expected}" in str(refused.value)
        if name != "nova":
            assert "did you mean" in str(refused.value)
    found = load_sut(written(tmp_path, f"weir: 1\nname: own\nsla: {{scenarios: {{own: {good}}}}}\n"))
    assert found.sla.scenarios.own["NovaServers.pause_and_unpause_server"].time_s.max == 20


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("driver: opnstack", "sut.yml:4:1: driver: unknown value 'opnstack'; expected"),
        ("suites: [health]", "sut.yml:4:10: suites[0]: unknown value 'health'; expected"),
        ("suites: []", "suites: "),
        ("local: {compute_nodes: 3}", "local.compute_nodes: is 3; expected"),
        ("local: {security: ovs}", "local.security: unknown value 'ovs'"),
        ("case_time_limit_s: 0", "case_time_limit_s: is 0; expected"),
        ("slo: {}", "slo: unknown key"),
        (
            "performance: {instance_commands: [ls, 'nft \"flush']}",
            "performance.instance_commands[1]: cannot be split into words: No closing quotation",
        ),
        (
            "performance: {goals: [{name: NDR, loss_ratio: 0}, {name: zero, loss_ratio: 0}]}",
            "performance.goals: has 0.0 as loss_ratio twice; expected goals that differ in both",
        ),
        (
            "performance: {goals: [{name: PDR, loss_ratio: 0}, {name: PDR, loss_ratio: 0.01}]}",
            "performance.goals: has PDR as name twice; expected goals that differ in both",
        ),
        ("application: {highest_rate_cps: 0.5}", "highest_rate_cps: is 0.5; expected a number from 1 to"),
        ("application: {call_rate_cps: 0.001}", "call_rate_cps: is 0.001; expected a number from 0.01 to"),
        ("performance: {instance_commands: [['']]}", "performance.instance_commands[0]: names no program"),
    ],
)
def test_what_is_wrong_is_said_with_what_to_do(tmp_path: Path, more: str, said: str) -> None:
    with pytest.raises(LabFileError) as refused:
        load_sut(written(tmp_path, f"{GOOD}{more}\n"))
    assert said in str(refused.value)
