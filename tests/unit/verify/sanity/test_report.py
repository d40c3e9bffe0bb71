# SPDX-License-Identifier: Apache-2.0
"""Reports of Rally, recorded of a real cloud, and broken ones."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from weir.verify.driver import CloudError, Iteration, ScenarioWanted
from weir.verify.sanity.report import read
from weir.verify.sanity.times import load
from weir.verify.suites.sanity import judge

RECORDED = Path(__file__).parent / "recorded"
NETWORKS = "NeutronNetworks.create_and_delete_networks"
GOOD = ScenarioWanted(NETWORKS, iterations=5, concurrency=2, time_s=30.0)


def report(name: str) -> Any:
    return json.loads((RECORDED / f"{name}.json").read_text())


def said(document: Any, wanted: ScenarioWanted = GOOD) -> list[Iteration]:
    return read(json.dumps(document), wanted.name, wanted)


def workload(document: Any) -> Any:
    return document["tasks"][0]["subtasks"][0]["workloads"][0]


def test_each_iteration_is_read_with_its_operations() -> None:
    found = said(report("good"))
    assert len(found) == 5
    assert {one.cause for one in found} == {None}
    for one in found:
        assert [done.name for done in one.operations] == ["neutron.create_network", "neutron.delete_network"]
        assert 0 < sum(done.seconds for done in one.operations) <= one.seconds + 0.1
    made = load(found, GOOD)
    assert [len(one.seconds) for one in made.operations] == [5, 5, 5]
    judge(made)


def failing(document: Any) -> Any:
    """With a last iteration that Neutron refused."""
    work = workload(document)
    last = max(work["data"], key=lambda one: one["timestamp"])
    last["error"] = ["BadRequest", "Invalid input for\noperation", "Traceback ..."]
    last["atomic_actions"][-1]["failed"] = True
    work.update(failed_iteration_count=1, pass_sla=False)
    return document


def test_an_iteration_that_failed_has_its_cause() -> None:
    *good, bad = said(failing(report("good")))
    assert {one.cause for one in good} == {None}
    assert bad.cause == "BadRequest: Invalid input for operation"
    assert [(one.name, one.failed) for one in bad.operations] == [
        ("neutron.create_network", False),
        ("neutron.delete_network", True),
    ]
    why = "1 of 5 iterations failed, at most 0% may: 1 × BadRequest: Invalid input for operation"
    with pytest.raises(CloudError, match=f"^{why}$"):
        judge(load([*good, bad], GOOD))


@pytest.mark.parametrize("secret", ["neutron", "data", "error", "Networks", "5"])
def test_a_secret_that_is_a_word_of_the_report_changes_nothing_but_what_is_said(secret: str) -> None:
    document = failing(report("good"))
    last = max(workload(document)["data"], key=lambda one: one["timestamp"])
    last["error"][1] = f"user admin, password {secret}, was refused"
    found = read(json.dumps(document), GOOD.name, GOOD, hide=lambda text: text.replace(secret, "(hidden)"))
    assert [[one.name for one in each.operations] for each in found] == [
        ["neutron.create_network", "neutron.delete_network"]
    ] * 5
    assert found[-1].cause == "BadRequest: user admin, password (hidden), was refused"


@pytest.mark.parametrize("where", ["refused", "context", "not begun"])
def test_secrets_are_hidden_in_why_a_scenario_was_not_begun(where: str) -> None:
    document = report("good")
    work = workload(document)
    if where == "refused":
        document["refused"] = "password hunter2 is wrong"
    elif where == "context":
        work["contexts_results"][0]["setup"]["error"] = ["Unauthorized", "password hunter2 is wrong"]
    else:
        work["data"] = []
        detail = {
            "criterion": "something_went_wrong",
            "success": False,
            "detail": "password hunter2 is wrong",
        }
        work["sla_results"]["sla"].append(detail)
    with pytest.raises(CloudError, match=r"password \(hidden\) is wrong"):
        read(json.dumps(document), GOOD.name, GOOD, hide=lambda text: text.replace("hunter2", "(hidden)"))


def test_one_that_was_too_slow_is_no_failure_of_rallys_but_misses_its_limit() -> None:
    wanted = ScenarioWanted(NETWORKS, iterations=2, time_s=0.01)
    found = said(report("late"), wanted)
    assert [one.cause for one in found] == [None, None]
    with pytest.raises(CloudError, match=r"an iteration took .* s, and may take 0.01 s"):
        judge(load(found, wanted))


@pytest.mark.parametrize(
    ("failed", "iterations", "share"), [(9, 125, 0.072), (11, 125, 0.088), (23, 40, 0.575), (63, 90, 0.7)]
)
def test_as_many_failures_as_a_limit_allows_meet_it_whatever_rally_makes_of_that(
    failed: int, iterations: int, share: float
) -> None:
    document = report("good")
    work = workload(document)
    (one, *_) = work["data"]
    bad = one | {"error": ["BadRequest", "told"]}
    work["data"] = [bad] * failed + [one] * (iterations - failed)
    rallys = failed * 100.0 / iterations <= 100 * share
    work.update(failed_iteration_count=failed, total_iteration_count=iterations, pass_sla=rallys)
    wanted = ScenarioWanted(NETWORKS, iterations=iterations, time_s=30.0, failure_ratio=share)
    judge(load(said(document, wanted), wanted))


def test_where_what_a_scenario_stands_on_does_not_stand_the_cause_is_told() -> None:
    document = report("good")
    work = workload(document)
    work["contexts_results"][0]["setup"]["error"] = ["NotFoundException", "There is no role", "Traceback ..."]
    work.update(data=[], failed_iteration_count=0, total_iteration_count=0, pass_sla=False)
    place = work["contexts_results"][0]["plugin_name"]
    with pytest.raises(CloudError, match=f"^{place} does not stand: NotFoundException: There is no role$"):
        said(document)


def test_where_no_iteration_was_begun_rallys_reason_is_told() -> None:
    document = report("good")
    work = workload(document)
    work.update(data=[], failed_iteration_count=0, total_iteration_count=0, pass_sla=False)
    told = {"criterion": "something_went_wrong", "success": False, "detail": "Unexpected error: no room"}
    work["sla_results"]["sla"].append(told)
    with pytest.raises(CloudError, match=r"^no iteration was begun: Unexpected error: no room$"):
        said(document)


def test_what_rally_refuses_is_told() -> None:
    with pytest.raises(CloudError, match=r"^Rally refuses it: no such scenario"):
        said({"refused": "no such scenario"})


def with_(change: Callable[[Any], Any]) -> Any:
    document = report("good")
    change(workload(document))
    return document


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda one: one["data"].pop(), "it has 4 iterations, and counts 5"),
        (lambda one: one.update(failed_iteration_count=1), "0 of its iterations failed, and it counts 1"),
        (
            lambda one: one["data"][0].update(error=["E", "told"]),
            "1 of its iterations failed, and it counts 0",
        ),
        (lambda one: one.update(scenario={"Other.one": {}}), "it is of Other.one"),
        (lambda one: one.update(pass_sla=False), "Rally says that limits are missed, its data do not"),
        (
            lambda one: one["data"][0]["atomic_actions"][0].update(started_at=1.0),
            "neutron.create_network is not within its iteration",
        ),
        (
            lambda one: one["data"][0]["atomic_actions"][0].update(finished_at=2e9),
            "neutron.create_network is not within its iteration",
        ),
    ],
)
def test_a_report_that_does_not_agree_with_itself_is_none(change: Callable[[Any], Any], why: str) -> None:
    with pytest.raises(CloudError, match=f"^Rally's report makes no sense: {why}"):
        said(with_(change))


@pytest.mark.parametrize(
    ("change", "place"),
    [
        (lambda one: one["data"][0].update(duration=-1.0), "duration"),
        (lambda one: one["data"][0].update(duration="1.0"), "duration"),
        (lambda one: one.pop("data"), "data"),
        (lambda one: one.update(total_iteration_count=None), "total_iteration_count"),
    ],
)
def test_one_that_is_of_another_form_is_refused_with_the_place(
    change: Callable[[Any], Any], place: str
) -> None:
    with pytest.raises(CloudError, match=rf"^Rally's report cannot be read: .*{place}"):
        said(with_(change))


@pytest.mark.parametrize(
    "text", ["", "no JSON", "[]", '{"tasks": []}', '{"tasks": [{"status": "x", "subtasks": []}]}']
)
def test_what_is_no_report_is_refused(text: str) -> None:
    with pytest.raises(CloudError, match=r"^Rally's report "):
        read(text, NETWORKS, GOOD)


def test_fewer_iterations_than_wanted_are_told_and_more_make_no_sense() -> None:
    with pytest.raises(CloudError, match=r"^Rally ran 5 of 6 iterations, and ended"):
        said(report("good"), ScenarioWanted(NETWORKS, iterations=6, time_s=30.0))
    with pytest.raises(CloudError, match="it has 5 iterations of 4"):
        said(report("good"), ScenarioWanted(NETWORKS, iterations=4, time_s=30.0))
