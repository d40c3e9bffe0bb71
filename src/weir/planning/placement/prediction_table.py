# SPDX-License-Identifier: Apache-2.0
"""Predictions of labs in the terminal: rates, delays below them, and what is to be known of both."""

from __future__ import annotations

from collections.abc import Sequence

from weir.report.columns import table
from weir.results.prediction import LabPrediction


def render(found: Sequence[LabPrediction], notices: Sequence[str]) -> str:
    """As plain text. `notices`: of all of them."""
    rows = [("chain", "frame", "flows", "Mpps", "95 % interval", "functions alone", "limited by", "cores")]
    rows += [
        (
            one.chain,
            one.frame,
            f"{one.flows:,}",
            f"{one.pps / 1e6:.3f}",
            f"{one.low_pps / 1e6:.2f}–{one.high_pps / 1e6:.2f}",
            f"{one.functions_pps / 1e6:.3f}",
            one.limited_by,
            ", ".join(f"{load.core}: {load.utilisation:.0%}" for load in one.cores),
        )
        for one in found
    ]
    every = (*_by_chain(found), *notices)
    return "\n".join(
        [*table(rows), *_delays(found), *([""] if every else []), *(f"– {text}" for text in every)]
    )


def _delays(found: Sequence[LabPrediction]) -> list[str]:
    rows: list[tuple[str, ...]] = [
        ("chain", "frame", "flows", "mean µs", "P50 µs", "P90 µs", "P99 µs", "longest queue")
    ]
    for one in found:
        if one.delay is not None:
            delay = one.delay
            name, queue = max(delay.queues.items(), key=lambda item: item[1].packets)
            times_us = (delay.mean_us, delay.p50_us, delay.p90_us, delay.p99_us)
            longest = f"{name}: {queue.packets:.1f} packets"
            rows.append(
                (one.chain, one.frame, f"{one.flows:,}", *(f"{time:.2f}" for time in times_us), longest)
            )
    return ["", *table(rows)] if len(rows) > 1 else []


def _by_chain(found: Sequence[LabPrediction]) -> list[str]:
    """Notices, each once: with the chains of which it is, or none if it is of all."""
    chains: dict[str, dict[str, None]] = {}
    for one in found:
        for text in one.notices:
            chains.setdefault(text, {})[one.chain] = None
    every = len({one.chain for one in found})
    return [
        text if len(names) == every > 1 else f"{', '.join(names)}: {text}" for text, names in chains.items()
    ]
