# SPDX-License-Identifier: Apache-2.0
"""Sixty-four tenants, all of which send at once: `weir run labs/tenants-many` accounts for every packet of
each, and leaves nothing."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from weir.fabric import namespace
from weir.lab.tenants_load import load_tenants
from weir.lab.tenants_measure import STREAMS_MAX
from weir.results.tenants import Tenants

from .test_measured_cloud import measured

pytestmark = [
    pytest.mark.root,
    pytest.mark.slow,
    pytest.mark.skipif(os.geteuid() != 0, reason="makes namespaces and processes: run as root"),
    pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="a cloud is measured on two CPUs or more"),
]
LAB = Path(__file__).parents[2] / "labs" / "tenants-many"
WITHIN_S = 1800.0
"""All of it, on two cores that others use, too."""


def test_of_sixty_four_tenants_at_once_every_packet_of_each_is_accounted_for(
    tmp_path: Path, run_root: Path
) -> None:
    """What is too disturbed to be used, on a busy machine, balances, too."""
    before = set(namespace.DIRECTORY.iterdir())
    shutil.copy(LAB / "lab.yml", tmp_path)
    ((_, case),) = measured(tmp_path, "--quick", within_s=WITHIN_S, usable=False).cases()
    wanted = load_tenants(LAB)
    names = [name for name, _ in wanted.all_tenants()]
    record = Tenants.model_validate(case.records["tenants"])
    assert record.tenants == names
    assert len(names) == record.standing == STREAMS_MAX
    assert [one.load_pps for one in record.points] == list(wanted.measure.loads)
    assert len(case.curve) >= len(record.points)
    for trial in case.curve:
        assert [one.stream for one in trial.streams] == list(range(STREAMS_MAX))
        assert all(one.offered > 0 for one in trial.streams)
        assert trial.unaccounted == trial.duplicates == 0
        assert trial.offered == trial.delivered + sum(drop.packets for drop in trial.drops)
    for point in record.points:
        assert [one.tenant for one in point.shares] in (names, [])
        assert point.shares or point.why
    assert all(one.loss_ratio == 0 for one in record.points[0].shares)
    assert list(run_root.glob("*.journal")) == []
    assert [one.name for one in namespace.DIRECTORY.glob(f"*-{names[-1]}.*") if one not in before] == []
