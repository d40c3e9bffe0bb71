# SPDX-License-Identifier: Apache-2.0
"""What the benches *-nftables and *-ipvs measure: one of Weir's functions and Linux in its place, in turn.

The same chain behind the same bridge, one direction, so many flows, as fast as the tester can: what arrives a
second (the forwarding rate at maximum offered load of RFC 2285, 3.6.2). Each side is built anew for each
measurement, and has seen all flows before it.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench.pairs import Line, SkipError, interleave, line
from weir.lab import Lab, load_lab
from weir.measure.trial import TrialRunner
from weir.procedures.driver import planned, refusal, running
from weir.results.result import Trial

PAIRS = 5
FLOWS = 10_000
FRAME = "64"
_AS_FAST_AS_IT_CAN = 0.0
_WARM_UP_S, _SECONDS = 0.3, 0.5
_TECHNOLOGY = "linux-bridge"


def against_linux(name: str, nf: str, options: dict[str, Any], *, by: str | None, target: float) -> Line:
    """Ratio of packets a second. `by`: of `weir.lab.counterparts.OTHER_WAYS`; None: nftables. SkipError."""
    kernel = {} if by is None else {"kernel": {"counterpart": by}}
    ours = _lab({"nf": nf, "options": options})
    peer = _lab({"nf": nf, "options": options, "kind": "kernel", **kernel})
    for lab in (ours, peer):
        lacking = refusal(lab, _TECHNOLOGY, lab.chains()[0])
        if lacking is not None:
            raise SkipError(lacking.missing)
    lost: dict[str, float] = {}
    taken = interleave(_rate_of(ours, "ours", lost), _rate_of(peer, "peer", lost), PAIRS)
    found = line(name, taken, target=target, unit="pps")
    found.detail.update(flows=FLOWS, frame=FRAME, lost_ratio_last=lost)
    return found


def _lab(function: dict[str, Any]) -> Lab:
    text = {
        "weir": 1,
        "name": "beside",
        "chain": "PVP",
        "technology": _TECHNOLOGY,
        "functions": {"default": function},
        "tester": {"direction": "left-to-right"},
        "traffic": {
            "frames": [FRAME],
            "flows": {"count": FLOWS, "vary": ["src_port"]},
        },
    }
    with tempfile.NamedTemporaryFile("w", suffix=".yml") as file:
        json.dump(text, file)
        file.flush()
        return load_lab(Path(file.name), cpus=sorted(os.sched_getaffinity(0)))


def _rate_of(lab: Lab, side: str, lost: dict[str, float]) -> Callable[[], float]:
    def rate_pps() -> float:
        trials: list[Trial] = []
        topology = planned(lab, _TECHNOLOGY, lab.chains()[0])
        with running(lab, topology) as chain:
            tester, traffic = chain.tester(), chain.traffic(FRAME)
            tester.announce(3)
            tester.configure_traffic(traffic.config)
            options = lab.measure.trial
            runner = TrialRunner(tester, chain.counters, traffic, options=options, on_trial=trials.append)
            runner.run("curve", _AS_FAST_AS_IT_CAN, _WARM_UP_S)
            runner.run("curve", _AS_FAST_AS_IT_CAN, _SECONDS)
        last = trials[-1]
        if not last.delivered:
            raise SkipError(f"{side}: nothing arrived of {last.offered} packets: {last.drops}")
        lost[side] = 1 - last.delivered / last.offered
        return last.delivered / last.duration_s

    return rate_pps
