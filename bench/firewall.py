# SPDX-License-Identifier: Apache-2.0
"""What the firewall-* benches measure: rte_acl and the firewall on the same rules and packets, in one run.

build/native/firewall-bench measures all contenders in turn, for each kind of rules (native/testing/rules.h).
Each kind is a line of its own, with its own verdict: what one of them misses another's success must not hide.
"""

from __future__ import annotations

import functools
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from bench import builds
from bench.native_program import answers
from bench.pairs import PAIRS, Line, line
from weir.fabric.built import built

MEMORY_MB = 2048
KINDS = ("acl", "fw", "ipc", "uniform")
FEW, MANY = 1_000, 40_000
AVX512 = "--force-max-simd-bitwidth=512"
Round = dict[str, float]  # contender → nanoseconds a packet


def measured(kind: str, rules: int, *eal: str) -> tuple[dict[str, float], tuple[Round, ...]]:
    """What firewall-bench says of what it built, and its rounds; once for each build of it."""
    return _measured(built("weir-dp"), kind, rules, *eal)


@functools.cache
def _measured(_build: Path, kind: str, rules: int, *eal: str) -> tuple[dict[str, float], tuple[Round, ...]]:
    built, *rounds = answers("firewall-bench", kind, rules, PAIRS, memory_mb=MEMORY_MB, eal=eal)
    return built, tuple(rounds)


def against_rte_acl(
    name: str, ours: str, peer: str, *, target: float, uniform_target: float | None = None
) -> Iterator[Line]:
    """Ratio of rte_acl's time a packet to ours at 40,000 rules, for each kind of rule set.

    `uniform_target`: of rules that are drawn evenly, with which rte_acl is quickest.
    Of rte_acl as it is by default, and with AVX-512 where there is some: that is what it can do then.
    """
    for kind in KINDS:
        asked = uniform_target if kind == "uniform" and uniform_target is not None else target
        for suffix, eal in _ways():
            built, rounds = measured(kind, MANY, *eal)
            pairs = _taken(rounds, ours, peer)
            found = line(f"{name}-{kind}{suffix}", pairs, target=asked, unit="ns", less_is_better=True)
            yield replace(found, detail=found.detail | _built(built, rounds))


def misses(name: str, *, target: float) -> Iterator[Line]:
    """The same for packets that no rule matches, where the rules leave any: of those drawn evenly."""
    for kind in KINDS:
        for suffix, eal in _ways():
            built, rounds = measured(kind, MANY, *eal)
            if built["miss_share"] == 0:
                continue
            pairs = _taken(rounds, "misses", "rte_acl_misses")
            found = line(
                f"{name}-{kind}-misses{suffix}", pairs, target=target, unit="ns", less_is_better=True
            )
            yield replace(found, detail=found.detail | {"miss_share": built["miss_share"]})


def _ways() -> list[tuple[str, tuple[str, ...]]]:
    """Of running rte_acl: what a line's name ends with, and what EAL is told."""
    ways: list[tuple[str, tuple[str, ...]]] = [("", ())]
    # Not with our generic build: that is there to compare programs compiled alike.
    if builds.chosen() is None and "avx512f" in Path("/proc/cpuinfo").read_text():
        ways.append(("-avx512", (AVX512,)))
    return ways


def slowdown(name: str, *, target: float) -> Iterator[Line]:
    """Time a packet of a new flow at 1,000 rules to that at 40,000; the detail has rte_acl's."""
    for kind in KINDS:
        few, many = measured(kind, FEW)[1], measured(kind, MANY)[1]
        taken = [(b["classifier"], a["classifier"]) for a, b in zip(few, many, strict=True)]
        found = line(f"{name}-{kind}", taken, target=target, unit="ns", less_is_better=True)
        detail = {
            f"slowdown_{contender}": _ratio(
                [(a[contender], b[contender]) for a, b in zip(few, many, strict=True)]
            )
            for contender in ("classifier", "new_flows", "rte_acl")
        }
        yield replace(found, detail=found.detail | detail)


def _taken(rounds: Sequence[Round], ours: str, peer: str) -> list[tuple[float, float]]:
    return [(ns[ours], ns[peer]) for ns in rounds]


def _built(built: dict[str, float], rounds: Sequence[Round]) -> dict[str, object]:
    """What was built, and what a packet of a new flow takes: why a ratio is what it is."""
    detail: dict[str, object] = {key: built[key] for key in ("disagreements", "load_s", "tables", "trees")}
    medians = {key: statistics.median(ns[key] for ns in rounds) for key in ("rte_acl", "classifier")}
    begun_ns = statistics.median(ns["new_flows"] - ns["classifier"] for ns in rounds)
    return (
        detail
        | {f"new_flow_{key}_ns": round(ns, 2) for key, ns in medians.items()}
        | {"new_flow_session_ns": round(begun_ns, 2)}
    )


def _ratio(pairs: Sequence[tuple[float, float]]) -> float:
    return round(statistics.median(second / first for first, second in pairs), 3)
