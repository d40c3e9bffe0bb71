# SPDX-License-Identifier: Apache-2.0
"""Sessions that the SMF of labs/upf-n4 sets up by N4, over a socket, in a lab that is deployed."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from weir.base.error import FabricError
from weir.lab import Lab

from .tiny import tiny_lab
from .trials import trials_of

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="starts weir-dp: run as root"),
]

SMF = Path(__file__).parents[2] / "labs" / "upf-n4" / "smf.py"
UES, WITH_SESSION = 20, 10
UPF, OWN = "127.0.0.15", "127.0.0.16"


def lab_of(sessions: int, limit_s: float) -> Lab:
    """Twenty UEs behind a gNB that has tunnels for all of them."""
    lab = tiny_lab("direct").model_dump(by_alias=True)
    options: dict[str, object] = {"sessions": 0, "sessions_max": UES}
    options |= {"n4_address": UPF, "n4_teids": "consecutive"}
    options["error_indications_pps"] = 0  # the gNB would drop them, and nobody offered them
    n4 = {"sessions": sessions, "time_limit_s": limit_s}
    changes = {
        "chain": [["ran", "upf"]],
        "functions": {
            "ran": {"nf": "gnb", "options": {"sessions": UES}},
            "upf": {"nf": "upf", "options": options, "n4": n4},
        },
        "traffic": {
            "frames": [128],
            "left": {"address": "10.45.0.1"},
            "flows": {"count": UES, "vary": ["src_ip", "dst_ip"]},
        },
    }
    return Lab.model_validate(lab | changes)


@contextmanager
def smf() -> Iterator[None]:
    """It runs, and tries until the UPF answers."""
    words = [sys.executable, str(SMF), "--upf", UPF, "--address", OWN, "--sessions", str(WITH_SESSION)]
    with subprocess.Popen(words) as process:
        try:
            yield
        finally:
            process.terminate()
    assert process.returncode == 0


@pytest.mark.usefixtures("run_root")
def test_sessions_by_n4_carry_packets_both_ways_and_others_are_dropped_for_want_of_one() -> None:
    with smf():
        (trial,) = trials_of(lab_of(WITH_SESSION, 60), 1, 4000, 0.3, drain_ms=300)
    dropped = {(one.place, one.reason): one.packets for one in trial.drops if one.packets}
    up, down = sorted(trial.streams, key=lambda stream: stream.direction)
    assert up.direction == "left-to-right"
    assert 0 < up.delivered < up.offered
    assert 0 < down.delivered < down.offered
    assert trial.unaccounted == 0
    assert dropped == {
        ("f2/right/upf", "unknown_teid"): up.offered - up.delivered,
        ("f2/left/upf", "unknown_ue"): down.offered - down.delivered,
    }


@pytest.mark.usefixtures("run_root")
def test_a_lab_whose_sessions_do_not_come_says_so_and_where_it_listens() -> None:
    with pytest.raises(
        FabricError, match=rf"upf: 0 of 10 sessions stand by N4 at {UPF} port 8805 after 0.2 s"
    ):
        trials_of(lab_of(WITH_SESSION, 0.2), 1, 4000, 0.3)
