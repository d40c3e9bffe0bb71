# SPDX-License-Identifier: Apache-2.0
"""Mixes and jumbo frames, through real switches: each size in its share, to the packet."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from weir.fabric import Deployment
from weir.lab.frames import frame_sizes_bytes
from weir.plan import SOCKET
from weir.protocol import DataPlaneClient
from weir.results.trial import Trial

from .tiny import TECHNOLOGIES, tiny_lab
from .trials import standing

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="makes namespaces and processes: run as root"),
]

FCS_BYTES = 4
SMALL_BYTES, JUMBO_BYTES = 64, 9216
MIX = f"imix:aaA:A={JUMBO_BYTES}"
PPS, DURATION_S = 3000, 0.1
LOOKS_EVERY_S = 0.1
TRIALS_MAX = 10


def _arrived(chain: Deployment) -> tuple[int, int]:
    """Packets at the tester's right end, and their bytes without FCS."""
    with DataPlaneClient(Path(chain.run_dir) / SOCKET) as client:
        port = next(one for one in client.ledger().ports if one.name == "tester.right")
    return port.rx_packets, port.rx_bytes


def _quiet(chain: Deployment) -> tuple[int, int]:
    """The same when the ports' announcements have come through."""
    now, then = _arrived(chain), None
    while now != then:
        time.sleep(LOOKS_EVERY_S)
        now, then = _arrived(chain), now
    return now


@pytest.mark.parametrize(
    ("technology", "port"),
    [
        *((technology, "") for technology in TECHNOLOGIES[:-1]),
        pytest.param("ovs-dpdk", "", marks=pytest.mark.long),
        ("linux-bridge", "af_packet"),
        ("ovs", "af_packet"),
    ],
)
@pytest.mark.usefixtures("run_root")
def test_a_mix_with_the_largest_frames_arrives_in_its_shares(technology: str, port: str) -> None:
    lab = tiny_lab(technology)
    if port:
        options = lab.options(technology).model_copy(update={"port": port})
        lab = lab.model_copy(update={"technologies": lab.with_options(technology, options)})
    traffic = lab.traffic.model_copy(update={"frames": (MIX,)})
    tester = lab.tester.model_copy(update={"direction": "left-to-right"})
    trials: list[Trial] = []
    with standing(lab.model_copy(update={"traffic": traffic, "tester": tester}), trials.append) as (
        chain,
        runner,
    ):
        for _ in range(TRIALS_MAX):  # a first packet of a flow may be lost in a switch that is busy
            before = _quiet(chain)
            trial = runner.run("burst", PPS, DURATION_S).trial  # not divided: no packet is skipped
            packets, in_bytes = (now - then for now, then in zip(_arrived(chain), before, strict=True))
            if trial.delivered == trial.offered:
                break
    assert trial.delivered == trial.offered == packets > 0, trial
    # Two sizes: packets and bytes leave but one number of each. One in three is large, in turn.
    jumbo = (in_bytes + packets * (FCS_BYTES - SMALL_BYTES)) / (JUMBO_BYTES - SMALL_BYTES)
    assert jumbo in (packets // len(frame_sizes_bytes(MIX)), -(-packets // len(frame_sizes_bytes(MIX))))
