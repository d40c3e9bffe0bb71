# SPDX-License-Identifier: Apache-2.0
"""A lab measured on the hosts of a Ray cluster: real packets, one store, hosts and heads that are killed."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.ray_cluster import ADDRESS, CLIENT_ADDRESS, RayCluster
from tests.waiting_hosts.campaign import FRAMES, loads
from tests.waiting_hosts.program import setups
from weir.base.error import FAILED, INTERRUPTED, OK
from weir.fabric.offer import offer
from weir.results.host_offer import HostOffer
from weir.results.result import Result
from weir.results.rounds import rounds_measured
from weir.store.connection import StoreError
from weir.store.store import Store

from .tiny import LAB

pytest.importorskip("ray")
pytestmark = [
    pytest.mark.root,
    pytest.mark.slow,
    pytest.mark.skipif(os.geteuid() != 0, reason="makes namespaces and processes: run as root"),
]
SOON_S = 180.0
CLIENT_TRIES = 5
"""Ray forks a server for each client beside running threads, and now and then that one dies (ray 63202)."""
WEIR = ("-c", "from weir.cli.main import main; main()")


@contextmanager
def cluster_of(folder: Path, offers: Sequence[HostOffer | None]) -> Iterator[RayCluster]:
    made = RayCluster(folder, offers)
    try:
        yield made
    finally:
        made.close()


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[RayCluster]:
    with cluster_of(tmp_path, [offer(), offer()]) as made:
        yield made


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
            return database.runs_of_campaign(newest.campaign.shared.id)
    except StoreError:
        return []


def points(store: Path) -> int:
    return rounds_measured(runs(store)).total()


def journals(cluster: RayCluster) -> list[Path]:
    """Of what stands on the hosts."""
    return [path for number in (1, 2) for path in cluster.run_dir(number).glob("*.journal")]


def soon(happened: Callable[[], bool]) -> None:
    deadline = time.monotonic() + SOON_S
    while not happened():
        assert time.monotonic() < deadline
        time.sleep(0.2)


def until(happened: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + SOON_S
    while not happened():
        if process.poll() is not None:  # all that it said: an assertion would cut it off
            pytest.fail(process.communicate()[0])
        assert time.monotonic() < deadline
        time.sleep(0.2)


def test_a_killed_host_loses_no_point_and_a_killed_weir_run_goes_on_at_once(
    cluster: RayCluster, lab: Path, tmp_path: Path
) -> None:
    store = tmp_path / "results.db"
    place = ("--store", str(store), "--output", str(tmp_path / "report"), "--on", ADDRESS)
    process = cluster.run(1, *WEIR, "run", str(lab), "--repeat", "3", *place)
    until(lambda: points(store) >= 1, process)
    cluster.tell(process, signal.SIGKILL)
    process.communicate()
    killed = runs(store)
    assert 1 <= rounds_measured(killed).total() < 6
    soon(lambda: not journals(cluster))
    process = cluster.run(1, *WEIR, "run", "--resume", killed[0].id, *place)
    until(lambda: points(store) >= 3, process)
    cluster.kill(2)
    said, _ = process.communicate(timeout=SOON_S)
    assert "10.213.7.2: given up: is lost: " in said
    found = runs(store)
    # What is looked at is that nothing is lost. Rates there may be none, on a machine that is disturbed: that
    # is the only other end, and it has to be true.
    rated = [one.status == "found" for run in found for _, case in run.cases() for one in case.throughput]
    if process.returncode != OK:
        assert process.returncode == FAILED, said
        assert "no case has a rate" in said
        assert not all(rated), said
    else:
        assert any(rated), said
    assert rounds_measured(found) == {("direct", "PVP", "64"): 3, ("linux-bridge", "PVP", "64"): 3}, said
    assert all(one.fingerprint.cores for one in found)
    assert not list(cluster.run_dir(1).glob("*.journal"))


def test_a_stopped_campaign_leaves_nothing_on_its_hosts_and_keeps_what_it_has(
    cluster: RayCluster, lab: Path, tmp_path: Path
) -> None:
    store = tmp_path / "results.db"
    place = ("--store", str(store), "--output", str(tmp_path / "report"), "--on", ADDRESS)
    process = cluster.run(1, *WEIR, "run", str(lab), "--repeat", "20", *place)
    until(lambda: points(store) >= 1, process)
    cluster.tell(process, signal.SIGTERM)
    said, _ = process.communicate(timeout=SOON_S)
    assert process.returncode == INTERRUPTED, said
    assert "go on: weir run --resume" in said
    assert points(store) >= 1
    assert not journals(cluster)
    for number in (1, 2):
        assert not [one for one in cluster.run_dir(number).iterdir() if one.is_dir()]


def test_a_thousand_points_survive_a_killed_head_node_and_none_is_lost_or_doubled(tmp_path: Path) -> None:
    """The head has Ray's directory of the cluster. First it is killed together with the campaign and its
    store's writer, then alone: the campaign is on a host that measures, and ends itself."""
    here, store = offer(), tmp_path / "results.db"
    wanted = {(*setup, str(64 + number)): 5 for setup in setups(10) for number in range(FRAMES)}
    words = ("--store", str(store), "--setups", "10", "--rounds", "5", "--wait")
    campaign = ("-m", "tests.waiting_hosts.campaign", "--on", ADDRESS, *words, "0.05")
    slow = (*campaign[:-1], "0.3")  # what is left takes longer than a head may be gone
    with cluster_of(tmp_path, [None, here, here]) as cluster:
        process = cluster.run(1, *campaign)
        until(lambda: points(store) >= 200, process)
        cluster.kill(1)
        process.communicate()
        first = points(store)
        cluster.restart()
        process = cluster.run(2, *slow)
        until(lambda: points(store) >= first + 100, process)
        cluster.kill(1)
        said, _ = process.communicate(timeout=SOON_S)
        assert "is lost: the head of the cluster, 10.213.7.1:6379, is gone" in said
        assert first < points(store) < 1000
        cluster.restart()
        process = cluster.run(2, *campaign)
        said, _ = process.communicate(timeout=SOON_S)
        assert process.returncode == 0, said
    assert rounds_measured(runs(store)) == wanted, said
    assert len(loads(runs(store))) == len(set(loads(runs(store)))) == 1000


def test_a_campaign_over_rays_client_server_measures_all_and_a_server_that_dies_at_once_is_told(
    cluster: RayCluster, tmp_path: Path
) -> None:
    store = tmp_path / "results.db"
    wanted = {(*setup, str(64 + number)): 1 for setup in setups(2) for number in range(FRAMES)}
    words = ("--store", str(store), "--setups", "2", "--rounds", "1", "--wait", "0.05")
    for _ in range(CLIENT_TRIES):
        process = cluster.run(1, "-m", "tests.waiting_hosts.campaign", "--on", CLIENT_ADDRESS, *words)
        said, _ = process.communicate(timeout=SOON_S)
        if process.returncode == 0:
            break
        assert f"cannot reach a Ray cluster at {CLIENT_ADDRESS}: " in said
        assert not runs(store)
    assert rounds_measured(runs(store)) == wanted, said
    assert {run.campaign.shared.host for run in runs(store) if run.campaign and run.campaign.shared} == {
        "10.213.7.1",
        "10.213.7.2",
    }
