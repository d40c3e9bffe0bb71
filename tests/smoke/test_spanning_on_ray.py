# SPDX-License-Identifier: Apache-2.0
"""Chains that span hosts of a Ray cluster: reserved together, measured over VXLAN, and again where a host was
killed."""

from __future__ import annotations

import os
import platform
import signal
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.ray_cluster import ADDRESS, NETWORK, RayCluster
from weir.base.error import ENVIRONMENT, FAILED, OK
from weir.fabric.offer import offer
from weir.results.host_offer import HostOffer
from weir.results.rounds import rounds_measured

from .test_on_hosts import SOON_S, WEIR, runs, soon, until
from .test_spanning import LAB, TWO, accounted, trials

pytest.importorskip("ray")
pytestmark = [
    pytest.mark.root,
    pytest.mark.slow,
    pytest.mark.skipif(os.geteuid() != 0, reason="makes namespaces and processes: run as root"),
]


@contextmanager
def cluster_of(folder: Path, offers: Sequence[HostOffer | None]) -> Iterator[RayCluster]:
    made = RayCluster(folder, offers)
    try:
        yield made
    finally:
        made.close()


def lab(folder: Path, points: int = 2, hosts: str = TWO) -> Path:
    path = folder / "lab.yml"
    parts = {"technology": "direct", "chain": "a", "frames": "[64]", "points": points, "duration_s": 0.05}
    path.write_text(LAB.format(hosts=hosts, **parts))
    return path


def begun(cluster: RayCluster, path: Path, store: Path, *more: str) -> subprocess.Popen[str]:
    place = ("--store", str(store), "--output", str(store.with_suffix("")), "--on", ADDRESS)
    return cluster.run(1, *WEIR, "run", str(path), *place, *more)


def journals(cluster: RayCluster, *numbers: int) -> list[Path]:
    return [path for number in numbers for path in cluster.run_dir(number).glob("*.journal")]


def test_two_campaigns_that_need_both_hosts_take_turns_and_account_for_every_packet(tmp_path: Path) -> None:
    here = offer()
    other = TWO.replace("edge", "left").replace("core", "right")
    swapped = other.replace("}}", "}, machines: {left: %s.3}}") % NETWORK
    with cluster_of(tmp_path, [None, here, here]) as cluster:
        stores = [tmp_path / "one.db", tmp_path / "other.db"]
        (tmp_path / "swapped").mkdir()
        paths = [lab(tmp_path), lab(tmp_path / "swapped", hosts=swapped)]
        processes = [begun(cluster, path, store) for path, store in zip(paths, stores, strict=True)]
        said = [process.communicate(timeout=SOON_S)[0] for process in processes]
        assert not journals(cluster, 2, 3)
    for process, store, words in zip(processes, stores, said, strict=True):
        assert process.returncode in (OK, FAILED), words  # FAILED: a disturbed machine, no believable rate
        found = runs(store)
        assert rounds_measured(found) == {("direct", "a", "64"): 1}, words
        accounted(trials(found))
    assert any("waits for 2 hosts at once" in words for words in said), said
    assert f"left is {NETWORK}.3, right is {NETWORK}.2" in said[1]


def test_a_host_that_is_killed_voids_its_trial_and_the_point_is_measured_on_another_one(
    tmp_path: Path,
) -> None:
    here, store = offer(), tmp_path / "results.db"
    with cluster_of(tmp_path, [None, here, here, here]) as cluster:
        process = begun(cluster, lab(tmp_path, points=40), store)
        until(lambda: trials_stored(store) >= 5, process)
        found = runs(store)
        assert not rounds_measured(found).total()
        assert found[0].campaign is not None
        assert found[0].campaign.shared is not None
        first = found[0].campaign.shared.host
        (tester, killed) = (int(one.rpartition(".")[2]) for one in first.split("+"))
        cluster.kill(killed)
        said, _ = process.communicate(timeout=2 * SOON_S)
        assert process.returncode in (OK, FAILED), said
        assert f"core ({NETWORK}.{killed}): is lost: " in said
        soon(lambda: not journals(cluster, tester))
        left = {2, 3, 4} - {killed}
        assert not journals(cluster, *left)
    found = runs(store)
    assert rounds_measured(found) == {("direct", "a", "64"): 1}, said
    (again,) = (one for one in found if rounds_measured([one]).total())
    assert again.campaign is not None
    assert again.campaign.shared is not None
    assert f"{NETWORK}.{killed}" not in again.campaign.shared.host.split("+")
    assert not again.interrupted
    accounted(trials([again]))


def test_a_killed_weir_run_leaves_nothing_on_any_host_and_is_gone_on_with(tmp_path: Path) -> None:
    here, store = offer(), tmp_path / "results.db"
    with cluster_of(tmp_path, [None, here, here]) as cluster:
        process = begun(cluster, lab(tmp_path, points=20), store)
        until(lambda: trials_stored(store) >= 3, process)
        assert journals(cluster, 2)
        assert journals(cluster, 3)
        cluster.tell(process, signal.SIGKILL)
        process.communicate()
        soon(lambda: not journals(cluster, 2, 3))
        (killed,) = runs(store)
        assert not rounds_measured([killed]).total()
        more = ("--store", str(store), "--output", str(tmp_path / "report"), "--on", ADDRESS)
        process = cluster.run(1, *WEIR, "run", "--resume", killed.id, *more)
        said, _ = process.communicate(timeout=SOON_S)
        assert process.returncode in (OK, FAILED), said
    found = runs(store)
    assert rounds_measured(found) == {("direct", "a", "64"): 1}, said
    accounted(trials([one for one in found if rounds_measured([one]).total()]))


def trials_stored(store: Path) -> int:
    cases = [case for result in runs(store) for _, case in result.cases()]
    return sum(len(case.trials) + len(case.curve) for case in cases)


def test_a_cluster_without_enough_hosts_is_refused_at_once_with_what_is_lacking(tmp_path: Path) -> None:
    named = TWO.replace("}}", "}, machines: {core: nfv9}}")
    with cluster_of(tmp_path, [None, offer()]) as cluster:
        for hosts, words in ((TWO, "the chains span 2 hosts, and"), (named, "among them nfv9, and")):
            process = begun(cluster, lab(tmp_path, hosts=hosts), tmp_path / "results.db")
            said, _ = process.communicate(timeout=SOON_S)
            assert process.returncode == ENVIRONMENT, said
            assert words in said
            assert f"these offer themselves to Weir: {platform.node()}" in " ".join(said.split())
