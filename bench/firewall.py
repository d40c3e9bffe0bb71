# SPDX-License-Identifier: Apache-2.0
"""What the firewall-* benches measure: rte_acl and the firewall on the same rules and packets, in one run.

build/native/firewall-bench measures all contenders in turn, for each kind of rules (native/testing/rules.h).
"""

from __future__ import annotations

import functools
import statistics
from dataclasses import replace
from pathlib import Path

from bench.native_program import answers
from bench.pairs import PAIRS, Line, line

MEMORY_MB = 2048
KINDS = ("acl", "fw", "ipc", "uniform")
FEW, MANY = 1_000, 40_000
AVX512 = "--force-max-simd-bitwidth=512"
Round = dict[str, float]  # contender → nanoseconds a packet


@functools.cache
def measured(kind: str, rules: int, *eal: str) -> tuple[dict[str, float], tuple[Round, ...]]:
    """What firewall-bench says of what it built, and its rounds."""
    built, *rounds = answers("firewall-bench", kind, rules, PAIRS, memory_mb=MEMORY_MB, eal=eal)
    return built, tuple(rounds)


def against_rte_acl(name: str, ours: str, peer: str, *, target: float) -> Line:
    """Ratio of rte_acl's time a packet to ours at 40,000 rules, over all kinds of rule sets."""
    taken = {kind: [(ns[ours], ns[peer]) for ns in measured(kind, MANY)[1]] for kind in KINDS}
    all_taken = [pair for pairs in taken.values() for pair in pairs]
    found = line(name, all_taken, target=target, unit="ns", less_is_better=True)
    detail: dict[str, object] = {f"ratio_{kind}": _ratio(pairs) for kind, pairs in taken.items()}
    detail |= {f"disagreements_{kind}": measured(kind, MANY)[0]["disagreements"] for kind in KINDS}
    detail |= {f"load_{kind}_s": measured(kind, MANY)[0]["load_s"] for kind in KINDS}
    if "avx512f" in Path("/proc/cpuinfo").read_text():
        for kind in KINDS:
            rounds = measured(kind, MANY, AVX512)[1]
            detail[f"ratio_{kind}_avx512"] = _ratio([(ns[ours], ns[peer]) for ns in rounds])
    else:
        detail["ratio_avx512"] = "this CPU has no AVX-512: rte_acl ran avx2"
    return replace(found, detail=found.detail | detail)


def misses() -> dict[str, object]:
    """For a detail: packets that no rule matches, rte_acl's time to the classifier's, at 40,000 rules.

    The share is that of packets drawn evenly; where it is 0 the rules leave none to measure.
    """
    detail: dict[str, object] = {}
    for kind in KINDS:
        built, rounds = measured(kind, MANY)
        detail[f"miss_share_{kind}"] = built["miss_share"]
        detail[f"ratio_{kind}_misses"] = (
            _ratio([(ns["misses"], ns["rte_acl_misses"]) for ns in rounds])
            if built["miss_share"] > 0
            else "none: the rules match every packet"
        )
    return detail


def slowdown(name: str, *, target: float) -> Line:
    """Time a packet of a new flow at 1,000 rules to that at 40,000; the detail has rte_acl's."""
    taken: list[tuple[float, float]] = []
    detail: dict[str, object] = {}
    for kind in KINDS:
        few, many = measured(kind, FEW)[1], measured(kind, MANY)[1]
        taken += [(b["classifier"], a["classifier"]) for a, b in zip(few, many, strict=True)]
        for contender in ("classifier", "new_flows", "rte_acl"):
            pairs = [(a[contender], b[contender]) for a, b in zip(few, many, strict=True)]
            detail[f"slowdown_{kind}_{contender}"] = _ratio(pairs)
    found = line(name, taken, target=target, unit="ns", less_is_better=True)
    return replace(found, detail=found.detail | detail)


def _ratio(pairs: list[tuple[float, float]]) -> float:
    return round(statistics.median(second / first for first, second in pairs), 3)
