# SPDX-License-Identifier: Apache-2.0
"""One function behind the kernel's bridge, one way, and a trial of it whose flows were all seen before."""

from __future__ import annotations

import json
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.pairs import SkipError
from weir.lab import Lab, load_lab
from weir.measure.outside import NOTHING
from weir.measure.trial import TrialRunner
from weir.procedures.driver import planned, refusal, running
from weir.results.result import Trial

FRAME = "64"
AS_FAST_AS_IT_CAN = 0.0
_TECHNOLOGY = "linux-bridge"


@dataclass(frozen=True)
class Seen:
    """A trial, and how fast the counter of its cycles is."""

    trial: Trial
    tsc_hz: int

    @property
    def delivered_pps(self) -> float:
        """What came back."""
        return self.trial.delivered / self.trial.duration_s


def bridged(function: dict[str, Any], *, flows: int) -> Lab:
    """A lab with the function, as a lab file has it. SkipError where it cannot be built here."""
    text = {
        "weir": 1,
        "name": "bridged",
        "chain": "PVP",
        "technology": _TECHNOLOGY,
        "functions": {"default": function},
        "tester": {"direction": "left-to-right"},
        "traffic": {"frames": [FRAME], "flows": {"count": flows, "vary": ["src_port"]}},
    }
    with tempfile.NamedTemporaryFile("w", suffix=".yml") as file:
        json.dump(text, file)
        file.flush()
        lab = load_lab(Path(file.name), cpus=sorted(os.sched_getaffinity(0)))
    lacking = refusal(lab, _TECHNOLOGY, lab.chains()[0])
    if lacking is not None:
        raise SkipError(lacking.missing)
    return lab


def seen(lab: Lab, load_pps: float, *, warm_up_s: float, seconds: float, watched: bool = False) -> Seen:
    """The second of two trials on a chain that is built for them. `watched`: with the CPUs' time. SkipError
    where nothing arrived."""
    trials: list[Trial] = []
    with running(lab, planned(lab, _TECHNOLOGY, lab.chains()[0])) as chain:
        tester, traffic = chain.tester(), chain.traffic(FRAME)
        tester.announce(3)
        tester.configure_traffic(traffic.config)
        runner = TrialRunner(
            tester,
            chain.counters,
            traffic,
            options=lab.measure.trial,
            on_trial=trials.append,
            outside=chain.deployment.watch(sample_stacks=False) if watched else NOTHING,
        )
        runner.run("curve", load_pps, warm_up_s)
        runner.run("curve", load_pps, seconds)
        last = Seen(trials[-1], tester.ledger().tsc_hz)
    if not last.trial.delivered:
        raise SkipError(f"nothing arrived of {last.trial.offered} packets: {last.trial.drops}")
    return last
