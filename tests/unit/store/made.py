# SPDX-License-Identifier: Apache-2.0
"""Results to store, small and whole."""

from __future__ import annotations

from weir.results.result import Case, Fingerprint, Result, Setup, Throughput, Trial
from weir.store import listing
from weir.store.store import Store


def fingerprint(**changed: object) -> Fingerprint:
    fields: dict[str, object] = {
        "cpu": "AMD EPYC",
        "cores": 2,
        "kernel": "6.1.0",
        "cmdline": "quiet",
        "governor": "none",
        "smt": "off",
        "isolated": "",
        "numa_nodes": 1,
        "hugepages_2m": 1536,
        "memory": "24 GiB",
        "hypervisor": "kvm",
        "tsc_hz": 2_500_000_000,
        "offloads": "off",
        "versions": {"dpdk": "22.11", "weir": "0.1"},
    }
    return Fingerprint.model_validate({**fields, **changed})


def run(run_id: str = "switching-1", lab: str = "switching") -> Result:
    return Result(
        weir="0.1",
        id=run_id,
        lab=lab,
        title="A lab",
        quick=True,
        spec_sha256="0" * 64,
        seed=1,
        started_at="2026-11-21T06:00:00Z",
        baseline="linux-bridge",
        fingerprint=fingerprint(),
        spec={"name": lab},
    )


def trial(load_pps: float = 1e6) -> Trial:
    return Trial(
        purpose="search",
        intended_load_pps=load_pps,
        intended_duration_s=1,
        duration_s=1,
        intended=10,
        offered=10,
        delivered=10,
        loss_ratio=0,
        valid=True,
    )


def setup() -> Setup:
    return Setup(technology="direct", chain="PVP", datapath="none")


def case(frame: str = "64") -> Case:
    found = Throughput(goal="NDR", goal_loss_ratio=0, status="found", load_pps=1e6)
    return Case(
        frame=frame, mean_frame_bytes=64, throughput=[found], trials=[trial()], curve=[trial(1), trial(2)]
    )


def listed(store: Store) -> list[str]:
    """Oldest first."""
    return [one.id for one in reversed(listing.runs(store))]
