# SPDX-License-Identifier: Apache-2.0
"""Captures that weir-dp sends: asked of a running one, over an in-memory wire."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from scapy.layers.inet import ICMP, IP, TCP, UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import ARP, Ether
from scapy.packet import Packet
from scapy.utils import PcapNgWriter, wrpcap

from weir.fabric.built import built
from weir.protocol import DataPlaneClient
from weir.protocol.traffic import TrafficConfigure

from .wire import refused, result, started, stream

ETHER = Ether(src="02:00:00:00:00:0a", dst="02:00:00:00:00:0b")


def udp(payload: bytes) -> Packet:
    return ETHER / IP(src="198.18.0.9", dst="198.19.0.9") / UDP(sport=2000, dport=53) / payload


def tcp6(payload: bytes) -> Packet:
    addresses = IPv6(src="2001:2:0:1::9", dst="2001:2:0:2::9")
    return ETHER / addresses / TCP(sport=2000, dport=80, flags="PA") / payload


STAMPABLE = [udp(b"q" * 18), tcp6(bytes(range(200))), udp(b"a" * 900)]
MIXED = [ETHER / ARP(), *STAMPABLE, ETHER / IP(dst="198.19.0.9") / ICMP() / b"ping"]
AT_S = [0.0, 0.001, 0.004, 0.0045, 0.007]


def written(path: Path, frames: list[Packet]) -> str:
    for frame, at_s in zip(frames, AT_S, strict=False):
        frame.time = 1_700_000_000 + at_s
    wrpcap(str(path), frames)
    return str(path)


@pytest.fixture
def stampable(tmp_path: Path) -> str:
    return written(tmp_path / "stampable.pcap", STAMPABLE)


@pytest.fixture
def mixed(tmp_path: Path) -> str:
    return written(tmp_path / "mixed.pcap", MIXED)


def test_every_stamped_frame_is_counted_with_its_delay_and_sampled_frames_are_as_sent(
    client: DataPlaneClient, stampable: str
) -> None:
    started(client, capture={"path": stampable, "stamp": True})
    client.start_traffic({0: 20_000}, 5 * 10**7, 10**9)
    counts = result(client).streams[0]
    assert counts.intended == 1000
    assert counts.delivered == counts.offered - counts.tx_refused
    assert counts.latency.count == counts.delivered
    assert 1 <= counts.frame_sample.sampled <= counts.delivered // 10  # one of 67, drawn
    assert counts.frame_sample.changed == 0


def test_frames_without_a_stamp_are_counted_and_nothing_else(client: DataPlaneClient, mixed: str) -> None:
    started(client, capture={"path": mixed})
    client.start_traffic({0: 20_000}, 5 * 10**7, 10**9)
    found = result(client)
    counts = found.streams[0]
    assert counts.intended == 1000
    assert counts.delivered == counts.offered - counts.tx_refused
    assert counts.gaps is None
    assert (counts.latency.count, counts.frame_sample.sampled) == (0, 0)
    assert (found.receivers[0].foreign, found.receivers[0].malformed) == (0, 0)


def test_a_pcapng_file_is_read_too(client: DataPlaneClient, tmp_path: Path) -> None:
    path = str(tmp_path / "frames.pcapng")
    with PcapNgWriter(path) as writer:
        for frame in STAMPABLE:
            writer.write(frame)
    started(client, capture={"path": path, "stamp": True})
    client.start_traffic({0: 20_000}, 10**7, 10**9)
    counts = result(client).streams[0]
    assert counts.delivered == counts.offered - counts.tx_refused > 0


def test_recorded_gaps_give_the_rate_of_the_run_in_the_mean(client: DataPlaneClient, mixed: str) -> None:
    started(client, capture={"path": mixed}, pacing="recorded")
    client.start_traffic({0: 20_000}, 5 * 10**7, 10**9)
    counts = result(client).streams[0]
    # The first frame is due at once, and one more with the end.
    assert 999 <= counts.intended <= 1002
    assert counts.delivered == counts.offered - counts.tx_refused


def test_each_stream_ends_after_the_packets_asked_for(client: DataPlaneClient, mixed: str) -> None:
    """Two times round."""
    started(client, capture={"path": mixed}, pacing="recorded")
    arguments = {"duration_ns": 10**10, "rates_pps": {"0": 20_000}, "packets": 2 * len(MIXED)}
    client.call("traffic.start", arguments)
    assert result(client).streams[0].delivered == 2 * len(MIXED)


@pytest.mark.parametrize(
    ("changes", "where", "said"),
    [
        ({"capture": {"path": "/nowhere.pcap"}}, "capture.path", "No such file"),
        ({"capture": {"path": ""}}, "capture.path", "empty"),
        ({"capture": {"path": "/dev/null"}}, "capture.path", "is no capture"),
        ({"capture": {}}, "capture.path", ""),
        ({"pacing": "recorded"}, "pacing", "only a capture"),
    ],
)
def test_a_refused_capture_says_what_is_wrong(
    client: DataPlaneClient, changes: dict[str, Any], where: str, said: str
) -> None:
    error = refused(client, "traffic.configure", {"streams": [stream(**changes)]})
    assert error.where == f"streams[0].{where}"
    assert said in str(error)


def test_a_frame_without_room_for_a_stamp_is_named(client: DataPlaneClient, mixed: str) -> None:
    asked = {"streams": [stream(capture={"path": mixed, "stamp": True})]}
    assert "frame 1 of" in str(refused(client, "traffic.configure", asked))


def test_a_frame_longer_than_the_ports_carry_is_named(client: DataPlaneClient, tmp_path: Path) -> None:
    path = written(tmp_path / "long.pcap", [udp(b"q" * 900), udp(b"q" * 1558)])
    error = str(refused(client, "traffic.configure", {"streams": [stream(capture={"path": path})]}))
    assert "frame 2 of" in error
    assert "has 1600 bytes, of 1518 at most without FCS" in error
    read = subprocess.run(
        [built("weir-dp"), "--capture", path, "--filter", ""], capture_output=True, text=True, check=False
    )
    assert "frame 2 of" in read.stderr
    started(client, capture={"path": path, "filter": "less 1514"})
    client.start_traffic({0: 20_000}, 10**7, 10**9)
    assert result(client).streams[0].delivered > 0


@pytest.mark.parametrize(
    ("asked", "where"),
    [({"slice_ns": 10**6}, "slice_ns"), ({"delay": {"variation": True}}, "delay.variation")],
)
def test_what_needs_stamps_is_refused_without_them(
    client: DataPlaneClient, mixed: str, asked: dict[str, Any], where: str
) -> None:
    started(client, capture={"path": mixed})
    error = refused(client, "traffic.start", {"duration_ns": 10**7, "rates_pps": {"0": 1000}, **asked})
    assert error.where == where
    assert "no stamp" in str(error)


def test_a_port_expects_one_capture_without_stamps(client: DataPlaneClient, mixed: str) -> None:
    both = [stream(id=number, capture={"path": mixed}) for number in (0, 1)]
    assert "two captures" in str(refused(client, "traffic.configure", {"streams": both}))


def test_only_frames_that_pass_the_filter_are_sent_with_the_time_between_them(
    client: DataPlaneClient, mixed: str
) -> None:
    asked = {"streams": [stream(capture={"path": mixed, "filter": "udp"}, pacing="recorded")]}
    facts = client.configure_traffic(TrafficConfigure.model_validate(asked)).captures["0"]
    sizes = [len(frame) + 4 for frame in (STAMPABLE[0], STAMPABLE[2])]
    assert (facts.frames, facts.frame_bytes_most) == (2, max(sizes))
    assert facts.mean_frame_bytes == sum(sizes) / 2
    assert facts.recorded_pps == pytest.approx(1 / (AT_S[3] - AT_S[1]), rel=1e-3)


def test_a_file_sent_once_ends_with_its_last_frame_however_long_the_run(
    client: DataPlaneClient, mixed: str
) -> None:
    """What the filter left out before the first counts as time: streams of one file stay in step."""
    capture = {"path": mixed, "filter": "udp", "once": True}
    asked = {"streams": [stream(capture=capture, pacing="recorded")]}
    facts = client.configure_traffic(TrafficConfigure.model_validate(asked)).captures["0"]
    assert facts.lead_ns == pytest.approx(AT_S[1] * 1e9, rel=1e-3)
    assert facts.span_ns == pytest.approx((AT_S[3] - AT_S[1]) * 1e9, rel=1e-3)
    client.start()
    client.start_traffic({0: facts.recorded_pps}, 10**8, 10**9)
    counts = result(client).streams[0]
    assert (counts.intended, counts.offered, counts.delivered) == (2, 2, 2)
    assert counts.offered_bytes == sum(len(frame) + 4 for frame in (STAMPABLE[0], STAMPABLE[2]))


def test_a_file_is_described_without_a_chain(mixed: str) -> None:
    asked = [str(built("weir-dp")), "--capture", mixed, "--filter", "udp"]
    said = json.loads(subprocess.run(asked, capture_output=True, text=True, check=True).stdout)
    assert said["frames"] == 2
    assert said["recorded_pps"] == pytest.approx(1 / (AT_S[3] - AT_S[1]), rel=1e-3)
    bad = subprocess.run([*asked[:-1], "no such word"], capture_output=True, text=True, check=False)
    assert (bad.returncode, bad.stdout) == (2, "")
    assert "is no filter" in bad.stderr


@pytest.mark.parametrize(
    ("words", "said"), [("no such word", "is no filter"), ("vlan 7", "none of the 5 frames"), ("x" * 256, "")]
)
def test_a_filter_that_cannot_be_is_refused(
    client: DataPlaneClient, mixed: str, words: str, said: str
) -> None:
    error = refused(
        client, "traffic.configure", {"streams": [stream(capture={"path": mixed, "filter": words})]}
    )
    assert error.where == "streams[0].capture.filter"
    assert said in str(error)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("10.0.0.0/8", "10.0.0.0/9"),
        ("10.0.0.1/8", "11.0.0.0/8"),
        ("10.0.0.0/8", "2001:db8::/8"),
        ("10.0.0.0", "11.0.0.0"),
        ("10.0.0.0/33", "11.0.0.0/33"),
    ],
)
def test_prefixes_that_cannot_be_exchanged_are_refused(
    client: DataPlaneClient, mixed: str, before: str, after: str
) -> None:
    capture = {"path": mixed, "addresses": [{"from": before, "to": after}]}
    error = refused(client, "traffic.configure", {"streams": [stream(capture=capture)]})
    assert error.where == "streams[0].capture.addresses[0]"
    assert before in str(error)
