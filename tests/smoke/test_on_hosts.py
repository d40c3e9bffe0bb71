# SPDX-License-Identifier: Apache-2.0
"""A lab measured on the hosts of a Ray cluster: real packets, one store, and hosts that die."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from weir.base.error import FAILED, INTERRUPTED, OK
from weir.fabric.offer import offer
from weir.procedures.resuming import measured
from weir.results.result import Result
from weir.store.database import StoreError
from weir.store.store import Store

from .ray_cluster import RayCluster
from .tiny import LAB

pytest.importorskip("ray")
pytestmark = [
    pytest.mark.root,
    pytest.mark.slow,
    pytest.mark.skipif(os.geteuid() != 0, reason="makes namespaces and processes: run as root"),
]
SOON_S = 180.0
WEIR = ("-c", "from weir.cli.main import main; main()")


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[RayCluster]:
    made = RayCluster(tmp_path, [offer(), offer()])
    try:
        yield made
    finally:
        made.close()
        for path in Path("/tmp").glob(f"weir-ray-{made._mark}-*"):
            shutil.rmtree(path)


@pytest.fixture
def lab(tmp_path: Path) -> Path:
    text = LAB.read_text().replace("[direct, linux-bridge, ovs, ovs-dpdk]", "[direct, linux-bridge]")
    path = tmp_path / "lab.yml"
    path.write_text(text.replace("repeats: 1", "repeats: 1\n  revisit_s: 0"))
    return path


def runs(store: Path) -> list[Result]:
    try:
        with Store(str(store), reading=True) as database:
            newest = database.latest()
            if newest is None or newest.campaign is None or newest.campaign.shared is None:
                return []
            return [database.load(one) for one in database.runs_of_campaign(newest.campaign.shared.id)]
    except StoreError:
        return []


def points(store: Path) -> int:
    return sum(sum(measured(one).values()) for one in runs(store))


def until(happened: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + SOON_S
    while not happened():
        if process.poll() is not None:  # all that it said: an assertion would cut it off
            pytest.fail(process.communicate()[0])
        assert time.monotonic() < deadline
        time.sleep(0.2)


def test_a_killed_host_loses_no_point_and_a_killed_head_goes_on(
    cluster: RayCluster, lab: Path, tmp_path: Path
) -> None:
    store = tmp_path / "results.db"
    place = ("--store", str(store), "--output", str(tmp_path / "report"), "--on", cluster.address)
    process = cluster.run(*WEIR, "run", str(lab), "--repeat", "3", *place)
    until(lambda: points(store) >= 1, process)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    killed = runs(store)
    assert 1 <= sum(sum(measured(one).values()) for one in killed) < 6
    process = cluster.run(*WEIR, "run", "--resume", killed[0].id, *place)
    until(lambda: points(store) >= 3, process)
    cluster.kill(2)
    said, _ = process.communicate(timeout=SOON_S)
    assert process.returncode in (OK, FAILED), said  # FAILED: a disturbed machine, no believable rate
    assert "10.213.7.2: given up: " in said
    found = runs(store)
    counts: Counter[tuple[str, str, str]] = Counter()
    for one in found:
        counts.update(measured(one))
    assert counts == {("direct", "PVP", "64"): 3, ("linux-bridge", "PVP", "64"): 3}, said
    assert all(one.fingerprint.cores for one in found)
    assert not list(cluster.run_dir(1).glob("*.journal"))


def test_a_stopped_campaign_leaves_nothing_on_its_hosts_and_keeps_what_it_has(
    cluster: RayCluster, lab: Path, tmp_path: Path
) -> None:
    store = tmp_path / "results.db"
    place = ("--store", str(store), "--output", str(tmp_path / "report"), "--on", cluster.address)
    process = cluster.run(*WEIR, "run", str(lab), "--repeat", "20", *place)
    until(lambda: points(store) >= 1, process)
    process.send_signal(signal.SIGTERM)
    said, _ = process.communicate(timeout=SOON_S)
    assert process.returncode == INTERRUPTED, said
    assert "go on: weir run --resume" in said
    assert points(store) >= 1
    for number in (1, 2):
        assert not list(cluster.run_dir(number).glob("*.journal"))
        assert not [one for one in cluster.run_dir(number).iterdir() if one.is_dir()]
