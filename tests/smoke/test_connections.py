# SPDX-License-Identifier: Apache-2.0
"""Connections through functions that are really there: each one is completed or has a reason, translated
addresses or not, and `weir run` finds and reports how many a chain carries."""

from __future__ import annotations

import json
import os
import subprocess
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from tests.weir_command import WEIR
from weir import fabric
from weir.fabric import namespace
from weir.fabric.function.connections import followed, forget
from weir.lab import Lab, load_lab
from weir.lab.connections import ConnectionGoal
from weir.plan.connections import connections
from weir.procedures.connections.trial import ConnectionRunner
from weir.procedures.driver import planned, running
from weir.results.connections import Connections, ConnectionTrial
from weir.results.result import Result

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="makes namespaces and processes: run as root"),
]

MIX = (
    "{port: 80, transactions: 2, answer_bytes: 20000}, "
    "{l4: udp, port: 80, request_bytes: 60, answer_bytes: 300, weight: 2}"
)
VIRTUAL, REAL = "203.0.113.10:80", "198.19.0"
LB = f"{VIRTUAL}/tcp {REAL}.1:8080, {VIRTUAL}/tcp {REAL}.2:8080, {VIRTUAL}/udp {REAL}.3:80"
FUNCTIONS = {
    "firewall": ("{nf: firewall, options: {default: permit}}", ""),
    "nat": ("{nf: nat, options: {external: 203.0.113.0/28}}", ""),
    "lb": (f"{{nf: lb, options: {{services: '{LB}'}}}}", "left: {to_address: 203.0.113.10}, "),
    "small": ("{nf: firewall, options: {default: permit, sessions: 32}}", ""),
    "linux": ("{kind: kernel, nf: nat, options: {external: 203.0.113.0/28}}", ""),
    "deny": ("{nf: acl, options: {default: deny}}", ""),
    "firewall-ipv6": ("{nf: firewall, options: {default: permit, ipv6: rules}}", "ip: 6, "),
    "linux-ipv6": ("{kind: kernel, nf: firewall, options: {default: permit, ipv6: rules}}", "ip: 6, "),
    "nat-ipv6": ("{nf: nat, options: {external: 203.0.113.0/28}}", "ip: 6, "),
    "router-ipv6": ("{nf: l3fwd}", "ip: 6, "),
}
RATE, DURATION_S = 200, 0.5


def lab_of(folder: Path, technology: str, function: str, more: str = "", last_port: int = 19_999) -> Lab:
    nf, ends = FUNCTIONS[function]
    made = f"{{clients: 2, client_ports: [10000, {last_port}], {more}services: [{MIX}]}}"
    (folder / "lab.yml").write_text(
        f"weir: 1\nname: made\nchain: PVP\ntechnology: {technology}\nfunctions: {{default: {nf}}}\n"
        f"traffic: {{{ends}connections: {made}}}\n"
        "measure: {repeats: 1, relative_width: 0.5, min_load: 0.5, time_limit_s: 20}\n"
    )
    return load_lab(folder, quick=False, cpus=sorted(os.sched_getaffinity(0)))


def one_trial(lab: Lab, goal: ConnectionGoal = "new-connections", rate: float = RATE) -> ConnectionTrial:
    (technology,) = lab.technology
    lacking = fabric.check(technology)
    if lacking is not None:
        pytest.skip(f"{lacking.missing}: {lacking.fix}")
    trials: list[ConnectionTrial] = []
    assert lab.traffic.connections is not None
    with running(lab, planned(lab, technology, lab.chains()[0])) as chain:
        chain.client.announce(3)
        chain.client.call("connections.configure", connections(chain.topology, lab).arguments())
        runner = ConnectionRunner(
            chain.client,
            chain.counters,
            lab.traffic.connections,
            goal,
            poisson=False,
            retries=0,
            cores=chain.cores,
            on_trial=trials.append,
        )
        runner.run("confirm", rate, DURATION_S)
    (trial,) = trials
    assert trial.clients.balanced
    assert trial.servers.balanced
    assert trial.clients.opened > 0
    return trial


