# SPDX-License-Identifier: Apache-2.0
"""In what a lean measurement was of something else than the one that it is compared with."""

from __future__ import annotations

from collections.abc import Iterator

from weir.plan.lean import LeanRequest
from weir.protocol.configuration import ChainArea
from weir.results.lean import LeanResult


def options(request: LeanRequest) -> dict[str, dict[str, str]]:
    """Of each function, as it is told."""
    areas = [area for area in request.configure.areas if isinstance(area, ChainArea)]
    stages = [stage for area in areas for path in area.paths for stage in path.stages]
    return {
        stage.name or stage.nf: {name: str(value) for name, value in stage.options.items()}
        for stage in stages
    }


def measured(baseline: LeanResult, present: LeanResult) -> Iterator[str]:
    """Sentences: other packets, other options. Of options nothing where a result does not say them."""
    if baseline.traffic != present.traffic:
        yield f"The packets differ: {baseline.traffic.text()}, and {present.traffic.text()}."
    differ = [
        f"{stage} {name} {before.get(name, 'absent')}, and {after.get(name, 'absent')}"
        for stage, after in present.options.items()
        for before in [baseline.options.get(stage, {})]
        for name in sorted(before.keys() | after.keys())
        if before.get(name) != after.get(name)
    ]
    if differ and baseline.options:
        yield f"Options differ: {'; '.join(differ)}."
