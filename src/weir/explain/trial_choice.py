# SPDX-License-Identifier: Apache-2.0
"""Which trial of a case shows what limits it: one with a little too much load, and a ledger of its areas."""

from __future__ import annotations

from weir.results.result import Case, Trial

LOST_SHARE = 0.001
"""Losing less than this is no overload."""
_PURPOSES = ("calibration", "confirm", "curve")


def shows_most(case: Case) -> Trial | None:
    """Best first: balanced accounts, loss, the curve (it goes a little beyond the throughput), more load."""
    ledgered = [trial for trial in (*case.curve, *case.trials) if trial.areas and trial.offered]
    return max(ledgered, key=_merit, default=None)


def lossy(trial: Trial) -> bool:
    """Whether more was lost than by accident."""
    return trial.offered - trial.delivered >= LOST_SHARE * trial.offered


def balanced(trial: Trial) -> bool:
    """Whether its counters can be believed, about."""
    return abs(trial.unaccounted) <= LOST_SHARE * trial.offered and not trial.duplicates


def _merit(trial: Trial) -> tuple[bool, bool, bool, int, float]:
    return (
        balanced(trial),
        lossy(trial),
        trial.valid,
        _PURPOSES.index(trial.purpose) if trial.purpose in _PURPOSES else -1,
        trial.intended_load_pps,
    )