@pytest.mark.long
@pytest.mark.parametrize(
    ("technology", "function"),
    [
        *product(("direct", "linux-bridge"), ("firewall", "nat", "lb")),
        ("direct", "router-ipv6"),
        ("linux-bridge", "firewall-ipv6"),
        ("linux-bridge", "linux-ipv6"),
    ],
)
def test_every_connection_is_completed(tmp_path: Path, technology: str, function: str) -> None:
    trial = one_trial(lab_of(tmp_path, technology, function, "drain_s: 20, "))
    clients, servers = trial.clients, trial.servers
    assert clients.completed == clients.opened, (clients, trial.drops)
    sessions, exchanges = clients.established, clients.opened - clients.established
    assert min(sessions, exchanges) > 0
    assert clients.transactions == 2 * sessions + exchanges
    assert clients.payload_bytes == 2 * sessions * 20_000 + exchanges * 300
    assert servers.completed == servers.opened >= sessions
    assert trial.transaction is not None
    assert trial.transaction.packets == clients.transactions


@pytest.mark.parametrize(
    "function", ["firewall", *(pytest.param(one, marks=pytest.mark.long) for one in ("nat", "lb"))]
)
def test_every_transaction_at_a_rate_of_its_own_is_completed_or_missed(tmp_path: Path, function: str) -> None:
    """TCP sessions and UDP exchanges that stay open; a stop of the machine leaves none of them idle."""
    lab = lab_of(tmp_path, "linux-bridge", function, "drain_s: 20, held: 50, ")
    trial = one_trial(lab, "transactions", 400)
    clients = trial.clients
    assert (clients.opened, clients.completed, trial.open_most) == (50, 50, 50)
    assert (trial.transactions_s, trial.transactions_intended) == (DURATION_S, 200)
    missed, late = trial.transactions_missed, trial.transactions_late
    assert missed is not None
    assert late is not None
    assert clients.transactions == 200 - missed - late > 0
    assert trial.transaction is not None
    assert trial.transaction.packets == clients.transactions


def test_connections_that_a_function_refuses_have_a_reason(tmp_path: Path) -> None:
    trial = one_trial(lab_of(tmp_path, "direct", "deny", "retransmit_ms: 10, retries: 1, drain_s: 20, "))
    assert trial.clients.failed["no_answer"] == trial.clients.opened
    assert trial.servers.opened == 0
    denied = sum(drop.packets for drop in trial.drops if drop.reason == "denied")
    assert denied == trial.clients.tx_packets - trial.clients.tx_refused


def weir(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*WEIR, *arguments], capture_output=True, text=True, timeout=300, check=False)


@pytest.mark.long
def test_a_run_searches_stores_and_reports(tmp_path: Path) -> None:
    """With a highest load that any machine carries: it is the answer."""
    goals = (
        "goals: [new-connections, concurrent-connections, throughput], success_ratio: 0.5, max_rate: 100, "
        "max_transaction_rate: 100, held: 20, "
    )
    lab_of(tmp_path, "direct", "firewall", f"{goals}trial_s: 0.5, drain_s: 20, ", last_port=10_049)
    store, out = str(tmp_path / "store.db"), tmp_path / "out"
    ran = weir("run", str(tmp_path), "--store", store, "--output", str(out))
    assert ran.returncode == 0, ran.stdout + ran.stderr
    result = Result.model_validate(json.loads((out / "result.json").read_text()))
    (case,) = (case for _, case in result.cases())
    record = Connections.model_validate(case.records["connections"])
    assert [one.goal for one in record.found] == [
        "new-connections",
        "concurrent-connections",
        "throughput",
    ]
    assert all(trial.clients.balanced and trial.servers.balanced for trial in record.trials)
    new = record.found[0]
    assert new.load is not None
    assert 45 <= new.load <= 100
    assert new.transactions_per_s
    assert new.goodput_bps
    payload = record.found[2]
    assert payload.load is not None
    assert payload.transactions_per_s is not None
    assert payload.transactions_per_s >= 45 * 0.5
    for name in ("report.html", "report.md", "throughput.csv"):
        assert "new-connections" in (out / name).read_text(), name
    shown = weir("report", "latest", "--store", store)
    assert "Every connection" in shown.stdout


