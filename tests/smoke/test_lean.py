# SPDX-License-Identifier: Apache-2.0
"""`weir lean` on the built weir-lean: as an ordinary user, without hugepages, by flows and by a capture."""

from __future__ import annotations

import json
import os
import signal
import statistics
import subprocess
import sys
import time
from pathlib import Path

import jsonschema
import pytest
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether
from scapy.utils import wrpcap
from typer.testing import CliRunner

from tests.weir_command import WEIR
from weir.cli.exits import FAILED, INTERRUPTED, USAGE
from weir.cli.main import app
from weir.fabric import FabricError
from weir.fabric import lean as process
from weir.fabric.built import built
from weir.lab.traffic import Flows, Traffic
from weir.plan.lean import LeanRequest, chain_of_text, lean_request
from weir.procedures.lean import run as whole
from weir.procedures.lean.numbers import Timed
from weir.results.lean import LeanResult, LeanTraffic

from .test_no_root import ORDINARY, as_ordinary_user

CHAIN = "l2fwd:mode=mac-swap"
ROOT = Path(__file__).parents[2]
runner = CliRunner()

try:
    built("weir-lean")
except FabricError as error:
    pytest.skip(str(error), allow_module_level=True)


@pytest.fixture(scope="module")
def measured() -> str:
    """What an ordinary user is told of CHAIN, as JSON."""
    done = as_ordinary_user("lean", CHAIN, "--launches", "5", "--json")
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.long
def test_an_ordinary_user_measures_l2fwd_and_gets_what_the_schema_says(measured: str) -> None:
    document = json.loads(measured)
    jsonschema.validate(document, json.loads((ROOT / "schema/lean.schema.json").read_text(encoding="utf-8")))
    result = LeanResult.model_validate(document)
    later, first = result.later, result.first
    assert first is not None
    assert later.chain.packets_in == later.chain.packets_out == 5 * 60 * 150 * 32
    assert later.chain.drops == {}
    assert [stage.name for stage in later.stages] == [stage.name for stage in first.stages] == ["l2fwd"]
    assert 0 < later.stages[0].cycles_per_packet.median <= later.chain.cycles_per_packet.median
    assert result.prediction.pps == pytest.approx(
        result.fingerprint.tsc_hz * result.core_per_tsc / later.chain.cycles_per_packet.median, rel=1e-6
    )


@pytest.mark.long
def test_first_packets_and_later_ones_of_l2fwd_execute_the_same_instructions(measured: str) -> None:
    result = LeanResult.model_validate_json(measured)
    assert result.first is not None
    assert result.instructions_source == "single-stepping"
    assert result.later.chain.instructions_per_packet is not None
    assert result.first.chain.instructions_per_packet == pytest.approx(
        result.later.chain.instructions_per_packet
    )
    assert 0 < (result.later.chain.ipc or 0) < result.retires_most


def test_instruction_counts_are_the_same_each_time_and_stages_add_up() -> None:
    counted = []
    with process.request_file(request("l2fwd:mode=mac-swap,nat")) as path:
        for _ in range(2):
            with process.LeanProcess(built("weir-lean"), path, 0, memory_mb=256, step=True) as launch:
                counted.append((launch.ready["first_stepped"], launch.step(2)))
    assert counted[0] == counted[1]
    first, later = counted[0]
    assert first["stages"][0] / first["packets"] == later["stages"][0] / later["packets"] > 0
    assert first["stages"][1] / first["packets"] > 1.5 * later["stages"][1] / later["packets"]
    assert 0 < later["instructions"] - sum(later["stages"]) < 200 * later["batches"]


