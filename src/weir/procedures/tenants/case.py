# SPDX-License-Identifier: Apache-2.0
"""One frame size, sent by so many tenants of a cloud that stands: the search of chains, and then each load
that the file names, tenant by tenant."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Sequence
from itertools import product
from typing import Any

from weir.lab.tenants_measure import TenantsMeasure
from weir.measure import Traffic
from weir.measure.experiment import SearchedCase
from weir.measure.one_case import OnChain
from weir.results.result import StreamCount, Trial
from weir.results.tenants import RECORD, Tenants, TenantShare, TenantsPoint
from weir.results.trial import Drop

FAR_TOO_MUCH, ABOVE_FAR_TOO_MUCH = 0.2, 1.5
"""Loss ratio of some tenant at a load far above what its cloud carries; and how far above that load goals are
looked for."""


class TenantsCase(SearchedCase):
    """`record`: of those whose streams those of the traffic are, in their order; filled here."""

    def __init__(self, wanted: TenantsMeasure, traffic: Traffic, chain: OnChain, record: Tenants) -> None:
        super().__init__(wanted.of_searches(), traffic, chain)
        self._wanted = wanted
        self._loaded: list[Trial] = []
        self.record = record

    def measure(self) -> None:
        """The loads first: the search then begins below the first that is far too much. What is finished is
        kept when this raises."""
        self.chain.tester.configure_traffic(self.traffic.config)
        self._load()
        too_much = (
            self._together_pps(one.load_pps)
            for one in self.record.points
            if one.shares and max(share.loss_ratio for share in one.shares) > FAR_TOO_MUCH
        )
        # Far above, so that the search ends between two bounds, and not at this one.
        self.highest_pps = min(too_much, default=math.inf) * ABOVE_FAR_TOO_MUCH
        if self._wanted.goals:
            super().measure()

    def _load(self) -> None:
        loads = [load for load in self._wanted.loads for _ in range(self._wanted.repeats)]
        trials: dict[float, list[Trial]] = {}
        for number, load_pps in enumerate(loads, 1):
            self.phase("curve", number, len(loads))
            outcome = self.runner.valid("curve", self._together_pps(load_pps), self._wanted.duration_s)
            self._loaded.append(outcome.trial)
            trials.setdefault(load_pps, []).append(outcome.trial)
            self.record.points = [point(each_pps, some, self.record) for each_pps, some in trials.items()]

    def _together_pps(self, load_pps: float) -> float:
        streams = len(self.record.tenants) * len(self.record.directions)
        return load_pps * streams + sum(self.traffic.fixed_pps.values())

    def found(self) -> dict[str, Any]:
        """With the record of all loads; their trials are the curve."""
        found = super().found()
        return found | {
            "curve": [*found["curve"], *self._loaded],
            "trials": [one for one in found["trials"] if not any(one is other for other in self._loaded)],
            "records": {RECORD: self.record.model_dump(mode="json")},
        }


def point(load_pps: float, trials: Sequence[Trial], record: Tenants) -> TenantsPoint:
    """What the valid ones of these trials at one load say of each tenant, in each direction."""
    valid = [one for one in trials if one.valid]
    if not valid:
        why = next((said for one in trials for said in one.invalid_because), "No trial was run.")
        return TenantsPoint(load_pps=load_pps, trials=0, why=why)
    lost: Counter[tuple[str, str]] = Counter()
    for one in valid:
        for drop in one.drops:
            lost[drop.place, drop.reason] += drop.packets
    return TenantsPoint(
        load_pps=load_pps,
        trials=len(valid),
        counted_share=min(1 - one.left_out_share for one in valid),
        shares=[
            _share(name, direction, number, valid, load_pps)
            for number, (name, direction) in enumerate(product(record.tenants, record.directions))
        ],
        drops=[
            Drop(place=place, reason=reason, packets=packets)
            for (place, reason), packets in lost.most_common()
        ],
    )


def _share(tenant: str, direction: str, stream: int, trials: Sequence[Trial], load_pps: float) -> TenantShare:
    seen = [(trial, one) for trial in trials for one in trial.streams if one.stream == stream]
    offered_pps, delivered_pps = zip(*(_rates_pps(trial, one, load_pps) for trial, one in seen), strict=True)
    late_us = [one.latency.p99_us for _, one in seen if one.latency is not None]
    return TenantShare(
        tenant=tenant,
        direction=direction,
        offered_pps=statistics.median(offered_pps),
        delivered_pps=statistics.median(delivered_pps),
        delivered_min_pps=min(delivered_pps),
        delivered_max_pps=max(delivered_pps),
        loss_ratio=statistics.median(_loss_ratio(one) for _, one in seen),
        latency_p99_us=statistics.median(late_us) if late_us else None,
    )


def _rates_pps(trial: Trial, one: StreamCount, load_pps: float) -> tuple[float, float]:
    """Sent, and arrived. A valid trial's tester was never behind in the time that counts."""
    if one.counted_offered is None:
        return one.offered / trial.duration_s, one.delivered / trial.duration_s
    return load_pps, load_pps * (1 - _loss_ratio(one))


def _loss_ratio(one: StreamCount) -> float:
    if one.counted_offered is not None and one.counted_lost is not None:
        return one.counted_lost / one.counted_offered if one.counted_offered else 0.0
    return (one.offered - one.delivered) / one.offered if one.offered else 0.0
