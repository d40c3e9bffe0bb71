# SPDX-License-Identifier: Apache-2.0
"""ray-cost: what a node of Ray costs a trial that is measured on its host while a campaign lasts.

The trial is weir-dp's generator on one CPU. On the other side it is the same, while all processes of the node
are stopped by a signal; both take turns. Two lines: `ray-cost-shared` with the node on all CPUs, that one
among them; `ray-cost-beside` with the node on CPU 0 alone, as by `taskset -c 0 ray start`. The campaign is
at a point that waits. Ray's head and the campaign's are on CPU 0 all the time, as if on another host.

- `ray_cpu_share`: CPU time that the node's processes take a second, as a share of one core.
"""

from __future__ import annotations

import os
import signal
import tempfile
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from bench.campaign_hosts import require_ray
from bench.data_plane import generator, offered_pps, stream, weir_dp
from bench.pairs import Line, SkipError, interleave, line
from tests.ray_cluster import ADDRESS, RayCluster
from weir.fabric.offer import offer

CORE, OTHER = 1, "0"
SECONDS = 0.5
PAIRS = 30
TARGET = 0.99
CPU_S = 10.0
_SETTLE_S, _READY_S = 15.0, 60.0


def run() -> list[Line]:
    """Ratios of packets a second."""
    require_ray()
    if len(os.sched_getaffinity(0)) < 2:
        raise SkipError("needs two cores")
    return [
        replace(_line("ray-cost-shared", {1: OTHER}), target=None),
        _line("ray-cost-beside", {1: OTHER, 2: OTHER}),
    ]


def _line(name: str, cpus: dict[int, str]) -> Line:
    with tempfile.TemporaryDirectory(prefix="weir-ray-cost-") as folder:
        cluster = RayCluster(Path(folder), [None, offer()], cpus)
        try:
            words = ("--setups", "1", "--rounds", "1", "--wait", "3600", "--store", f"{folder}/results.db")
            campaign = cluster.run(1, "-m", "tests.waiting_hosts.campaign", "--on", ADDRESS, *words)
            _begun(Path(folder) / "results.db")
            time.sleep(_SETTLE_S)  # workers that Ray has started in advance are there
            share = _cpu_share(cluster)
            with weir_dp(CORE) as client:
                generator(client, CORE, flows=1)
                client.configure_traffic(stream("out", frame_bytes=64, flows=1))

                def stopped() -> float:
                    _tell(cluster.processes(2), signal.SIGSTOP)
                    try:
                        return offered_pps(client, SECONDS)
                    finally:
                        _tell(cluster.processes(2), signal.SIGCONT)

                taken = interleave(lambda: offered_pps(client, SECONDS), stopped, PAIRS)
            cluster.tell(campaign, signal.SIGKILL)
            campaign.communicate()
        finally:
            cluster.close()
    found = line(name, taken, target=TARGET, unit="pps")
    return replace(found, detail={**found.detail, "ray_cpu_share": share})


def _begun(store: Path) -> None:
    """Waits until the campaign is at its point: its host says so by a run."""
    from tests.waiting_hosts.campaign import stored
    from weir.store.connection import StoreError
    from weir.store.store import Store

    until_s = time.monotonic() + _READY_S
    while time.monotonic() < until_s:
        with suppress(StoreError), Store(str(store), reading=True) as database:
            if stored(database):
                return
        time.sleep(1)
    raise SkipError(f"the campaign has not begun within {_READY_S:.0f} s")


def _cpu_share(cluster: RayCluster) -> float:
    before, began_s = _cpu_s(cluster.processes(2)), time.monotonic()
    time.sleep(CPU_S)
    after, took_s = _cpu_s(cluster.processes(2)), time.monotonic() - began_s
    return (after - before) / took_s


def _cpu_s(processes: Iterable[int]) -> float:
    """User and system time of those that are there, /proc/PID/stat fields 14 and 15."""
    ticks = 0
    for pid in processes:
        with suppress(OSError):
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def _tell(processes: Iterable[int], what: signal.Signals) -> None:
    for pid in processes:
        with suppress(ProcessLookupError):
            os.kill(pid, what)