@pytest.mark.long
def test_a_ratio_that_the_core_cannot_reach_is_no_result(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("weir.procedures.lean.numbers.BEYOND", 0.01)
    done = runner.invoke(app, ["lean", CHAIN, "--launches", "5", "--json"])
    assert done.exit_code == FAILED
    assert "cannot be: this core was seen to retire" in done.stderr
    assert done.stdout == ""


def folder_of_an_earlier_build(cache: Path) -> subprocess.CompletedProcess[str]:
    """Where an ordinary user keeps one, or why not."""
    code = "from weir.fabric import lean_build; print(lean_build._folder('0123')); lean_build.commit('HEAD')"
    return subprocess.run(
        [*ORDINARY, sys.executable, "-c", code],
        env=os.environ | {"XDG_CACHE_HOME": str(cache)},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.long
@pytest.mark.skipif(os.geteuid() != 0, reason="becomes an ordinary user: run as root")
def test_an_ordinary_user_keeps_earlier_builds_in_a_cache_of_their_own(tmp_path: Path) -> None:
    refused = folder_of_an_earlier_build(tmp_path)
    assert "weir-lean of an earlier revision cannot be kept" in refused.stderr
    os.chown(tmp_path, 65534, 65534)
    found = folder_of_an_earlier_build(tmp_path)
    assert (found.stdout.strip(), found.stderr) == (str(tmp_path / "weir/lean/0123"), "")


def test_the_fast_path_and_the_stages_that_were_walked_add_up_to_the_chain() -> None:
    with (
        process.request_file(request("nat,l3fwd", fastpath=True)) as path,
        process.LeanProcess(built("weir-lean"), path, 0, memory_mb=256) as launch,
    ):
        timed = Timed.model_validate(launch.time(512))
    assert timed.fastpath is not None
    assert timed.fastpath.hits + timed.fastpath.slow_packets == timed.packets
    assert timed.fastpath.cycles + sum(stage.cycles for stage in timed.stages) == pytest.approx(timed.cycles)
    assert timed.fastpath.hits > 0.9 * timed.packets


def test_packets_of_a_capture_are_sent(tmp_path: Path) -> None:
    packets = [Ether() / IP(dst="192.0.2.1") / UDP(dport=port) / bytes(100) for port in range(1, 41)]
    wrpcap(str(tmp_path / "some.pcap"), packets)
    with (
        process.request_file(request(CHAIN, tmp_path / "some.pcap")) as path,
        process.LeanProcess(built("weir-lean"), path, 0, memory_mb=256) as launch,
    ):
        assert launch.ready["frames"] == 40
        timed = launch.time(8)
    assert timed["packets"] == timed["forwarded"] == 256


def ratios_of_first_stage(launch: process.LeanProcess) -> list[float]:
    """Cycles with what is injected by those without, in turn."""
    pairs = [(launch.time(64)["stages"][0], launch.plain(64)["stages"][0]) for _ in range(99)]
    return [slow["middle"] / plain["middle"] for slow, plain in pairs if plain["middle"] > 0]


def test_a_function_that_forwards_at_once_is_made_slower_too() -> None:
    with (
        process.request_file(request("l3fwd")) as path,
        process.LeanProcess(built("weir-lean"), path, 0, memory_mb=256, inject="l3fwd=100") as launch,
    ):
        assert statistics.median(ratios_of_first_stage(launch)) == pytest.approx(2, rel=0.15)


@pytest.mark.long
def test_a_stage_that_the_fast_path_spares_all_packets_cannot_be_made_slower() -> None:
    with (
        process.request_file(request("nat,l3fwd", fastpath=True)) as path,
        process.LeanProcess(built("weir-lean"), path, 0, memory_mb=256, inject="nat=5") as launch,
    ):
        assert launch.ready["inject_cost_percent"] == 0
        assert ratios_of_first_stage(launch) == []


@pytest.mark.long
def test_a_stage_that_became_slower_is_named() -> None:
    run = whole.LeanRun(
        CHAIN,
        request(f"{CHAIN},nat"),
        0,
        LeanTraffic(flows=100, frame="64", frames=0),
        inject="nat=50",
        launches=5,
        count=False,
    )
    program = whole.present_program()
    comparison = run.against_program(program, program).comparison
    assert comparison is not None
    assert comparison.regressions == ["nat"]


@pytest.mark.long
def test_a_stored_result_can_be_the_baseline(measured: str, tmp_path: Path) -> None:
    stored = tmp_path / "stored.json"
    result = LeanResult.model_validate_json(measured)
    for samples in result.samples:
        samples.launches = [[cycles / 10 for cycles in launch] for launch in samples.launches]
    stored.write_text(result.model_dump_json(), encoding="utf-8")
    again = runner.invoke(app, ["lean", CHAIN, "--launches", "5", "--baseline", str(stored)])
    assert again.exit_code == FAILED, again.stderr
    assert "regression: l2fwd" in again.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["lean"], "expected one of: a lab or chain, --machine, --speedup FILE"),
        (["lean", "l2fwdd"], "did you mean l2fwd"),
        (["lean", CHAIN, "--pcap", "/nonexistent.pcap"], "there is no file /nonexistent.pcap"),
        (["lean", CHAIN, "--frame", "9"], "is a frame of 9 bytes"),
        (["lean", CHAIN, "--cpu", "4000"], "may not use CPU 4000"),
        (["lean", CHAIN, "--variant", "index"], "--variant index: of a lab, and there is none at l2fwd"),
        (["lean", "labs/upf-steps", "--variant", "indx"], "did you mean index"),
        (["lean", "labs/upf-steps", "--variant", "workers"], "upf runs as dispatch"),
        (["lean", "--speedup", "/nonexistent.csv"], "No such file"),
    ],
)
def test_mistakes_are_said(words: list[str], said: str) -> None:
    done = runner.invoke(app, words)
    assert done.exit_code == USAGE
    assert said in done.stderr


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"no capture at all, but a text\n", "c.pcap: unknown file format; expected a file of tcpdump"),
        (
            b"\xd4\xc3\xb2\xa1\x02\0\x04\0" + bytes(8) + b"\xff\xff\0\0\x01\0\0\0" + b"\1" * 9,
            "c.pcap cannot be read",
        ),
    ],
)
def test_a_capture_that_is_none_is_named_and_a_wrong_argument(
    tmp_path: Path, content: bytes, said: str
) -> None:
    file = tmp_path / "c.pcap"
    file.write_bytes(content)
    done = runner.invoke(app, ["lean", CHAIN, "--pcap", str(file)])
    assert done.exit_code == USAGE, done.stderr
    assert said in done.stderr
    assert "traffic.pcap" not in done.stderr


def request(chain: str, pcap: Path | None = None, *, fastpath: bool = False) -> LeanRequest:
    return lean_request(
        chain_of_text(chain, fastpath=fastpath),
        0,
        traffic=Traffic(flows=Flows(count=100)),
        frame="64",
        pcap=None if pcap is None else str(pcap),
    )


@pytest.mark.long
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_what_stops_a_service_ends_lean_and_its_programs(number: int) -> None:
    weir = subprocess.Popen(
        [*WEIR, "lean", CHAIN, "--launches", "100"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    children = Path(f"/proc/{weir.pid}/task/{weir.pid}/children")
    while not (programs := [int(pid) for pid in children.read_text().split()]):
        assert weir.poll() is None
        time.sleep(0.02)
    weir.send_signal(number)
    _, complained = weir.communicate(timeout=60)
    assert weir.returncode == INTERRUPTED
    assert complained.endswith("weir: interrupted\n")
    assert [pid for pid in programs if Path(f"/proc/{pid}").exists()] == []
