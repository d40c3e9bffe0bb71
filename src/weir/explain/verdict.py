# SPDX-License-Identifier: Apache-2.0
"""What limited one trial.

In this order: nothing comes through, however light the load; nothing can be said, since the system under test
was not empty or the counters do not balance; functions drop more by their rules than is lost in queues; cores
that were taken away; a full core behind a queue that overflows (of several the one that spends most cycles on
a packet); the link; then an overflow behind which no core is full: a switch, a function's own stalls,
others', or a queue that is too short for bursts. Without loss that counts: who fell behind, who had the core
while packets were lost, or nobody.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from weir.base import packet_rate
from weir.base.si import US_PER_S
from weir.base.words import counted
from weir.explain.conclusion import Verdict, unknown
from weir.explain.cores import Core, CostItem, cores
from weir.explain.decisions import decision, nothing_comes
from weir.explain.evidence import busy, lost, outside_rows, share, slowed_rows
from weir.explain.programs import not_emptied, slowest
from weir.explain.taken_away import away_s, moment, only_while_away, taken_away
from weir.explain.trial import (
    LOST_SHARE,
    NOT_RETURNED,
    PROGRAM,
    SWITCH,
    TOO_LATE,
    Analysis,
    Overflow,
    balanced,
    losses,
    lossy,
    lost_some,
)
from weir.lab.frames import l1_bps
from weir.results.explanation import Evidence, Limit
from weir.results.result import Trial
from weir.results.trial import behind_earlier

STILL_CAME = "packets still came when the trial was given up, and what was not back is not known to be lost"
COUNTED_SHARE = 0.01
"""A queue with less than this share of what was lost in queues does not overflow."""
THROTTLED_SHARE = 0.1
"""A core that sends and is full limits, unless a larger share of what it sent is lost elsewhere."""
STALL_EXPLAINS = 0.5
"""Share of the lost packets that must have come during stalls for these to be the cause."""
DROPS_LEAST_OF, AS_EVER = 1000, 0.8
"""Packets that count, of which a program that drops by itself keeps nearly the share that it keeps of all."""
_OF_FUNCTIONS = ("stage", "fastpath", "rest")
LINE_SHARE = 0.97
LINE_RATES_BPS = tuple(gbps * 1e9 for gbps in (1, 2.5, 5, 10, 25, 40, 50, 100, 200, 400))


def judge(one: Analysis) -> Verdict:
    """The verdict, "unknown" where the evidence does not do."""
    trial = one.trial
    if one.silent is not None:
        return _too_slow(one, one.silent) or nothing_comes(one, one.silent)
    if (why := _no_account(trial)) is not None:
        return unknown(f"{why}.")
    if lost_some(trial) and one.losses.decided > one.losses.overflowed:
        return decision(one)
    taken = taken_away(one) if (lost_some(trial) or lossy(trial)) and not _drops_as_ever(one) else None
    if taken is not None:
        return Verdict(*taken)
    return _overflowing(one) if lossy(trial) else _without_loss(one)


def _no_account(trial: Trial) -> str | None:
    """Why nothing can be said of what its counters say; None: it can."""
    if "held" in trial.doubted:
        return behind_earlier(trial.from_earlier) if trial.from_earlier else STILL_CAME
    if not balanced(trial):
        return f"{_unbalanced(trial)}: its counters cannot be believed"
    return (
        "frames arrived changed: look for what rewrites them" if "frames_changed" in trial.doubted else None
    )


def _drops_as_ever(one: Analysis) -> bool:
    """Whether a program keeps packets while nobody has a core, too, as large a share as at other times."""
    trial, worst = one.trial, next(iter(one.losses.overflows), None)
    if trial.counted is None or trial.counted_offered < DROPS_LEAST_OF or worst is None:
        return False
    ratio = worst.packets / trial.offered
    elsewhere = (trial.offered - trial.delivered - worst.packets) / trial.offered
    return worst.reason == NOT_RETURNED and trial.counted_loss_ratio - elsewhere >= AS_EVER * ratio


def _unbalanced(trial: Trial) -> str:
    found = []
    if trial.unaccounted:
        number = counted(abs(trial.unaccounted), "packet")
        found.append(
            f"{number} of the trial {'is' if abs(trial.unaccounted) == 1 else 'are'} unaccounted for"
        )
    if trial.duplicates:
        found.append(f"{counted(trial.duplicates, 'packet')} of it came more than once")
    return ", and ".join(found)


def _too_slow(one: Analysis, light: Trial) -> Verdict | None:
    """Of a function that fills its core with a light load, so that nothing arrives in time; None: no such."""
    loaded = replace(one, trial=light, cores=tuple(cores(light, one.hz)), losses=losses(light, one.topology))
    full = [
        core
        for core in loaded.cores
        if core.full and core.parts and core.dearest().kind in _OF_FUNCTIONS and not core.dearest().tester
    ]
    if loaded.losses.decided > loaded.losses.overflowed:
        return None
    if full:
        return _full(loaded, max(full, key=lambda core: core.cycles), [])
    worst = next(iter(loaded.losses.overflows), None)
    if worst is None or worst.reason not in (NOT_RETURNED, TOO_LATE) or not worst.emptied_by:
        return None
    return not_emptied(loaded, worst)


def _overflowing(one: Analysis) -> Verdict:
    counted = [
        overflow
        for overflow in one.losses.overflows
        if overflow.packets >= COUNTED_SHARE * one.losses.overflowed
    ]
    confirmed = {
        core.number: core
        for overflow in counted
        for core in map(one.core_of, overflow.emptied_by)
        if core is not None and core.parts and (core.full or _cannot(one, core))
    }
    if confirmed:
        core = max(confirmed.values(), key=lambda core: core.cycles)
        ahead = [
            overflow for overflow in counted if any(one.core_of(area) is core for area in overflow.emptied_by)
        ]
        return _full(one, core, ahead)
    throttling = _full_with_generator(one)
    if throttling is not None and one.losses.overflowed < THROTTLED_SHARE * one.trial.offered:
        return _full(one, throttling, [])
    link = _link(one)
    if link is not None:
        return link
    if not counted:
        return _left_in_queues(one)
    of_program = any(each.startswith(PROGRAM) for each in counted[0].emptied_by)
    return (not_emptied if of_program else _no_core_full)(one, counted[0])


def _needed(one: Analysis, core: Core) -> float:
    """Share of the core's time for all that was offered."""
    return one.offered_pps * core.cycles / one.hz


