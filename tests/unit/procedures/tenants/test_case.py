# SPDX-License-Identifier: Apache-2.0
"""What trials at one load say of each tenant: medians of the valid ones, and where the rest was lost."""

from __future__ import annotations

from weir.procedures.tenants.case import point
from weir.results.result import StreamCount, Trial
from weir.results.trial import Drop


def trial(*delivered: int, valid: bool = True, lost_at: str = "compute1:qvo of blue.1") -> Trial:
    lost = 100 * len(delivered) - sum(delivered)
    return Trial(
        purpose="curve",
        intended_load_pps=100 * len(delivered),
        intended_duration_s=1,
        duration_s=1,
        intended=100 * len(delivered),
        offered=100 * len(delivered),
        delivered=sum(delivered),
        loss_ratio=0,
        valid=valid,
        invalid_because=[] if valid else ["The host took the cores."],
        drops=[Drop(place=lost_at, reason="socket_full", packets=lost)] if lost else [],
        streams=[
            StreamCount(
                stream=number, direction="left-to-right", intended=100, offered=100, delivered=packets,
                duplicates=0, reordered=0,
            )
            for number, packets in enumerate(delivered)
        ],
    )  # fmt: skip


def test_each_tenant_has_the_median_of_its_own_packets() -> None:
    found = point(100, [trial(100, 40), trial(90, 60), trial(80, 50), trial(0, 0, valid=False)], ["b", "r"])
    assert found.trials == 3
    blue, red = found.shares
    assert (blue.tenant, blue.delivered_pps, blue.delivered_min_pps, blue.delivered_max_pps) == (
        "b",
        90,
        80,
        100,
    )
    assert (red.delivered_pps, red.loss_ratio, red.offered_pps) == (50, 0.5, 100)


def test_losses_of_all_trials_are_added_by_place() -> None:
    found = point(100, [trial(90), trial(60), trial(99, lost_at="network:eth1")], ["b"])
    assert [(one.place, one.packets) for one in found.drops] == [
        ("compute1:qvo of blue.1", 50),
        ("network:eth1", 1),
    ]


def test_without_a_valid_trial_it_says_why() -> None:
    found = point(100, [trial(0, valid=False)], ["b"])
    assert (found.trials, found.shares, found.why) == (0, [], "The host took the cores.")
