# SPDX-License-Identifier: Apache-2.0
"""Captures as a lab's traffic: what is accepted, what the tester is told, what is refused and where."""

from __future__ import annotations

from pathlib import Path

import pytest

from weir import plan
from weir.lab import Lab, load_lab
from weir.lab.problem import LabFileError, Problem
from weir.plan.execution import execution
from weir.plan.topology import PlanError

ONE_WAY = "tester: {direction: left-to-right}\n"


def loaded(folder: Path, text: str) -> Lab:
    """A lab with that traffic, beside two files."""
    for name in ("up.pcap", "down.pcap"):
        (folder / name).touch()
    (folder / "lab.yml").write_text(f"weir: 1\nname: small\nchain: PVP\ntechnology: direct\n{text}")
    return load_lab(folder)


def problems(folder: Path, text: str) -> tuple[Problem, ...]:
    with pytest.raises(LabFileError) as refused:
        loaded(folder, text)
    return refused.value.problems


def test_a_file_is_enough_and_is_looked_for_beside_the_lab(tmp_path: Path) -> None:
    traffic = loaded(tmp_path, f"{ONE_WAY}traffic: {{capture: {{left: up.pcap}}}}\n").traffic
    assert traffic.frames == ("capture",)
    assert traffic.capture is not None
    assert {side: one.file for side, one in traffic.capture.files().items()} == {
        "left": str(tmp_path / "up.pcap")
    }


@pytest.mark.parametrize(
    ("rate", "own_pps", "factor"),
    [("recorded", 500, 1), ("2x", 500, 2), ("0.25x", 500, 0.25), ("5kpps", 500, 10), ("1Mbit/s", 500, 2.5)],
)
def test_a_replay_is_a_factor_of_the_files_own_rate_however_it_is_said(
    rate: str, own_pps: float, factor: float, tmp_path: Path
) -> None:
    text = f"{ONE_WAY}traffic: {{capture: {{left: up.pcap, rate: {rate}}}}}\n"
    traffic = loaded(tmp_path, text).traffic
    assert traffic.pacing == "recorded"
    assert traffic.capture is not None
    assert traffic.capture.replay is not None
    assert traffic.capture.replay.factor_of(own_pps, mean_frame_bytes=100) == pytest.approx(factor)


@pytest.mark.parametrize(
    "rate", ["0x", "-1x", "x", "50% PDR", "fast", "2", "0pps", "99999999x", "recorded 2x"]
)
def test_a_rate_that_is_none_is_refused_with_those_that_there_are(rate: str, tmp_path: Path) -> None:
    (found,) = problems(tmp_path, f"{ONE_WAY}traffic: {{capture: {{left: up.pcap, rate: {rate}}}}}\n")
    assert found.key == "traffic.capture.rate"
    assert "recorded, a factor such as 2x" in str(found) or "above 0" in str(found)


@pytest.mark.parametrize(
    ("more", "path"),
    [
        ("traffic: {frames: [64, capture], capture: {left: up.pcap, rate: 2x}}", "traffic.frames"),
        ("traffic: {pacing: constant, capture: {left: up.pcap, rate: 2x}}", "traffic.pacing"),
        (
            "traffic: {capture: {left: up.pcap, stamp: true, rate: 2x}}\nmeasure: {latency: {}}",
            "measure.latency",
        ),
        ("traffic: {capture: {left: up.pcap, rate: 2x}}\nmeasure: {rounds: 2}", "measure.rounds"),
        ("traffic: {capture: {left: up.pcap, rate: 2x}}\nsla: {loss_ratio: 0}", "sla"),
    ],
)
def test_what_belongs_to_a_search_is_refused_beside_a_replay(more: str, path: str, tmp_path: Path) -> None:
    assert path in [one.key for one in problems(tmp_path, f"{ONE_WAY}{more}\n")]


