# SPDX-License-Identifier: Apache-2.0
"""Stores to serve pages of. None of their numbers was ever measured."""

from __future__ import annotations

import random
from collections.abc import Iterable
from pathlib import Path

from starlette.testclient import TestClient

from tests.report.disturbed import found
from tests.report.hostile import ATTACK
from tests.report.synthetic import fingerprint, result
from weir.results.campaign import CampaignRecord, CaseRound, LeftOutRounds, SharedCampaign
from weir.results.result import Case, Result, Setup
from weir.store.rows import add_run
from weir.store.store import Store
from weir.web.app import application
from weir.web.guard import Access
from weir.web.reading import Reading

NOISE = 0.01
NIGHTS = 40
CHANGED = 28
"""The night from which on `direct` is 10 % slower and `ovs` 10 % faster."""
HERE = "testserver"
"""As the test client calls it."""


def nightly(night: int, host: str = "alpha") -> Result:
    """One run of a history: three technologies, two frame sizes."""
    dice = random.Random(night)
    began = f"2026-{1 + night // 28:02}-{1 + night % 28:02}T01:00:00Z"
    factors = {"direct": 0.9, "linux-bridge": 1.0, "ovs": 1.1} if night >= CHANGED else {}
    setups = []
    for at, way in enumerate(("direct", "linux-bridge", "ovs")):
        cases = []
        for frame, of in (("64", 1.0), ("1518", 0.4)):
            pps = 1e6 * (3 - at) * of * factors.get(way, 1.0)
            rounds = tuple(pps * (1 + NOISE * dice.gauss(0, 1)) for _ in range(3))
            rate = found(sorted(rounds)[1], rounds=rounds)
            cases.append(Case(frame=frame, mean_frame_bytes=float(frame), throughput=[rate]))
        setups.append(Setup(technology=way, chain="PVP", datapath="none", cases=cases))
    there = fingerprint()
    there.host = host
    there.versions = {**there.versions, "weir": f"0.1+g{'new' if night >= CHANGED else 'old'}"}
    return result(
        id=f"nightly-{night:02}",
        lab="nightly",
        title="Every night",
        quick=False,
        started_at=began,
        finished_at=began,
        setups=setups,
        fingerprint=there,
    )


CAMPAIGN = "nightly-on-hosts-1"


def on_hosts() -> list[Result]:
    """A campaign of three rounds over two hosts: `beta` has no ovs, and three rounds of that are measured by
    nobody. Each host has a night's rates."""
    left = [
        LeftOutRounds(name="ovs", chain="PVP", frame=frame, measured=3 - rounds, left_out=rounds)
        for frame, rounds in (("64", 1), ("1518", 2))
    ]
    runs = []
    for host, rounds in (("alpha", {0, 1}), ("beta", {2})):
        run = nightly(0, host).model_copy(deep=True)
        run.id, run.lab = f"hosts-{host}", "hosts"
        shared = SharedCampaign(id=CAMPAIGN, host=host, points=18, spec={"name": "hosts"})
        run.campaign = CampaignRecord(rounds=3, points=18, left_out=left, shared=shared)
        for setup in run.setups:
            for case in setup.cases:
                kept = {0} if (setup.technology, case.frame) == ("ovs", "1518") else rounds
                case.rounds = [CaseRound(round=one) for one in sorted(kept)]
        if host == "beta":
            run.setups[-1].cases, run.setups[-1].refused = [], "no Open vSwitch"
        runs.append(run)
    return runs


def hostile_night(night: int) -> Result:
    """The same with names that try to become markup, at a time that can be read."""
    run = nightly(night).model_copy(deep=True)
    run.id, run.lab, run.title = f"hostile-{night:02}", f"evil{ATTACK}", ATTACK
    run.fingerprint.host, run.fingerprint.versions["weir"] = ATTACK, ATTACK
    for setup in run.setups:
        setup.technology, setup.chain = setup.technology + ATTACK, ATTACK
        for case in setup.cases:
            case.frame += ATTACK
            for rate in case.throughput:
                rate.goal += ATTACK
    return run


def filled(place: Path, runs: Iterable[Result]) -> Path:
    """A store with these runs."""
    with Store(place) as store, store.session(writing=True) as session:
        for run in runs:
            add_run(session, run, ["kept"])
    return place


def client(place: Path, model: Path | None = None) -> TestClient:
    """A browser without cookies; what is a defect raises."""
    reading = Reading(str(place))
    return TestClient(application(reading, Access(frozenset({HERE})), model), follow_redirects=False)
