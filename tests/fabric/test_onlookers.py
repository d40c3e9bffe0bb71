# SPDX-License-Identifier: Apache-2.0
"""A bench sees which share of a run others had of its cores, and does not count its own programs."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from types import SimpleNamespace
from typing import cast

import pytest

from bench.on_a_wire import FULL_S, full_load
from bench.undisturbed import OTHERS_SHARE_MAX, Onlookers, onlookers, threads_of_this_bench
from weir.base.si import NS_PER_S, US_PER_S
from weir.fabric.outside import TakenWatch
from weir.protocol import DataPlaneClient
from weir.protocol.traffic import TrafficConfigure
from weir.protocol.traffic_results import Slices, StreamResult, StreamSlices, TrafficResult

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="looks at a whole core: run as root")
CORE = max(os.sched_getaffinity(0))
BUSY = (
    "import os, sys, time\n"
    f"os.sched_setaffinity(0, {{{CORE}}})\n"
    "end = time.monotonic() + float(sys.argv[1])\n"
    "while time.monotonic() < end: pass"
)
BEGUN_S = 0.2
PACKETS, REFUSED = 3000, 1000


@pytest.fixture
def others() -> Iterator[Onlookers]:
    with onlookers(CORE) as made:
        made.begin()
        if made.refused is not None:
            pytest.skip(f"this kernel does not tell who has a core: {made.refused}")
        yield made


def run_of(seconds: float) -> TrafficResult:
    """A run that ends now, in slices of a millisecond."""
    now_ns, count = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW), round(seconds * 1000)
    zeros = (0,) * count
    stream = StreamSlices(id=0, due=zeros, offered=zeros, delivered=zeros, delay_ns=zeros, late_ns=zeros)
    slices = Slices(
        width_ns=1_000_000,
        start_raw_ns=now_ns - round(seconds * NS_PER_S),
        now_raw_ns=now_ns,
        now_us=seconds * US_PER_S,
        streams=(stream,),
        cores=(),
    )
    counts = StreamResult(id=0, intended=0, offered=PACKETS, tx_refused=REFUSED, delivered=PACKETS - REFUSED)
    return TrafficResult(run=1, tx_duration_ns=seconds * NS_PER_S, streams=(counts,), slices=slices)


class RunningClient:
    """A data plane whose runs take their time, and carry a fixed number of packets."""

    def configure_traffic(self, config: TrafficConfigure) -> None:
        del config

    def start_traffic(self, *_: object, **__: object) -> int:
        self._began = time.monotonic()
        return 1

    def wait(self, seconds: float) -> bool:
        time.sleep(seconds)
        return False

    def traffic_result(self, _: int) -> TrafficResult:
        return run_of(time.monotonic() - self._began)


def at_full_load(others: Onlookers) -> tuple[float, float, float]:
    client = cast(DataPlaneClient, RunningClient())
    config = cast(TrafficConfigure, SimpleNamespace(streams=()))
    full, share = full_load(client, config, others)
    return full.pps, full.refused_share, share


def test_a_strangers_program_makes_a_run_at_full_load_a_disturbed_one(others: Onlookers) -> None:
    """It is started apart: not a child of this program, as a bench's own are."""
    seconds = BEGUN_S + 3 * FULL_S
    subprocess.run(["setsid", "--fork", sys.executable, "-c", BUSY, str(seconds)], check=True)
    time.sleep(BEGUN_S)
    pps, refused_share, share = at_full_load(others)
    assert 0 < pps <= (PACKETS - REFUSED) / FULL_S
    assert refused_share == pytest.approx(REFUSED / PACKETS)
    assert OTHERS_SHARE_MAX < share <= 1.1  # stolen time is told in ticks


def test_a_program_of_the_bench_is_no_stranger() -> None:
    """Nor what it starts itself."""
    watch = TakenWatch([CORE], threads_of_this_bench, threads_of_this_bench)
    watch.begin()
    if watch.refused is not None:
        pytest.skip(f"this kernel does not tell who has a core: {watch.refused}")
    shell = subprocess.Popen(
        ["sh", "-c", '"$1" -c "$2" 60 & echo $!; wait', "sh", sys.executable, BUSY],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert shell.stdout is not None
    child = int(shell.stdout.readline())
    try:
        time.sleep(BEGUN_S)
        known = threads_of_this_bench()
        strangers = [one.by for one in watch.end()]
    finally:
        os.kill(child, signal.SIGKILL)
        shell.communicate()
        watch.close()
    assert {shell.pid, child} <= known
    assert not [by for by in strangers if by.endswith((f"({shell.pid})", f"({child})"))]