def test_the_tester_is_told_file_filter_addresses_and_pacing(tmp_path: Path) -> None:
    lab = loaded(
        tmp_path,
        "traffic:\n  pacing: recorded\n  capture:\n    stamp: true\n    macs: file\n"
        "    left: {file: up.pcap, filter: src net 10.0.0.0/8, addresses: {10.0.0.0/8: 198.0.0.0/8}}\n"
        "    right: down.pcap\n",
    )
    topology = plan.build_topology(lab, "direct", lab.chains()[0], "small-00000000")
    left, right = plan.Plan.of(topology, lab).streams["capture"].arguments()["streams"]
    assert left["capture"] == {
        "path": str(tmp_path / "up.pcap"),
        "stamp": True,
        "template_macs": False,
        "filter": "src net 10.0.0.0/8",
        "addresses": [{"from": "10.0.0.0/8", "to": "198.0.0.0/8"}],
    }
    assert right["capture"]["path"] == str(tmp_path / "down.pcap")
    assert (left["pacing"], right["pacing"]) == ("recorded", "recorded")
    assert "flows" not in left


def test_sizes_and_the_capture_stand_side_by_side(tmp_path: Path) -> None:
    lab = loaded(tmp_path, f"{ONE_WAY}traffic: {{frames: [64, capture], capture: {{left: up.pcap}}}}\n")
    topology = plan.build_topology(lab, "direct", lab.chains()[0], "small-00000000")
    streams = plan.Plan.of(topology, lab).streams
    assert [streams[frame].streams[0].capture is None for frame in ("64", "capture")] == [True, False]


def test_frames_of_a_capture_are_not_modelled(tmp_path: Path) -> None:
    lab = loaded(tmp_path, f"{ONE_WAY}traffic: {{capture: {{left: up.pcap}}}}\n")
    topology = plan.build_topology(lab, "direct", lab.chains()[0], "small-00000000")
    with pytest.raises(PlanError, match="not modelled"):
        execution(topology, lab, lab.chains()[0], "capture")


@pytest.mark.parametrize(
    ("text", "key", "message"),
    [
        ("traffic: {frames: [capture]}", "traffic.frames", "traffic.capture is absent"),
        ("traffic: {pacing: recorded}", "traffic.pacing", "no capture is sent"),
        (ONE_WAY + "traffic: {frames: [64], capture: {left: up.pcap}}", "traffic.capture", "is not sent"),
        (
            ONE_WAY + "traffic: {frames: [64, capture], pacing: recorded, capture: {left: up.pcap}}",
            "traffic.pacing",
            "frames of 64 were not captured",
        ),
        (ONE_WAY + "traffic: {capture: {}}", "traffic.capture.left", "is absent"),
        ("traffic: {capture: {left: up.pcap}}", "traffic.capture.right", "traffic is bidirectional"),
        (
            ONE_WAY + "traffic: {capture: {left: up.pcap, right: down.pcap}}",
            "traffic.capture.right",
            "is never sent",
        ),
        (ONE_WAY + "traffic: {capture: {left: gone.pcap}}", "traffic.capture.left", "there is no file"),
        (ONE_WAY + "traffic: {capture: {left: /}}", "traffic.capture.left", "/ is a directory"),
        (ONE_WAY + "traffic: {capture: {left: /dev/null}}", "traffic.capture.left", "is no regular file"),
        (
            ONE_WAY
            + "traffic: {capture: {left: up.pcap, stamp: true}}\nmeasure: {latency: {first_packets: true}}",
            "measure.latency.first_packets",
            "nobody tells its flows apart",
        ),
        (
            ONE_WAY + "traffic: {capture: {left: up.pcap}}\nmeasure: {latency: {loads: ['50%NDR']}}",
            "measure.latency",
            "without a stamp",
        ),
        (
            ONE_WAY + "traffic: {capture: {left: {file: up.pcap, addresses: {10.0.0.0/8: 192.0.2.0/24}}}}",
            "traffic.capture.left.addresses",
            "cannot become 192.0.2.0/24",
        ),
        (
            ONE_WAY + "traffic: {capture: {left: {file: up.pcap, addresses: {10.0.0.1/8: 11.0.0.0/8}}}}",
            "traffic.capture.left.addresses",
            "is no prefix",
        ),
    ],
)
def test_what_cannot_be_is_refused_at_its_place(tmp_path: Path, text: str, key: str, message: str) -> None:
    found = {one.key: one.message for one in problems(tmp_path, text + "\n")}
    assert message in found.get(key, f"nothing at {key}: {found}")
