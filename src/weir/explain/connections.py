# SPDX-License-Identifier: Apache-2.0
"""What limits the connections of a chain, goal by goal: looked for in the least load that was too much.

In this order: the tester's addresses and ports; what a function dropped by its own decision, a full table
above all; a full core, the tester's among them; a queue that overflows behind no full core. Where no load was
too much: up to where the search went.
"""

from __future__ import annotations

from collections.abc import Iterator

from weir.explain.areas import areas
from weir.explain.cores import Core
from weir.explain.evidence import busy, lost, share
from weir.explain.trial import Analysis, Decision, analysis
from weir.lab.frames import CONNECTIONS
from weir.lab.nf import network_functions
from weir.results.connections import Connections, ConnectionsFound, ConnectionTrial, of_case
from weir.results.explanation import CaseExplanation, Evidence, Limit, LimitKind
from weir.results.result import Case, Fingerprint, Setup, Trial

ENDS = frozenset({"clients", "servers"})
MOST_SHARE = 0.5
"""Of what failed: a reason for so much of it is the limit."""
KINDS: dict[str, LimitKind] = {
    "stage": "stage",
    "fastpath": "stage",
    "rest": "ports",
    "switch": "switch",
    "kernel": "kernel",
}
TESTER_SAID = "The tester's {name} fill core {core}: the chain may carry more."
NOBODY = "Nothing was too much: {load} is the highest load that was tried{why}."


def of_connections(setup: Setup, case: Case, machine: Fingerprint) -> Iterator[CaseExplanation]:
    """One explanation for each goal; none of a case without connections."""
    if (record := of_case(case.records)) is None:
        return
    for found in record.found:
        trial = record.too_much(found)
        one = None
        shown = trial or record.confirming(found)
        if shown is not None and shown.areas and machine.tsc_hz:
            one = analysis(as_packets(shown), setup.topology, machine.tsc_hz, case)
        limit = _limit(record, found, trial, one)
        yield CaseExplanation(
            technology=setup.name,
            chain=setup.chain,
            frame=f"{CONNECTIONS}, {found.goal}",
            purpose=None,
            limit=limit,
            evidence=[*_evidence(shown), *_behind(one)] if shown is not None else [],
            areas=areas(one) if one is not None else [],
        )


def as_packets(trial: ConnectionTrial) -> Trial:
    """Its packets, as the rest of an explanation asks for them: those of both ends."""
    offered = trial.clients.tx_packets + trial.servers.tx_packets
    delivered = min(offered, trial.clients.rx_packets + trial.servers.rx_packets)
    return Trial(
        purpose="confirm",
        intended_load_pps=offered / trial.intended_duration_s,
        intended_duration_s=trial.intended_duration_s,
        duration_s=trial.intended_duration_s,
        intended=offered,
        offered=offered,
        delivered=delivered,
        loss_ratio=1 - delivered / offered if offered else 0.0,
        drops=trial.drops,
        valid=trial.valid,
        areas=trial.areas,
    )


def _limit(
    record: Connections, found: ConnectionsFound, trial: ConnectionTrial | None, one: Analysis | None
) -> Limit:
    if trial is None:
        return _nothing(record, found, one)
    failed = trial.clients.failed
    if failed.get("out_of_ports", 0) > MOST_SHARE * sum(failed.values()):
        sentence = (
            f"All {record.sources:,} addresses and ports of the clients had connections: more "
            "traffic.connections.clients, or a wider range of client_ports."
        )
        return Limit(kind="tester", name="client ports", sentence=sentence)
    if one is None:
        sentence = "Cannot tell: no trial has a ledger of its areas; run the lab again with this Weir."
        return Limit(kind="unknown", name="unknown", sentence=sentence)
    asked = trial.transactions_intended or trial.clients.opened
    return _of_packets(one, (1 - trial.success_ratio) * asked) or _unknown(trial)


def _of_packets(one: Analysis, unfinished: float) -> Limit | None:
    """A function's decision, a full core, or a queue behind none; None: none of these. A decision that
    explains half of the `unfinished` connections or transactions is the limit, whatever else overflowed: what
    a queue loses is sent again."""
    decided = one.losses.decisions[0] if one.losses.decisions else None
    if decided is not None and 0 < MOST_SHARE * unfinished <= decided.packets:
        return _decision(decided)
    core = max((core for core in one.cores if core.full and core.parts), key=lambda c: c.busy, default=None)
    if core is not None:
        return _full(core)
    if not one.losses.overflows:
        return None
    worst = one.losses.overflows[0]
    sentence = f"{worst.queue} overflows ({worst.reason}), and no core is full: too short for bursts."
    return Limit(kind="queue", name=worst.queue, sentence=sentence)


