# SPDX-License-Identifier: Apache-2.0
"""Captured frames through a chain that is really there: what arrives is what the file has, to the byte, with
the addresses that were asked for, and every frame is accounted for."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from scapy.layers.inet import IP, TCP, UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import ARP, Ether
from scapy.packet import Packet, Raw
from scapy.utils import wrpcap

from tests.weir_command import WEIR
from weir.lab import Lab, load_lab
from weir.lab.capture import Capture
from weir.lab.traffic import Traffic
from weir.report.summary import rows
from weir.results.replay import Replay
from weir.results.result import Result

from .sniffing import Sniffing
from .tiny import LAB, tiny_lab
from .trials import standing, trials_of

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="makes namespaces and processes: run as root"),
]

LOAD_PPS, DURATION_S = 500, 0.199  # no frame is due with the end, when a sender may be late
ETHER = Ether(src="02:00:00:00:00:0a", dst="02:00:00:00:00:0b")
FRAMES = [
    ETHER / IP(src="10.1.2.3", dst="192.0.2.9") / UDP(sport=2000, dport=53) / Raw(b"question"),
    ETHER / IP(src="192.0.2.9", dst="10.1.2.3") / UDP(sport=53, dport=2000) / Raw(b"answer" * 20),
    ETHER / IP(src="10.1.2.3", dst="192.0.2.9") / TCP(sport=2001, dport=80, flags="S"),
    ETHER / IPv6(src="2001:db8::1", dst="2001:db8:1::2") / UDP(sport=3000, dport=443) / Raw(bytes(300)),
    ETHER / ARP(psrc="10.1.2.3", pdst="10.1.2.4"),
]


@pytest.fixture
def capture(tmp_path: Path) -> Path:
    for at, frame in enumerate(FRAMES):
        frame.time = 1_700_000_000 + at / 1000
    path = tmp_path / "recorded.pcap"
    wrpcap(str(path), FRAMES)
    return path


def lab_of(technology: str, **capture: object) -> Lab:
    tiny = tiny_lab(technology)
    tester = tiny.tester.model_copy(update={"direction": "left-to-right"})
    traffic = Traffic(capture=Capture.model_validate(capture), pacing="recorded")
    return tiny.model_copy(update={"traffic": traffic, "tester": tester})


@pytest.mark.parametrize("technology", [pytest.param("direct", marks=pytest.mark.long), "linux-bridge"])
def test_every_frame_of_a_capture_is_accounted_for(technology: str, capture: Path) -> None:
    trials = trials_of(lab_of(technology, left=str(capture)), 8, LOAD_PPS, DURATION_S, drain_ms=300)
    assert [trial.unaccounted for trial in trials] == [0] * 8
    valid = [trial for trial in trials if trial.valid]
    assert valid, trials[-1].invalid_because  # others are of a machine that others had meanwhile
    assert all(trial.delivered == trial.offered == trial.intended > 0 for trial in valid)


def test_what_arrives_is_what_the_file_has_with_other_addresses(capture: Path) -> None:
    """Seen by a socket of the bridge's side of the first wire, and taken apart by Scapy."""
    sent = {"file": str(capture), "filter": "ip or ip6", "addresses": {"10.1.0.0/16": "198.18.0.0/16"}}
    lab = lab_of("linux-bridge", left=sent, macs="file")
    seen: list[bytes] = []
    with standing(lab, lambda _trial: None, drain_ms=300) as (deployment, runner):
        assert deployment.topology is not None
        port = deployment.topology.port("tester.right")
        with Sniffing(port.netns or "", port.interface or "", seen):
            runner.run("curve", LOAD_PPS, DURATION_S)
    found = {bytes(Ether(frame).payload) for frame in seen}
    wanted = {bytes(rewritten(frame).payload) for frame in FRAMES[:4]}
    assert found & wanted == wanted


def rewritten(frame: Packet) -> Packet:
    """As Scapy would do it."""
    made = frame.copy()
    if IP in made:
        for side in ("src", "dst"):
            address = getattr(made[IP], side)
            setattr(made[IP], side, address.replace("10.1.", "198.18."))
        del made[IP].chksum
        for layer in (UDP, TCP):
            if layer in made:
                del made[layer].chksum
    return Ether(bytes(made))


@pytest.mark.long
def test_the_command_replays_at_a_factor_and_tells_what_was_lost(capture: Path, tmp_path: Path) -> None:
    text = LAB.read_text().replace("[direct, linux-bridge, ovs, ovs-dpdk]", "direct")
    lab = tmp_path / "lab.yml"
    sent = f"traffic: {{capture: {{left: {capture}, rate: 2x}}}}"
    text = text.replace("traffic: {frames: [64]}", sent).replace("repeats: 1", "repeats: 20")
    lab.write_text(text + "tester: {direction: left-to-right}\n")
    done = subprocess.run(
        [*WEIR, "run", str(lab), "--json", "--store", str(tmp_path / "store.db")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    (case,) = [case for _, case in Result.model_validate_json(done.stdout).cases()]
    record = Replay.model_validate(case.records["replay"])
    assert (record.asked, record.factor) == ("2x", 2)
    assert record.own_pps == pytest.approx(1000, rel=1e-3)
    assert record.own_seconds == pytest.approx(0.004, rel=1e-3)
    assert record.captures[0].frames == len(FRAMES)
    valid = [trial for trial in case.trials if trial.valid]
    assert len(valid) == record.replays >= 1
    for trial in valid:
        assert (trial.intended, trial.offered, trial.delivered) == (len(FRAMES),) * 3
    said = subprocess.run([*WEIR, "validate", str(lab)], capture_output=True, text=True, check=False).stdout
    assert "5 frames of" in said
    assert "1,000.0 a second" in said
    assert "replayed      2x" in said
    capture.write_bytes(b"no capture")
    bad = subprocess.run([*WEIR, "validate", str(lab)], capture_output=True, text=True, check=False)
    assert (bad.returncode, "is no capture" in bad.stderr) == (2, True)


@pytest.mark.long
def test_the_command_measures_a_capture_and_says_what_is_wrong_with_a_file(
    capture: Path, tmp_path: Path
) -> None:
    text = LAB.read_text().replace("[direct, linux-bridge, ovs, ovs-dpdk]", "direct")
    lab = tmp_path / "lab.yml"
    lab.write_text(
        text.replace("traffic: {frames: [64]}", f"traffic: {{capture: {{left: {capture}}}}}")
        + "tester: {direction: left-to-right}\n"
    )
    assert load_lab(lab).traffic.frames == ("capture",)
    done = subprocess.run(
        [*WEIR, "run", str(lab), "--json", "--store", str(tmp_path / "store.db")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    result = Result.model_validate_json(done.stdout)
    found = next(rows(result))
    assert found.case.frame == "capture"
    assert found.case.mean_frame_bytes == pytest.approx(sum(len(one) + 4 for one in FRAMES) / len(FRAMES))
    soak = subprocess.run(
        [*WEIR, "soak", str(lab), "--rate", "5kpps"], capture_output=True, text=True, check=False
    )
    assert (soak.returncode, "no stamp" in soak.stderr) == (1, True), soak.stderr
    capture.write_bytes(b"no capture")
    done = subprocess.run(
        [*WEIR, "run", str(lab), "--store", str(tmp_path / "store.db")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode != 0
    assert "is no capture" in done.stderr + done.stdout
    assert "Traceback" not in done.stderr