def _cannot(one: Analysis, core: Core) -> bool:
    """Functions need more than all of its time, though it is not always busy.

    Where the host takes cores away, queues run empty in turns with overflowing.
    """
    part = core.dearest()
    return part.kind in _OF_FUNCTIONS and not part.tester and _needed(one, core) > 1


def _full(one: Analysis, core: Core, ahead: Sequence[Overflow]) -> Verdict:
    part = core.dearest()
    most = part.cycles / core.cycles
    overflows = f", and {ahead[0].queue} ahead of it overflows" if ahead else ""
    evidence = (
        share(f"core {core.number} busy", core.busy, "of the time in which packets were sent"),
        *slowed_rows(core.number, one.slowed.get(core.number)),
        *outside_rows(one, core),
        *(
            Evidence(
                what=each.name(),
                value=each.cycles,
                unit="cycles/packet",
                note=f"{each.cycles / core.cycles:.0%} of core {core.number}'s",
            )
            for each in core.parts[:3]
        ),
        *lost(one, ahead),
        Evidence(
            what=f"core {core.number} by its cycles",
            value=one.hz / core.cycles,
            unit="pps",
            note=f"f / {core.cycles:.0f} cycles; carried {packet_rate.said(one.carried_pps)}",
        ),
    )
    if part.kind in ("switch", "kernel"):
        says = _outside_says(one, core, part, overflows)
        limit = Limit(
            kind="switch" if part.kind == "switch" else "kernel",
            name=part.name(),
            core=core.number,
            sentence=says,
        )
    elif part.tester:
        says = f"The tester takes most of core {core.number}, which is full{overflows}."
        limit = Limit(kind="tester", name=part.area, core=core.number, sentence=says)
    else:
        does = {"stage": "runs", "fastpath": "follows its fast path", "rest": "receives and sends"}[part.kind]
        what = f"runs {part.nf}" if part.kind == "stage" else does
        full = "is full" if core.full else f"would need {_needed(one, core):.0%} of its time for what comes"
        says = f"Core {core.number} {full}{overflows}; {most:.0%} of its cycles go where {part.area} {what}."
        limit = Limit(
            kind="ports" if part.kind == "rest" else "stage",
            name=part.name(),
            core=core.number,
            sentence=says,
        )
    return Verdict(limit, evidence, core, part)


def _outside_says(one: Analysis, core: Core, part: CostItem, overflows: str) -> str:
    most = f"{part.cycles / core.cycles:.0%} of its cycles"
    if part.kind == "switch":
        does = "polls the switch's ports" if part.area.startswith("pmd.") else "switches"
        return f"Core {core.number} is full{overflows}; {part.area} {does} there, with {most}."
    path = "the kernel's receive path (softirq)" if part.area.startswith("softirq.") else "system calls"
    gives_up = sum(each.dropped for each in one.trial.cores if each.core == core.number)
    full = f"; its backlog was full {gives_up} times" if gives_up else ""
    return f"Core {core.number} is full{overflows}; {most} go to {path}{full}."


def _left_in_queues(one: Analysis) -> Verdict:
    """Nothing overflowed: queues grew until the end."""
    full = [core for core in one.cores if core.full and core.parts]
    if full and one.trial.backlog:
        return _full(one, max(full, key=lambda core: core.cycles), [])
    left = f"{one.trial.backlog:,} packets were left in queues at its end"
    slow = slowest(one, left) if one.trial.backlog else None
    if slow is not None:
        return slow
    if one.trial.backlog:
        return unknown(f"{left}, and no core is full.")
    return unknown("packets were lost where no queue of the chain says so.")


