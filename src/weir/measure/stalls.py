# SPDX-License-Identifier: Apache-2.0
"""Loss while the host had taken a core away: labelled, repeated a bounded number of times, never dropped.

The rule, as docs/design/method.md states it:

1. Gaps of a polling loop above the threshold are attached to the trial as stalls. A trial that lost packets
   and saw a stall is labelled `loss_during_stall`.
2. Such a trial is *explainable* when the packets that arrived during its stalls are at least as many as were
   lost or left in a queue (lost + backlog <= load x stalled time) and the stalls took at most 2 % of the
   trial: longer "stalls" are a slow loop, which belongs to the system under test.
3. In a search an explainable trial is repeated at the same load and for the same time, `stall_repeats` times
   at most. The first repeat that is not explainable (no loss, or more loss than the stalls explain) decides.
   If all are explainable, the last one counts, with its loss. All stay in the result.
4. A load is sustained when at least 1 - exceed_ratio of the trial time there meets the goal's loss ratio
   (MLRsearch), so that one unlucky trial decides nothing.
5. A throughput is labelled when a trial at one of the two loads that bound it was explainable.
"""

from __future__ import annotations

from weir.store.result import Trial

STALLED_SHARE_MAX = 0.02


def explainable(trial: Trial) -> bool:
    """Whether the host's stalls could explain all that a valid trial lost."""
    lost = trial.offered - trial.delivered + trial.backlog
    if not trial.valid or lost <= 0 or not trial.stalls:
        return False
    stalled_s = sum(stall.total_us for stall in trial.stalls) / 1e6
    return stalled_s <= STALLED_SHARE_MAX * trial.duration_s and lost <= trial.intended_load_pps * stalled_s