@pytest.mark.long
def test_a_run_of_a_chain_that_lets_no_connection_through_searches_nothing_and_says_who_denied(
    tmp_path: Path,
) -> None:
    more = "max_rate: 100, retransmit_ms: 10, retries: 1, trial_s: 0.5, drain_s: 20, "
    lab_of(tmp_path, "direct", "deny", more)
    ran = weir("run", str(tmp_path), "--store", str(tmp_path / "store.db"), "--output", str(tmp_path / "out"))
    assert ran.returncode == 1, ran.stdout + ran.stderr
    last = ran.stderr.splitlines()[-1]
    assert "no goal of the connections was reached: Nothing comes through: of " in last
    assert "0 reached the servers" in last
    assert "at f1/acl (denied)" in last


@pytest.mark.long
def test_a_function_that_carries_no_ipv6_is_left_out_before_anything_stands(tmp_path: Path) -> None:
    lab_of(tmp_path, "direct", "nat-ipv6")
    ran = weir("run", str(tmp_path), "--store", str(tmp_path / "store.db"), "--output", str(tmp_path / "out"))
    assert ran.returncode == 1, ran.stdout + ran.stderr
    result = Result.model_validate_json((tmp_path / "out" / "result.json").read_text())
    (setup,) = result.setups
    assert setup.refused is not None
    assert "nat in f1 lets no IPv6 through" in setup.refused
    assert not setup.cases


@pytest.mark.long
@pytest.mark.parametrize("command", [["rfc2544"], ["soak"], ["migrate"], ["lean"], ["model", "predict"]])
def test_what_sends_frames_refuses_a_lab_with_connections(tmp_path: Path, command: list[Any]) -> None:
    lab_of(tmp_path, "direct", "firewall")
    said = weir(*command, str(tmp_path))
    assert said.returncode == 2, said.stdout + said.stderr
    assert "the lab makes connections" in said.stdout + said.stderr


@pytest.mark.long
def test_linux_forgets_connections_between_trials_too(tmp_path: Path) -> None:
    lab = lab_of(tmp_path, "linux-bridge", "linux", "drain_s: 20, ")
    (technology,) = lab.technology
    assert lab.traffic.connections is not None
    with running(lab, planned(lab, technology, lab.chains()[0])) as chain:
        chain.client.announce(3)
        chain.client.call("connections.configure", connections(chain.topology, lab).arguments())
        ConnectionRunner(
            chain.client, chain.counters, lab.traffic.connections, "new-connections", poisson=False,
            retries=0, cores=chain.cores, on_trial=lambda _trial: None,
        ).run("confirm", RATE, DURATION_S)  # fmt: skip
        (function,) = chain.topology.namespaced()
        with namespace.inside(chain.topology.namespace_of(function)):
            assert followed() > 0
            forget(chain.topology)
            assert followed() == 0


@pytest.mark.long
def test_a_table_that_is_too_small_limits_at_its_size_and_is_named(tmp_path: Path) -> None:
    """Whatever loads were tried before: sessions of trials that are over would fill it."""
    lab_of(tmp_path, "direct", "small", "goals: [concurrent-connections], trial_s: 0.5, drain_s: 1, ")
    store, out = str(tmp_path / "store.db"), tmp_path / "out"
    ran = weir("run", str(tmp_path), "--store", store, "--output", str(out))
    assert ran.returncode == 0, ran.stdout + ran.stderr
    result = Result.model_validate_json((out / "result.json").read_text())
    (case,) = (case for _, case in result.cases())
    trials = Connections.model_validate(case.records["connections"]).trials
    assert [one.clients.completed for one in trials] == [min(32, one.clients.opened) for one in trials]
    assert "f1/firewall is full" in weir("explain", "--store", store).stdout
