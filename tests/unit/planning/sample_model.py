# SPDX-License-Identifier: Apache-2.0
"""The document of a model whose costs are known exactly: those of `costly`, and of all architectures."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from weir import fabric
from weir.results.model import (
    MemoryPoint,
    ModelDocument,
    ModelParameter,
    ModelQuality,
    ModelRange,
    ModelSpread,
    ModelTrial,
)

from .costly import HZ, MEMORY, TRUTH

COSTS = {
    **TRUTH,
    "dispatcher": 50.0,
    "dispatcher from another core": 5.0,
    "forwarder": 5.0,
    "state_core": 20.0,
    "state_core from another core": 15.0,
    "rewrite_worker": 35.0,
    "rewrite_worker from another core": 15.0,
    "collector": 5.0,
    "collector from another core": 5.0,
    "nf lb": 60.0,
}
TRIAL = ModelTrial(
    text="a trial",
    measured_pps=1e6,
    visits_pps=[1e6],
    fitted_pps=1e6,
    host_factor=1.0,
    lost_in_functions=0.0,
    settled=True,
)
QUALITY = ModelQuality(
    mean_error=0,
    worst_error=0,
    left_out_deviation=0.02,
    conditional=ModelSpread(scatter=0.02, times=2.1),
    blind=ModelSpread(scatter=0.02, times=2.1),
    row_deviation=0.01,
)


def sample_model(*without: str, more: Mapping[str, float] = MappingProxyType({})) -> ModelDocument:
    """Of this machine. `without`: terms that no trial had; `more`: cycles of others."""
    costs = {name: cycles for name, cycles in sorted({**COSTS, **more}.items()) if name not in without}
    return ModelDocument(
        weir="0",
        lab="library",
        created_at="2026-01-01T00:00:00+00:00",
        technology="direct",
        wire="memory",
        counter_hz=HZ,
        utilisation=1.0,
        core_distances_cycles=[],
        memory=[MemoryPoint(size_bytes=int(size), cycles=cycles) for size, cycles in MEMORY.points],
        parameters=[
            ModelParameter(name=name, cycles=one, deviation_cycles=0.0) for name, one in costs.items()
        ],
        covariance=[[0.0] * len(costs) for _ in costs],
        ranges=[
            ModelRange(name="flows", low=64, high=40000),
            ModelRange(name="frame_bytes", low=64, high=1518),
        ],
        options={"nat": {"external": "192.0.2.0/24"}, "acl": {"default": "permit"}, "l3fwd": {}, "dpi": {}},
        quality=QUALITY,
        trials=[TRIAL] * 15,
        fingerprint=fabric.fingerprint(0, "unknown", {}),
    )