def _unknown(trial: ConnectionTrial) -> Limit:
    failed = trial.clients.failed
    reasons = ", ".join(f"{count:,} {why}" for why, count in failed.items() if count) or "none failed"
    sentence = f"Cannot tell: no core is full, and nobody counted a drop. Of the connections: {reasons}."
    return Limit(kind="unknown", name="unknown", sentence=sentence)


def _decision(decided: Decision) -> Limit:
    nf = network_functions().get(decided.stage.partition("/")[2])
    said = next((one.sentence for one in nf.drop_reasons if one.symbol == decided.reason), "") if nf else ""
    full = "is full" if "full" in decided.reason else "refuses connections"
    sentence = (
        f"{decided.stage} {full}: it dropped {decided.packets:,} packets as {decided.reason}"
        f"{f' ({said.rstrip(chr(46))})' if said else ''}."
    )
    return Limit(kind="decision", name=decided.stage, sentence=sentence)


def _full(core: Core) -> Limit:
    part = core.dearest()
    name = part.name()
    if part.tester:
        sentence = TESTER_SAID.format(name=part.area, core=core.number)
        return Limit(kind="tester", name=part.area, core=core.number, sentence=sentence)
    sentence = (
        f"Core {core.number} is full: {name} takes most of it, {part.cycles:,.0f} of {core.cycles:,.0f} "
        "cycles a packet."
    )
    return Limit(kind=KINDS[part.kind], name=name, core=core.number, sentence=sentence)


def _nothing(record: Connections, found: ConnectionsFound, one: Analysis | None) -> Limit:
    load = f"{found.load:,.0f}" if found.load is not None else "none"
    if found.goal == "concurrent-connections" and (found.load or 0) >= MOST_SHARE * record.sources:
        why = f", of {record.sources:,} addresses and ports of the clients"
        sentence = NOBODY.format(load=load, why=why)
        return Limit(kind="tester", name="client ports", sentence=sentence)
    if found.tester_bound:
        known = one.trial.areas if one is not None else []
        ends = [area for area in known if area.kind in ENDS]
        busiest = max(ends, key=lambda area: area.own_cycles, default=None)
        name = busiest.name if busiest is not None else "tester"
        sentence = f"{name} of the tester can do little more, as in loopback; the chain may carry more."
        core = busiest.core if busiest is not None else None
        return Limit(kind="tester", name=name, core=core, sentence=sentence)
    if found.load is None:
        sentence = f"Cannot tell: {(found.why or 'no load was found').rstrip('.')}."
        return Limit(kind="unknown", name="unknown", sentence=sentence)
    return Limit(kind="nothing", name="nothing", sentence=NOBODY.format(load=load, why=", as the lab says"))


def _evidence(trial: ConnectionTrial) -> Iterator[Evidence]:
    """Of its connections."""
    at = f"of {trial.clients.opened:,} opened, at a load of {trial.load:,.0f}"
    if trial.transactions_intended is not None:
        at = f"of {trial.transactions_intended:,} transactions due, at a load of {trial.load:,.0f}"
    yield share("completed", trial.success_ratio, at)
    for reason, count in trial.clients.failed.items():
        if count:
            yield share(f"failed: {reason}", count / trial.clients.opened, f"{count:,} connections")
    if trial.clients.open:
        yield share("still open", trial.clients.open / trial.clients.opened, "when the drain was over")
    if trial.transactions_missed:
        missed = trial.transactions_missed / (trial.transactions_intended or 1)
        yield share("missed", missed, f"{trial.transactions_missed:,} were due while no connection was idle")
    sent = trial.clients.tx_packets + trial.servers.tx_packets
    again = trial.clients.retransmissions + trial.servers.retransmissions
    if again:
        yield share("sent again", again / sent, f"{again:,} of {sent:,} packets")


def _behind(one: Analysis | None) -> Iterator[Evidence]:
    """Of its packets and cores."""
    if one is None:
        return
    for each in one.losses.decisions[:3]:
        note = f"{each.reason}, {each.packets / one.trial.offered:.1%} of the sent"
        yield Evidence(what=f"dropped by {each.stage}", value=each.packets, unit="packets", note=note)
    yield from lost(one, one.losses.overflows)
    yield from busy(one)
