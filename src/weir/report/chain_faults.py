# SPDX-License-Identifier: Apache-2.0
"""What a chain does to packets that no disturbance of the machine does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from weir.base.words import counted
from weir.report import summary
from weir.results.result import Result, Trial

FAULTY_SHARE = 0.9
SAMPLED_SHARE = 0.25
FAULTY_TRIALS = 3
"""Of so many trials of a set-up, at least, such a share has the same fault: it is of the chain, whoever had
the cores. Of changed frames a sample is looked at, so that some trials show none; one that does is enough."""


@dataclass(frozen=True)
class _Kind:
    """A fault that no disturbance of the machine makes."""

    what: str
    seen: Callable[[Trial], bool]
    share: float = FAULTY_SHARE
    fewest: int = FAULTY_TRIALS


_KINDS = (
    _Kind("packets arrived more than once", lambda trial: trial.duplicates > 0),
    _Kind("frames arrived changed", lambda trial: "frames_changed" in trial.doubted, SAMPLED_SHARE, 1),
    _Kind(
        "packets of an earlier trial came, or still came long after the end,",
        lambda trial: "held" in trial.doubted,
    ),
)


def fault(result: Result) -> str | None:
    """ "packets arrived more than once in 18 of 18 trials": what no disturbance of the machine does, and of
    which set-ups, if not of all; None: there is no such thing."""
    sent = {
        setup.title: [one for case in setup.cases for one in summary.measured(case) if one.delivered]
        for setup in result.setups
    }
    sent = {title: trials for title, trials in sent.items() if trials}
    for kind in _KINDS:
        hit = {title: trials for title, trials in sent.items() if _has(kind, trials)}
        if hit:
            whole = [trial for trials in hit.values() for trial in trials]
            of = "" if len(hit) == len(sent) else f" of {', '.join(hit)}"
            count = sum(map(kind.seen, whole))
            return f"{kind.what} in {count} of {counted(len(whole), 'trial')}{of} that delivered any"
    return None


def _has(kind: _Kind, trials: Sequence[Trial]) -> bool:
    count = sum(map(kind.seen, trials))
    return count >= max(kind.fewest, kind.share * len(trials))
