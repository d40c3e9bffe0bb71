# SPDX-License-Identifier: Apache-2.0
"""What compared ways take off the baseline's delays, what was tuned for it, and what stayed out of reach."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from weir.report import numbers, summary
from weir.results.result import DelayMeasure, HostSetting, Reduction, Result

HEAD: dict[DelayMeasure, str] = {
    "mean": "mean",
    "p99": "P99",
    "max": "max",
    "ipdv_mean": "IPDV mean",
    "ipdv_max": "IPDV max",
    "jitter_max": "jitter",
}
MEANING = (
    "Change of the delay of the worse direction against the baseline in the round next to it: the median, "
    "and the least and greatest of the rounds. -50% is half the delay. IPDV, what many call jitter, is the "
    "change from one packet to the next (RFC 5481); jitter is RFC 3550's, its highest value."
)
UNSURE = "?: the rounds do not agree on more or less, or there is only one."


@dataclass(frozen=True)
class ReductionRow:
    """One frame size and load of one way."""

    chain: str
    frame: str
    load: str
    way: str
    found: dict[DelayMeasure, Reduction]

    def remark(self) -> str:
        """What hinders the comparison; empty: nothing."""
        same_load = all(one.same_load for one in self.found.values())
        loss_ratio = max(one.loss_ratio for one in self.found.values())
        said = [] if same_load else ["each at its own load"]
        if loss_ratio:
            said.append(f"loss {numbers.share(loss_ratio)}")
        return ", ".join(said)

    def changes(self) -> list[str]:
        """ "-63%", "+4%?", in the order of HEAD."""
        return [_change(self.found.get(measure)) for measure in HEAD]

    def spreads(self) -> list[str]:
        """ "-70 to -55%", likewise; empty of a single round."""
        return [_spread(self.found.get(measure)) for measure in HEAD]

    def values(self) -> list[str]:
        """ "24.1 → 9.0", in µs, likewise."""
        known = [self.found.get(measure) for measure in HEAD]
        return [
            numbers.NONE
            if one is None
            else f"{numbers.in_us(one.baseline_us)} → {numbers.in_us(one.found_us)}"
            for one in known
        ]


def reduction_rows(result: Result) -> Iterator[ReductionRow]:
    """Chain by chain, frame size by frame size; the ways at one load stand together."""
    rows: dict[tuple[str, str, str, str], dict[DelayMeasure, Reduction]] = {}
    for one in result.reductions:
        rows.setdefault((one.chain, one.frame, one.load, one.way), {})[one.measure] = one
    seen = [list(dict.fromkeys(key[at] for key in rows)) for at in range(4)]
    ordered = sorted(rows.items(), key=lambda item: [seen[at].index(one) for at, one in enumerate(item[0])])
    for (chain, frame, load, way), found in ordered:
        yield ReductionRow(chain, summary.frame_label(frame), load, way, found)


def _change(one: Reduction | None) -> str:
    if one is None:
        return numbers.NONE
    agreed = one.rounds > 1 and (one.reduction_min > 0) == (one.reduction_max > 0)
    return numbers.change(-one.reduction) + ("" if agreed else "?")


def _spread(one: Reduction | None) -> str:
    if one is None or one.rounds < 2:
        return ""
    return f"{numbers.change(-one.reduction_max)} to {numbers.change(-one.reduction_min)}"


def host_of(result: Result) -> dict[str, list[HostSetting]]:
    """What became of `host`, of each way that was built; empty unless the ways differ in it."""
    built = {setup.name: setup.host for setup in result.setups if setup.host}
    different = {tuple((one.key, one.asked, one.applied) for one in each) for each in built.values()}
    return built if len(different) > 1 else {}


def applied(settings: list[HostSetting]) -> str:
    """ "pinning, hugepages, pmd_cores 1"; "nothing"."""
    done = [
        f"{one.key} {one.asked}" if one.key.endswith("cores") else one.key for one in settings if one.applied
    ]
    return ", ".join(done) or "nothing"


def out_of_reach(result: Result) -> list[str]:
    """What this machine cannot show: keys that were asked for in vain, and what no key changes."""
    hosts = host_of(result)
    why: dict[str, dict[str, list[str]]] = {}
    for name, settings in hosts.items():
        for one in settings:
            if one.why is not None:
                key = f"{one.key}, in part" if one.applied else one.key
                why.setdefault(key, {}).setdefault(one.why, []).append(name)
    said = [
        f"{key} ({', '.join(names)}): {reason}"
        for key, reasons in why.items()
        for reason, names in reasons.items()
    ]
    return said + [f"{one.subject}: {one.what}" for one in result.shortfalls if one.subject not in why]
