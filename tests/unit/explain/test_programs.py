# SPDX-License-Identifier: Apache-2.0
"""Which program of the user's limits a trial, and what is said of how busy it was."""

from __future__ import annotations

from typing import Any

import pytest

from weir.base.node import Machine, ProgramFunction
from weir.base.topology import Topology
from weir.results.explanation import CaseExplanation
from weir.results.result import Counted, LeftOut, Trial

from .made import OFFERED, area, explained, stream, the_tester, topology, trial, verdict

FULL, HALF = 0.98, 0.5
AHEAD_OF_F1 = {("tester.left", "tx_queue_full"): 300_000}
AHEAD_OF_F2 = {("f1/right", "tx_queue_full"): 300_000}
NAT, ACL = {"nat": 600_000_000, "acl": 200_000_000}, {"acl": 250_000_000}


def with_program(*names: str, network: bool = False) -> Topology:
    program = ProgramFunction(
        command=("./nf",), commands_time_limit_s=1, directory=".", ready=None, ready_time_limit_s=1,
        user=None, stop_signal="SIGTERM", stop_time_limit_s=1, output_mb=1, ports="virtio-user",
    )  # fmt: skip
    built = topology(network=network)
    nodes = tuple(
        node.model_copy(update={"program": program, "chain": (), "nf": "nf"})
        if node.name in (names or ("f1",))
        else node
        for node in built.nodes
    )
    return built.model_copy(update={"nodes": nodes})


def test_a_program_is_unready_unless_packets_of_its_chain_are_waited_for() -> None:
    assert topology().unready() == []
    built = with_program("f1", "f2")
    assert built.unready() == ["f1", "f2"]
    waited, other = (node for node in built.nodes if node.program is not None)
    program = waited.program.model_copy(update={"ready_packets": True}) if waited.program else None
    nodes = (built.nodes[0], waited.model_copy(update={"program": program}), other)
    assert built.model_copy(update={"nodes": nodes}).unready() == []


def of_program_trial(busy: float, drops: dict[tuple[str, str], int], **more: Any) -> Trial:
    works = area("program:f1.worker", busy, kind="guest", core=1, packets=0)
    return trial([*the_tester(), works, area("f2", 0.2, ACL)], drops, **more)


def of_program(
    busy: float, drops: dict[tuple[str, str], int], *, network: bool = False, **more: Any
) -> CaseExplanation:
    return explained(of_program_trial(busy, drops, **more), built=with_program(network=network))


