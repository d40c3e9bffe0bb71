# SPDX-License-Identifier: Apache-2.0
"""The search for connections on a chain that is made up: what is found, what is the tester's fault, and what
the section says of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.report.synthetic import result as synthetic
from weir.base.si import NS_PER_S
from weir.fabric.counters import Counter
from weir.lab import Lab, load_lab
from weir.measure.tester import Unwatched, no_counters
from weir.procedures.connections.measure import Alone, ConnectionMeasurer
from weir.procedures.connections.section import SECTION, amount
from weir.procedures.connections.trial import ConnectionRunner
from weir.protocol.connections import ConnectionsResult, SideResult
from weir.protocol.ledger import Ledger
from weir.results.connections import Connections, ConnectionTrial
from weir.results.result import Drop

TIMES = dict.fromkeys(
    ("min_ns", "mean_ns", "p50_ns", "p90_ns", "p99_ns", "p999_ns", "p9999_ns", "max_ns"), 5_000.0
)

COUNTERS = [name for name in SideResult.model_fields if name != "failed"]


class Chain:
    """In place of weir-dp: completes so many connections a second, and so many at once."""

    log_hint = ""

    def __init__(self, per_s: float, at_once: int, able_per_s: float = 1e9, stalls: int = 0) -> None:
        self._per_s, self._at_once, self._able_per_s = per_s, at_once, able_per_s
        self._run: Mapping[str, Any] = {}
        self._stalls, self._runs = stalls, 0
        """Of one run in so many nothing is completed; 0: of none."""

    def call(self, command: str, args: Mapping[str, Any]) -> None:
        assert command == "connections.start"
        self._run = args
        self._runs += 1

    def wait(self, seconds: float) -> None:
        assert seconds > 0

    def ledger(self) -> Ledger:
        return Ledger(tsc=0, tsc_hz=1)

    def ask(self, _command: str, answer: type[ConnectionsResult], _request: object) -> ConnectionsResult:
        seconds = self._run["duration_ns"] / NS_PER_S
        intended = self._run.get("connections") or round(self._run["rate"] * seconds)
        opened = min(intended, round(self._able_per_s * seconds))
        limit = self._at_once if self._run.get("hold") else round(self._per_s * seconds)
        stalled = self._stalls and self._runs % self._stalls == 0
        completed = 0 if stalled else min(opened, limit)
        failed = dict.fromkeys(("reset", "closed_early", "bad_payload", "out_of_ports"), 0)
        failed["no_answer"] = opened - completed
        side: dict[str, Any] = dict.fromkeys(COUNTERS, 0)
        side |= {"opened": opened, "established": completed, "completed": completed, "failed": failed}
        if rate := self._run.get("transaction_rate"):
            paced_s = (self._run["duration_ns"] - self._run["transactions_after_ns"]) / NS_PER_S
            due = round(rate * paced_s)
            begun = min(due, round(self._able_per_s * paced_s))
            done = min(begun, round(self._per_s * paced_s))
            missed = begun - done
            side |= {"completed": opened, "failed": {**failed, "no_answer": 0}}
        else:
            due, begun, done, missed = 0, 0, completed, 0
        side |= {"transactions": done, "payload_bytes": 1000 * done, "tx_packets": 10 * opened}
        return answer.model_validate(
            {
                "state": "done",
                "intended": intended,
                "duration_ns": self._run["duration_ns"],
                "open_most": opened,
                "transactions_intended": due,
                "transactions_begun": begun - missed,
                "transactions_missed": missed,
                "clients": side,
                "servers": side,
                "services": [],
                **{name: {"count": completed, **TIMES} for name in ("connect", "first_byte", "transaction")},
            }
        )


def lab_of(folder: Path, more: str = "") -> Lab:
    (folder / "lab.yml").write_text(
        "weir: 1\nname: made\nchain: PVP\ntechnology: direct\n"
        f"traffic: {{connections: {{clients: 1, {more}trial_s: 1}}}}\nmeasure: {{relative_width: 0.01}}\n"
    )
    return load_lab(folder, cpus=[0, 1])


def measured(lab: Lab, chain: Any, ceiling_per_s: float | None = 50_000) -> Connections:
    measurer = ConnectionMeasurer(lab, chain, no_counters, Unwatched(), lambda _step, _steps: None)
    measurer.measure(Alone(ceiling_per_s, ceiling_per_s))
    return measurer.record


def test_the_highest_rate_that_is_completed_is_found(tmp_path: Path) -> None:
    record = measured(lab_of(tmp_path), Chain(12_345, 1))
    (found,) = record.found
    assert found.load is not None
    assert found.load == pytest.approx(12_345, rel=0.01)
    assert (found.searches, found.tester_bound) == (3, False)
    assert found.transactions_per_s == pytest.approx(found.load, rel=0.001)
    assert found.goodput_bps == pytest.approx(2 * 1000 * 8 * found.load, rel=0.001)
    assert found.transaction is not None
    assert found.transaction.p50_us == 5


@pytest.mark.parametrize("most", [20_000, 40])  # however many ports the clients have
def test_as_many_as_can_be_open_at_once_are_found(tmp_path: Path, most: int) -> None:
    record = measured(lab_of(tmp_path, "goals: [concurrent-connections], "), Chain(100, most))
    (found,) = record.found
    assert found.load == pytest.approx(most, rel=0.03)
    assert len(record.trials) < 40


def test_the_highest_rate_of_transactions_on_connections_that_stay_open_is_found(tmp_path: Path) -> None:
    record = measured(lab_of(tmp_path, "goals: [transactions], held: 100, "), Chain(12_345, 1))
    (found,) = record.found
    assert found.load == pytest.approx(12_345, rel=0.01)
    assert found.transactions_per_s == pytest.approx(found.load, rel=0.001)
    assert found.transaction is not None
    last = record.trials[-1]
    assert (last.clients.opened, last.transactions_s) == (100, 1)
    assert last.transactions_intended == pytest.approx(found.load, rel=0.001)
    assert last.success_ratio == 1


def test_a_chain_that_carries_all_that_the_lab_lets_be_begun_may_carry_more(tmp_path: Path) -> None:
    (found,) = measured(lab_of(tmp_path, "max_rate: 5000, "), Chain(10_000, 1)).found
    assert found.load == pytest.approx(5_000)
    assert (found.tester_bound, found.lab_bound) == (False, True)
    assert amount(found).startswith("≥ ")
    (found,) = measured(lab_of(tmp_path, "max_rate: 20000, "), Chain(10_000, 1)).found
    assert (found.tester_bound, found.lab_bound) == (False, False)


def test_throughput_is_the_payload_of_as_many_transactions_as_are_completed(tmp_path: Path) -> None:
    """Of two services the mean by their weights: 0.75 x 1,000 and 0.25 x 5,000 bytes."""
    services = (
        "services: [{request_bytes: 200, answer_bytes: 800, weight: 3}, "
        "{request_bytes: 1000, answer_bytes: 4000}], "
    )
    record = measured(lab_of(tmp_path, f"{services}goals: [throughput], "), Chain(10_000, 1))
    (found,) = record.found
    assert found.load == pytest.approx(10_000 * 2000 * 8, rel=0.01)
    assert found.transactions_per_s == pytest.approx(10_000, rel=0.01)


def test_a_tester_that_begins_too_few_transactions_is_not_the_chains_limit(tmp_path: Path) -> None:
    chain = Chain(1e9, 1, able_per_s=8_000)
    (found,) = measured(lab_of(tmp_path, "goals: [transactions], "), chain).found
    assert found.load == pytest.approx(8_000, rel=0.02)
    assert found.tester_bound
    assert found.why is not None
    assert "transactions" in found.why


def test_the_tester_alone_is_asked_for_what_the_goals_need(tmp_path: Path) -> None:
    for goals, wanted in (
        ("goals: [throughput], ", (False, True)),
        ("goals: [new-connections], ", (True, False)),
        ("goals: [concurrent-connections, transactions], ", (True, True)),
    ):
        chain: Any = Chain(30_000, 1)
        lab = lab_of(tmp_path, goals)
        alone = ConnectionMeasurer(lab, chain, no_counters, Unwatched(), lambda _a, _b: None).alone()
        assert (alone.connections_per_s is not None, alone.transactions_per_s is not None) == wanted


def test_a_tester_that_opens_too_few_is_not_the_chains_limit(tmp_path: Path) -> None:
    (found,) = measured(lab_of(tmp_path), Chain(1e9, 1, able_per_s=8_000)).found
    assert found.load == pytest.approx(8_000, rel=0.02)
    assert found.tester_bound
    assert found.why is not None
    assert "opened" in found.why


def test_what_the_tester_alone_can_do_is_found_by_doubling(tmp_path: Path) -> None:
    chain: Any = Chain(30_000, 1)
    measurer = ConnectionMeasurer(lab_of(tmp_path), chain, no_counters, Unwatched(), lambda _a, _b: None)
    alone = measurer.ceiling_per_s()
    assert alone is not None
    assert 0.85 * 30_000 <= alone <= 30_000


def test_a_stall_is_not_taken_for_what_the_tester_alone_can_do(tmp_path: Path) -> None:
    chain: Any = Chain(30_000, 1, stalls=3)
    measurer = ConnectionMeasurer(lab_of(tmp_path), chain, no_counters, Unwatched(), lambda _a, _b: None)
    alone = measurer.ceiling_per_s()
    assert alone is not None
    assert 0.85 * 30_000 <= alone <= 30_000


def test_a_chain_that_completes_few_is_irregular_in_its_own_words(tmp_path: Path) -> None:
    (found,) = measured(lab_of(tmp_path), Chain(200, 1)).found
    assert found.load is None
    assert found.why is not None
    assert found.why == (
        "Even at 500 connections a second, the lowest load tried, more failed than the goal allows."
    )


@pytest.mark.parametrize("goals", ["", "goals: [new-connections, concurrent-connections], "])
def test_a_chain_that_lets_nothing_through_is_not_searched_and_says_so(tmp_path: Path, goals: str) -> None:
    chain: Any = Chain(0, 1)
    measurer = ConnectionMeasurer(
        lab_of(tmp_path, goals), chain, no_counters, Unwatched(), lambda _step, _steps: None
    )
    said = measurer.measure(Alone(50_000, None))
    assert said == (
        "Nothing comes through: of 30 connections, 100 a second, none had an answer (30 no answer); "
        "30 reached the servers. Packets dropped: nobody counted where."
    )
    assert {(one.load, one.why) for one in measurer.record.found} == {(None, said)}
    assert {trial.load for trial in measurer.record.trials} == {100.0}


def test_one_stall_is_not_taken_for_a_chain_that_lets_nothing_through(tmp_path: Path) -> None:
    class StallsFirst(Chain):
        def ask(self, command: str, answer: type[ConnectionsResult], request: object) -> ConnectionsResult:
            self._stalls = int(self._runs == 1)
            return super().ask(command, answer, request)

    assert measured(lab_of(tmp_path), StallsFirst(12_345, 1)).found[0].load == pytest.approx(12_345, rel=0.01)


@dataclass(frozen=True)
class Others:
    """On a core for 30 ms."""

    core: int = 1
    from_raw_ns: int = 0
    to_raw_ns: int = 30_000_000
    by: str = "other"
    takes_part: bool = False


class Taken30Ms(Unwatched):
    """Of each trial."""

    def end(self) -> list[Others]:
        return [Others()]


@pytest.mark.parametrize(("completed", "valid"), [(1_000, True), (900, False), (500, True)])
def test_time_taken_by_others_does_not_explain_connections_that_fail_by_far(
    tmp_path: Path, completed: int, valid: bool
) -> None:
    """3 % of the time: for a tenth of the connections that may be why, for half of them it is not."""
    lab = lab_of(tmp_path)
    assert lab.traffic.connections is not None
    chain: Any = Chain(completed, 1)
    trials: list[ConnectionTrial] = []
    runner = ConnectionRunner(
        chain, no_counters, lab.traffic.connections, "new-connections", poisson=False, retries=0,
        cores=Taken30Ms(), on_trial=trials.append,
    )  # fmt: skip
    runner.run("confirm", 1_000, 1)
    assert [one.valid for one in trials] == [valid]


class NoRoom:
    """Counters of a firewall whose table had no room for so many, each time they are read."""

    def __init__(self, refused: int) -> None:
        self._refused, self._reads = refused, -1

    def __call__(self) -> list[Counter]:
        self._reads += 1
        refused = self._refused * self._reads
        return [Counter("f1/outbound/firewall", "session_table_full", "drop", refused)]


@pytest.mark.parametrize(("refused", "valid"), [(100, True), (99, False)])
def test_time_taken_by_others_explains_no_connection_that_a_full_table_refused(
    tmp_path: Path, refused: int, valid: bool
) -> None:
    lab = lab_of(tmp_path)
    assert lab.traffic.connections is not None
    chain: Any = Chain(900, 1)
    trials: list[ConnectionTrial] = []
    runner = ConnectionRunner(
        chain, NoRoom(refused), lab.traffic.connections, "new-connections", poisson=False, retries=0,
        cores=Taken30Ms(), on_trial=trials.append,
    )  # fmt: skip
    runner.run("confirm", 1_000, 1)
    assert [one.valid for one in trials] == [valid]


def test_goals_for_which_nothing_was_found_are_all_in_the_summary_with_where_packets_went(
    tmp_path: Path,
) -> None:
    lab = lab_of(tmp_path, "goals: [new-connections, concurrent-connections], ")
    chain: Any = Chain(200, 5)
    measurer = ConnectionMeasurer(lab, chain, NoRoom(7), Unwatched(), lambda _step, _steps: None)
    measurer.measure(Alone(50_000, None))
    run = synthetic()
    run.setups[0].cases[0].records["connections"] = measurer.record.model_dump(mode="json")
    said = list(SECTION.findings(run))
    assert [one.partition(" for ")[2].partition(":")[0] for one in said] == list(lab_goals(lab))
    assert all(one.endswith("Packets dropped: 7 at f1/firewall (session_table_full).") for one in said)
    assert [table.title for table in SECTION.tables(run)] == ["Connections"]


def lab_goals(lab: Lab) -> tuple[str, ...]:
    assert lab.traffic.connections is not None
    return lab.traffic.connections.goals


def full(record: Connections, reason: str, packets: int) -> Connections:
    """Its trials that were too much had such drops."""
    for trial in record.trials:
        if trial.success_ratio < 1:
            trial.drops = [
                Drop(place="f1/outbound/firewall", reason=reason, packets=packets),
                Drop(place="f1.right", reason="tx_queue_full", packets=10 * packets),
            ]
    return record


def test_a_rate_at_which_a_table_is_full_is_told_as_one_of_its_size(tmp_path: Path) -> None:
    record = full(measured(lab_of(tmp_path), Chain(10_000, 100)), "session_table_full", 100_000)
    (found,) = (one for one in record.found if one.goal == "new-connections")
    assert record.full_table(found) == "f1/firewall (session_table_full)"
    found.full_table = record.full_table(found)
    run = synthetic()
    run.setups[0].cases[0].records["connections"] = record.model_dump(mode="json")
    (said,) = SECTION.findings(run)
    assert "the rate is of a table's size, not of a speed" in said
    assert "A longer trial finds less" in said
    found_lines, _ = SECTION.tables(run)
    assert found_lines.lines[0][2].endswith(" /s, table full")
    table = SECTION.csv(run)
    assert table is not None
    assert [row["full_table"] for row in table.rows] == ["f1/firewall (session_table_full)"]


@pytest.mark.parametrize(
    ("reason", "packets"), [("denied", 100_000), ("session_table_full", 3), ("queue_full", 1_000_000)]
)
def test_what_is_refused_for_another_reason_or_few_of_them_is_of_no_tables_size(
    tmp_path: Path, reason: str, packets: int
) -> None:
    record = full(measured(lab_of(tmp_path), Chain(10_000, 100)), reason, packets)
    assert [record.full_table(one) for one in record.found] == [None] * len(record.found)


def test_the_section_says_what_was_found_and_where_connections_went(tmp_path: Path) -> None:
    run = synthetic()
    case = run.setups[0].cases[0]
    case.records["connections"] = measured(lab_of(tmp_path), Chain(12_345, 1)).model_dump(mode="json")
    (said,) = SECTION.findings(run)
    assert "new connections a second, 99.999 % of them completed." in said
    found, ledger = SECTION.tables(run)
    assert found.lines[0][1] == "new connections"
    (line,) = ledger.lines
    assert line[3].replace(",", "").isdigit()
    assert line[4] == line[3]
    table = SECTION.csv(run)
    assert table is not None
    (row,) = table.rows
    assert (row["status"], row["transaction_p50_us"]) == ("found", 5)
    assert set(row) <= set(table.columns)
    assert [part.name for part in SECTION.page(run)] == ["Connections"]
    assert SECTION.kind(run) == "connections"


def test_the_section_says_payload_in_bits_and_transactions_of_those_due(tmp_path: Path) -> None:
    run = synthetic()
    lab = lab_of(tmp_path, "goals: [throughput, transactions], max_transaction_rate: 10000, ")
    run.setups[0].cases[0].records["connections"] = measured(lab, Chain(1e6, 1)).model_dump(mode="json")
    (said,) = SECTION.findings(run)
    assert "Gbit/s of payload, 99.999 % of them completed." in said
    found, ledger = SECTION.tables(run)
    assert [line[2].split(" ")[0::2] for line in found.lines] == [["≥", "Gbit/s"], ["≥", "/s"]]
    assert ledger.lines[1][7] == "10,000 of 10,000"
    table = SECTION.csv(run)
    assert table is not None
    rows = list(table.rows)
    assert [row["transaction_p999_us"] for row in rows] == [5, 5]
    assert set(rows[0]) <= set(table.columns)