def _no_core_full(one: Analysis, worst: Overflow) -> Verdict:
    evidence = lost(one, [worst])
    if SWITCH in worst.emptied_by:
        says = f"{worst.queue} overflows, and the switch should empty it: its thread is full, or away."
        return Verdict(Limit(kind="switch", name="switch", sentence=says), (*evidence, *busy(one)))
    found = [core for core in map(one.core_of, worst.emptied_by) if core is not None]
    if not found:
        return unknown(f"{worst.queue} overflows, but who empties it is not in this result.")
    core = max(found, key=lambda core: core.busy)
    needed_s = STALL_EXPLAINS * worst.packets / one.offered_pps
    away = away_s(one.trial, core.number)
    if core.long_s >= max(needed_s, away) and core.parts:
        return _own_stall(one, core, worst)
    if away >= needed_s:
        limit, shown = moment(one, core.number, worst)
        return Verdict(limit, (*evidence, *shown, *busy(one)))
    if any(area.startswith("receiver") for area in worst.emptied_by):
        says = f"The tester's receiver lets {worst.queue} overflow."
        return Verdict(
            Limit(kind="tester", name=worst.emptied_by[0], core=core.number, sentence=says),
            (*evidence, *busy(one)),
        )
    says = (
        f"{worst.queue} overflows though core {core.number}, which empties it, is busy only {core.busy:.0%} "
        "of the time: it is too short for the bursts that come."
    )
    return Verdict(
        Limit(kind="queue", name=worst.queue, core=core.number, sentence=says), (*evidence, *busy(one))
    )


def _own_stall(one: Analysis, core: Core, worst: Overflow) -> Verdict:
    stages = [part for part in core.parts if part.kind == "stage" and part.area in worst.emptied_by]
    longest = max(stages, key=lambda part: part.long_cycles, default=None)
    part, which = longest or core.dearest(), ""
    if longest is not None and not longest.long_cycles:
        part = stages[0]
        which = " (its dearest stage: this ledger tells only whose area had the long polls)"
    says = (
        f"{worst.queue} overflows while {part.name()}{which} keeps core {core.number} for long at once, "
        f"{core.long_s:.3f} s in all; otherwise the core is not full."
    )
    stalled = Evidence(what="in long polls of its own", value=core.long_s * US_PER_S, unit="us")
    limit = Limit(kind="own-stall", name=part.name(), core=core.number, sentence=says)
    return Verdict(limit, (*lost(one, [worst]), stalled, *busy(one)), core, part)


def _full_with_generator(one: Analysis) -> Core | None:
    """A full core that sends too: no queue ahead of its areas overflows, as it cannot send any more."""
    generators = {area.core for area in one.trial.areas if area.kind == "generator"}
    full = [core for core in one.cores if core.number in generators and core.full and core.parts]
    return max(full, key=lambda core: core.cycles, default=None)


def _without_loss(one: Analysis) -> Verdict:
    trial = one.trial
    full = _full_with_generator(one)
    short = trial.counted_short > LOST_SHARE * trial.counted_due
    if full is not None and (short or trial.purpose == "calibration"):
        return _full(one, full, [])
    if short:
        return unknown(f"the tester sent {trial.counted_short} packets too few, though its core is not full.")
    if lost_some(trial):
        return Verdict(*only_while_away(one))
    link = _link(one)
    if link is not None:
        return link
    alone = one.ceiling
    if alone is not None and alone.near(one.offered_pps) and not alone.refuted_by(one.offered_pps):
        says = "All was carried, and the tester itself can hardly offer more."
        ceiling = Evidence(what="tester alone", value=alone.max_pps, unit="pps", note="in loopback")
        return Verdict(Limit(kind="tester", name="tester", sentence=says), (ceiling, *busy(one)))
    return _nothing(one)


def _nothing(one: Analysis) -> Verdict:
    if one.trial.disturbed:
        return unknown(
            f"others had cores for {one.trial.left_out_share:.0%} of the highest load with a ledger, which "
            "was carried."
        )
    all_of = packet_rate.said(one.offered_pps)
    says = f"Nothing yet: all of {all_of} was carried, the highest load with a ledger."
    return Verdict(Limit(kind="nothing", name="nothing", sentence=says), busy(one))


def _link(one: Analysis) -> Verdict | None:
    """Only for physical wires: their speed is not in the result, so a usual one must be nearly reached."""
    if one.topology is None or one.topology.wire != "physical":
        return None
    each = max((stream.delivered for stream in one.trial.streams), default=0) / one.trial.duration_s
    bps = l1_bps(each, one.mean_frame_bytes)
    line = next((rate for rate in LINE_RATES_BPS if LINE_SHARE * rate <= bps <= rate * 1.005), None)
    if line is None:
        return None
    says = f"The link is full: one direction carries {bps / line:.1%} of {line / 1e9:g} Gbit/s."
    evidence = Evidence(what="one direction, with preamble and gap", value=bps, unit="bit/s")
    return Verdict(Limit(kind="link", name="link", sentence=says), (evidence, *busy(one)))