@pytest.mark.parametrize(
    ("network", "place"), [(False, "tester.left"), (True, "switch:f1.left")], ids=["wire", "switch"]
)
def test_a_program_of_the_users_that_does_not_take_what_waits_for_it(network: bool, place: str) -> None:
    found = of_program(1.0, {(place, "tx_queue_full"): OFFERED // 4}, network=network)
    assert verdict(found) == ("program", "program:f1")
    assert "nf (program:f1) should empty it" in found.limit.sentence
    shown = {row.what: row.value for row in found.evidence}
    assert shown["program:f1.worker on core 1"] == pytest.approx(1.0)
    assert shown["program:f1"] > 0


@pytest.mark.parametrize(
    ("busy", "says"),
    [
        (
            1.0,
            "25.00% of what was offered, and has core 1 for 100% of the time: it is too slow, or",
        ),
        (0.4, "25.00% of what was offered, though it has core 1 for 40% of the time only: it drops"),
    ],
)
def test_a_program_that_does_not_return_packets_is_named_with_how_busy_it_was(busy: float, says: str) -> None:
    found = of_program(busy, {("f1/program", "not_returned"): OFFERED // 4})
    assert verdict(found) == ("program", "program:f1")
    assert says in found.limit.sentence


@pytest.mark.parametrize(
    ("busy", "says"),
    [(1.0, "and has core 1 for 100% of the time: it is too slow."), (0.1, "only: it holds them in queues")],
)
def test_a_program_that_gives_packets_after_the_trial_is_named_for_those(busy: float, says: str) -> None:
    found = of_program(busy, {("tester.right", "too_late"): OFFERED // 2})
    assert verdict(found) == ("program", "program:f1")
    assert "gives 500,000 packets, 50.00% of what was offered, only when the trial is over" in (
        found.limit.sentence
    )
    assert says in found.limit.sentence


def test_a_program_of_which_nothing_of_a_light_load_comes_is_named_with_how_busy_it_was() -> None:
    def of(busy: float) -> CaseExplanation:
        none = {("f1/program", "not_returned"): 100}
        silent = [stream(0).model_copy(update={"offered": 100})]
        light = of_program_trial(busy, none, offered=100, purpose="preflight", streams=silent)
        flood = of_program_trial(busy, {("f1/program", "not_returned"): OFFERED})
        return explained(flood, built=with_program(), trials=[light], problem="Nothing comes through")

    assert verdict(of(1.0)) == ("program", "program:f1")
    said = of(1.0).limit.sentence
    assert "does not return 100 packets, 100.00% of what was offered, and has core 1" in said
    assert "it drops them by itself" in of(0.1).limit.sentence


def test_a_core_on_which_a_program_works_too_says_that_it_is_left_out_of_how_busy_that_is() -> None:
    works = area("program:f1.worker", 0.7, kind="guest", core=1, packets=0)
    beside = trial(
        [*the_tester(), works, area("f2", 0.2, ACL, core=1)], {("f1/program", "not_returned"): OFFERED}
    )
    rows = {row.what: row for row in explained(beside, built=with_program()).evidence}
    assert rows["core 0 busy"].note == "not full"
    assert rows["core 1 busy"].note == "not full, programs left out"
    assert rows["core 1 busy"].value == pytest.approx(0.2)


HALF_LEFT: dict[str, Any] = {"delivered": OFFERED // 2, "backlog": OFFERED // 2, "loss_ratio": 0.5}


def test_a_program_that_fills_its_core_is_named_for_what_was_left_in_queues() -> None:
    found = of_program(1.0, {}, **HALF_LEFT)
    assert verdict(found) == ("program", "program:f1")
    assert "500,000 packets were left in queues at its end, and nf (program:f1)" in found.limit.sentence


def test_the_only_program_that_leaves_packets_in_queues_and_its_core_idle_is_said_to_wait() -> None:
    found = of_program(0.02, {}, **HALF_LEFT)
    assert verdict(found) == ("program", "program:f1")
    assert "though nf (program:f1) has core 1 for 2% of the time only: it waits" in found.limit.sentence


def test_a_program_beside_a_virtual_machine_may_not_be_who_holds_packets() -> None:
    built = with_program()
    machine = Machine(
        forwarder="kernel",
        vcpus=1,
        memory_mb=512,
        hugepages=False,
        queues=1,
        accel="tcg",
        boot_time_limit_s=60,
    )
    nodes = tuple(
        node.model_copy(update={"machine": machine}) if node.name == "f2" else node for node in built.nodes
    )
    works = area("program:f1.worker", 0.02, kind="guest", core=1, packets=0)
    held = trial([*the_tester(), works], {}, **HALF_LEFT)
    assert verdict(explained(held, built=built.model_copy(update={"nodes": nodes})))[0] == "unknown"


def test_which_of_two_programs_waits_is_not_known() -> None:
    works = [area(f"program:{name}.worker", 0.02, kind="guest", core=1, packets=0) for name in ("f1", "f2")]
    found = explained(trial([*the_tester(), *works], {}, **HALF_LEFT), built=with_program("f1", "f2"))
    assert verdict(found)[0] == "unknown"


@pytest.mark.parametrize(
    ("lost", "elsewhere", "kind"),
    [(65_000, 0, "program"), (5_000, 0, "oversubscription"), (58_500, 90_000, "oversubscription")],
)
def test_a_program_that_drops_as_ever_when_nobody_has_a_core_is_named_whoever_had_it_meanwhile(
    lost: int, elsewhere: int, kind: str
) -> None:
    away = [LeftOut(core=0, from_us=0.0, to_us=350_000.0, by="make (7)")]
    clean = Counted(seconds=0.65, offered=650_000, lost=lost)
    drops = {("f1/program", "not_returned"): 100_000, ("tester.right", "rx_missed"): elsewhere}
    found = of_program(HALF, drops, left_out=away, counted=clean)
    assert found.limit.kind == kind


def test_of_frames_that_changed_it_says_that_and_names_no_limit() -> None:
    found = of_program(HALF, {}, doubted=["frames_changed"])
    assert found.limit.sentence == "Cannot tell: frames arrived changed: look for what rewrites them."
