# SPDX-License-Identifier: Apache-2.0
"""What limits connections: in made-up trials of clients and servers on core 0, and two functions."""

from __future__ import annotations

from typing import Any

import pytest

from tests.report.synthetic import result as synthetic
from weir.explain import CaseExplanation, explain
from weir.lab.frames import CONNECTIONS
from weir.results.connections import ConnectionLedger, Connections, ConnectionsFound, ConnectionTrial
from weir.results.result import AreaLoad, Case, Drop, Fingerprint, PathLoad, Result, Setup, StageLoad

from .made import HZ, topology

FULL, HALF = int(0.99 * HZ), int(0.5 * HZ)
PACKETS = 100_000


def chain_area(name: str, core: int, nf: str, busy: int) -> AreaLoad:
    stage = StageLoad(nf=nf, cycles=int(0.8 * busy), packets_in=PACKETS, dropped=0)
    path = PathLoad(
        name="outbound", inputs=[f"{name}.left"], outputs=[f"{name}.right"], packets_in=PACKETS,
        packets_out=PACKETS, dropped=0, stages=[stage],
    )  # fmt: skip
    return AreaLoad(
        name=name, core=core, kind="chain", busy_cycles=busy, idle_cycles=int(HZ) - busy, paths=[path]
    )


def areas_of(tester: int = HALF, f1: int = HALF, f2: int = HALF) -> list[AreaLoad]:
    ends = [
        AreaLoad(name=name, core=0, kind=kind, busy_cycles=cycles, idle_cycles=0)
        for name, kind, cycles in (
            ("clients.left", "clients", tester // 3 * 2),
            ("servers.right", "servers", tester // 3),
        )
    ]
    return [*ends, chain_area("f1", 1, "nat", f1), chain_area("f2", 2, "acl", f2)]


def side(**changes: Any) -> ConnectionLedger:
    plain: dict[str, Any] = dict.fromkeys(ConnectionLedger.model_fields, 0)
    plain |= {"failed": {"no_answer": 0, "out_of_ports": 0}, "tx_packets": PACKETS, "rx_packets": PACKETS}
    return ConnectionLedger.model_validate(plain | changes)


def trial(
    load: float, completed: int, goal: str = "new-connections", failed: str = "no_answer", **more: Any
) -> ConnectionTrial:
    opened = round(load)
    lost = {"no_answer": 0, "out_of_ports": 0} | {failed: opened - completed}
    return ConnectionTrial(
        goal=goal, load=load, intended_duration_s=1, duration_s=1, intended=opened, open_most=opened,
        clients=side(opened=opened, completed=completed, failed=lost), servers=side(), **more,
    )  # fmt: skip


def explained(*trials: ConnectionTrial, **found: Any) -> CaseExplanation:
    what: dict[str, Any] = {"goal": trials[0].goal, "success_ratio": 0.99, "load": 10_000} | found
    record = Connections(services=[], sources=20_000, found=[ConnectionsFound(**what)], trials=list(trials))
    (one,) = explain(stored(record)).cases
    return one


def stored(record: Connections) -> Result:
    case = Case(frame=CONNECTIONS, mean_frame_bytes=1518, records={CONNECTIONS: record.model_dump()})
    setup = Setup(technology="direct", chain="PVVP", datapath="none", topology=topology(), cases=[case])
    made = synthetic()
    made.setups = [setup]
    made.fingerprint = Fingerprint.model_validate(made.fingerprint.model_dump() | {"tsc_hz": HZ})
    return made


GOOD = trial(10_000, 10_000, areas=areas_of())


def test_a_full_table_limits_with_what_it_dropped() -> None:
    drops = [
        Drop(place="f1/outbound/firewall", reason="session_table_full", packets=900),
        Drop(place="f1.right", reason="tx_queue_full", packets=100),
    ]
    one = explained(GOOD, trial(11_000, 10_000, areas=areas_of(), drops=drops))
    assert (one.limit.kind, one.limit.name) == ("decision", "f1/firewall")
    assert "f1/firewall is full: it dropped 900 packets as session_table_full" in one.limit.sentence
    rows = {row.what: row for row in one.evidence}
    assert rows["completed"].value == pytest.approx(10_000 / 11_000)
    assert rows["failed: no_answer"].note == "1,000 connections"
    assert rows["dropped by f1/firewall"].value == 900
    assert one.frame == "connections, new-connections"
    assert [area.name for area in one.areas] == ["clients.left", "servers.right", "f1", "f2"]


def test_a_full_table_limits_though_a_queue_lost_more_packets_that_were_sent_again() -> None:
    drops = [
        Drop(place="f1/outbound/firewall", reason="session_table_full", packets=900),
        Drop(place="f1.right", reason="tx_queue_full", packets=5_000),
    ]
    one = explained(GOOD, trial(11_000, 10_000, areas=areas_of(), drops=drops))
    assert (one.limit.kind, one.limit.name) == ("decision", "f1/firewall")
    few = trial(20_000, 10_000, areas=areas_of(f2=FULL), drops=drops)
    assert explained(GOOD, few).limit.name == "f2/acl"


def test_a_full_core_of_a_function_limits_by_its_dearest_stage() -> None:
    drops = [Drop(place="f1/outbound", reason="tx_queue_full", packets=900)]
    one = explained(GOOD, trial(11_000, 10_000, areas=areas_of(f2=FULL), drops=drops))
    assert (one.limit.kind, one.limit.name, one.limit.core) == ("stage", "f2/acl", 2)


def test_clients_and_servers_that_fill_their_core_limit_as_the_tester() -> None:
    one = explained(GOOD, trial(11_000, 10_000, areas=areas_of(tester=FULL)))
    assert (one.limit.kind, one.limit.name, one.limit.core) == ("tester", "clients.left", 0)
    assert "the chain may carry more" in one.limit.sentence


def test_without_a_free_port_of_the_clients_the_tester_limits() -> None:
    one = explained(GOOD, trial(11_000, 10_000, failed="out_of_ports", areas=areas_of(f2=FULL)))
    assert (one.limit.kind, one.limit.name) == ("tester", "client ports")
    assert "20,000 addresses and ports" in one.limit.sentence


def test_a_queue_that_overflows_behind_no_full_core_is_too_short() -> None:
    drops = [Drop(place="f1/outbound", reason="tx_queue_full", packets=900)]
    one = explained(GOOD, trial(11_000, 10_000, areas=areas_of(), drops=drops))
    assert one.limit.kind == "queue"


def test_the_least_load_that_was_too_much_is_looked_into_and_no_invalid_trial() -> None:
    full = trial(11_000, 10_000, areas=areas_of(f1=FULL))
    more = trial(20_000, 9_000, areas=areas_of(f2=FULL))
    bad = trial(10_500, 9_000, areas=areas_of(f2=FULL), valid=False)
    assert explained(GOOD, more, bad, full).limit.name == "f1/nat"


def test_failures_that_nobody_counted_are_said_to_be_so() -> None:
    one = explained(GOOD, trial(11_000, 10_000, areas=areas_of()))
    assert one.limit.kind == "unknown"
    assert "1,000 no_answer" in one.limit.sentence


def test_where_nothing_was_too_much_it_is_said_up_to_where_the_search_went() -> None:
    assert explained(GOOD).limit.kind == "nothing"
    bound = explained(GOOD, tester_bound=True)
    assert (bound.limit.kind, bound.limit.name) == ("tester", "clients.left")
    held = trial(20_000, 20_000, "concurrent-connections", areas=areas_of())
    assert explained(held, load=20_000).limit.name == "client ports"


def test_transactions_are_judged_by_those_that_were_due() -> None:
    slow = trial(
        20_000, 20_000, "transactions", transactions_s=1, transactions_intended=20_000,
        transactions_missed=1_000, areas=areas_of(f1=FULL),
    )  # fmt: skip
    slow.clients.transactions = 19_000
    one = explained(slow)
    assert one.limit.name == "f1/nat"
    rows = {row.what: row.value for row in one.evidence}
    assert (rows["completed"], rows["missed"]) == (0.95, 0.05)


def test_a_result_of_before_says_that_it_has_no_ledger() -> None:
    one = explained(trial(10_000, 10_000), trial(11_000, 10_000))
    assert one.limit.kind == "unknown"
    assert "no trial has a ledger" in one.limit.sentence
