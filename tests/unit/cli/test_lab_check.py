# SPDX-License-Identifier: Apache-2.0
"""`weir validate` says what only shows when a lab is planned or its functions are made, at its line."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any, Literal

import pytest
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import ARP, Ether
from scapy.utils import wrpcap
from typer.testing import CliRunner

from weir.cli.exits import OK, USAGE
from weir.cli.main import app
from weir.fabric import FabricError
from weir.fabric.built import built
from weir.lab import load_lab
from weir.plan import Plan
from weir.procedures.driver import planned
from weir.protocol import DataPlaneError

runner = CliRunner()

RULED = """weir: 1
name: ruled
technology: [direct, linux-bridge]
chain: [[edge, translator]]
functions:
  edge:
    chain:
      - nf: l2fwd
      - nf: firewall
        options: {rules: edge.rules}
  translator: {nf: nat, options: {external: 203.0.113.0/24FORWARDS}}
"""


def needs_weir_lean() -> None:
    _needs("weir-lean")


def needs_weir_dp() -> None:
    _needs("weir-dp")


def _needs(program: Literal["weir-dp", "weir-lean"]) -> None:
    try:
        built(program)
    except FabricError as error:
        pytest.skip(str(error))


def lab(folder: Path, *, rules: str, forwards: str = "", text: str = RULED) -> Path:
    (folder / "edge.rules").write_text(rules)
    path = folder / "lab.yml"
    path.write_text(text.replace("FORWARDS", forwards))
    return path


def test_rules_and_mappings_are_looked_at_by_the_functions_themselves(tmp_path: Path) -> None:
    needs_weir_lean()
    path = lab(
        tmp_path, rules="permit tcp any any any 80\npermitt udp any any any any\n", forwards=", forwards: no"
    )
    done = runner.invoke(app, ["validate", str(path), "--json"])
    assert done.exit_code == USAGE
    rule, mapping = json.loads(done.stdout)["problems"]
    assert (rule["line"], rule["key"]) == (10, "functions.edge.chain[1].options")
    assert rule["message"].startswith(
        f"{tmp_path}/edge.rules:2: 'permitt' is not an action; expected permit or deny"
    )
    assert (mapping["line"], mapping["key"]) == (11, "functions.translator.options")
    assert "'no', is none; expected tcp or udp" in mapping["message"]


def test_a_good_lab_with_rules_is_valid(tmp_path: Path) -> None:
    needs_weir_lean()
    done = runner.invoke(app, ["validate", str(lab(tmp_path, rules="permit tcp any any any 80\n"))])
    assert done.exit_code == OK, done.output
    assert done.stdout.startswith("ruled: valid\n")


ROUTERS = """weir: 1
name: routers
technology: linux-bridge
chain: [[near, far]]
functions:
  near: {nf: l3fwd, options: {inbound_addresses: 198.18.0.254/24, addresses: 10.0.0.1/24,
    mtu_bytes: 1400, route_list: 0.0.0.0/0 via HOP}}
  far: {nf: l3fwd, options: {inbound_addresses: "10.0.0.2/24, 2001:db8::2/64", addresses: 198.19.0.254/24}}
"""


def test_routers_with_addresses_are_valid_without_the_options_that_a_lab_fills_in(tmp_path: Path) -> None:
    needs_weir_lean()
    path = tmp_path / "lab.yml"
    path.write_text(ROUTERS.replace("HOP", "10.0.0.2"))
    done = runner.invoke(app, ["validate", str(path)])
    assert done.exit_code == OK, done.output
    path.write_text(ROUTERS.replace("HOP", "10.0.9.2"))
    done = runner.invoke(app, ["validate", str(path), "--json"])
    assert done.exit_code == USAGE
    (problem,) = json.loads(done.stdout)["problems"]
    assert problem["key"] == "functions.near.options"
    assert "the address behind via is in no network of addresses" in problem["message"]


@pytest.mark.long
@pytest.mark.parametrize("path", sorted(Path("labs").glob("*/lab.yml")), ids=lambda path: path.parent.name)
def test_labs_that_are_shipped_are_valid(path: Path) -> None:
    done = runner.invoke(app, ["validate", str(path)])
    assert done.exit_code == OK, done.output


def test_what_cannot_be_planned_is_said_once_for_all_its_cases(tmp_path: Path) -> None:
    path = tmp_path / "lab.yml"
    path.write_text(
        "weir: 1\nname: near\ntechnology: [linux-bridge, ovs]\nchain: [[linux]]\n"
        "functions: {linux: {kind: kernel, nf: l3fwd}}\n"
        "traffic:\n  {left: {address: 10.0.0.1}, right: {address: 10.0.0.2}, "
        "flows: {count: 9, vary: [src_ip]}}\n"
    )
    done = runner.invoke(app, ["validate", str(path)])
    assert done.exit_code == USAGE
    assert done.stderr.count("Linux cannot route between the tester's ends") == 1
    assert f"{path}:4:1: chain: linux under linux-bridge, linux under ovs: " in done.stderr


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (
            "{kind: kernel, nf: firewall, options: {rules: RULES}}",
            "other cannot be Linux as firewall: RULES, line 2: ",
        ),
        (
            "{kind: kernel, chain: [{nf: firewall, options: {udp_timeout_s: 120}},"
            " {nf: nat, options: {external: 192.0.2.1}}]}",
            "other cannot be Linux: firewall wants net.netfilter.nf_conntrack_udp_timeout to be 120",
        ),
        (
            "{kind: program, nf: acl, options: {rules: RULES}, program: {counterpart: vpp, user: root}}",
            "other cannot be vpp as acl: RULES, line 2: ",
        ),
    ],
)
def test_options_that_others_cannot_be_set_up_from_are_said_before_a_run(
    function: str, said: str, tmp_path: Path
) -> None:
    rules, path = tmp_path / "edge.rules", tmp_path / "lab.yml"
    rules.write_text("permit tcp any any\npermit nothing\n")
    function = function.replace("RULES", str(rules))
    path.write_text(
        f"weir: 1\nname: near\ntechnology: linux-bridge\nchain: [[other]]\nfunctions: {{other: {function}}}\n"
    )
    done = runner.invoke(app, ["validate", str(path)])
    assert done.exit_code == USAGE
    assert f"other under linux-bridge: {said.replace('RULES', str(rules))}" in done.stderr


def test_what_weir_dp_refuses_is_said_in_the_labs_terms(tmp_path: Path) -> None:
    whole = load_lab(lab(tmp_path, rules=""))
    (chain,) = whole.chains()
    keys = Plan.of(planned(whole, "linux-bridge", chain), whole).keys
    firewall = next(place for place, key in keys.items() if key == "functions.edge.chain[1]")
    assert "functions.translator" in keys.values()
    error = DataPlaneError(
        "bad_argument", "'x' is none", where=f"{firewall}.options.sessions", expected="one"
    )
    error.put_in_terms(keys)
    assert str(error) == "functions.edge.chain[1].options.sessions: 'x' is none; expected one"
    other = DataPlaneError("bad_argument", "no such core", where="areas[0].core")
    other.put_in_terms(keys)
    assert str(other) == "areas[0].core: no such core"


REPLAYED = (
    "weir: 1\nname: replayed\nchain: PVP\ntechnology: direct\ntester: {direction: left-to-right}\n"
    "traffic:\n  frames: [capture]\n  capture:\n    left: sent.pcap\n"
)


def problem_of(folder: Path, lab: str) -> dict[str, Any]:
    """The only one."""
    (folder / "lab.yml").write_text(lab)
    said = runner.invoke(app, ["validate", "--json", "--any-machine", str(folder)])
    assert said.exit_code == USAGE
    (problem,) = json.loads(said.stdout)["problems"]
    return dict(problem)


def test_a_capture_that_cannot_be_read_is_told_where_the_lab_names_it(tmp_path: Path) -> None:
    needs_weir_dp()
    (tmp_path / "sent.pcap").write_text("no capture")
    problem = problem_of(tmp_path, REPLAYED)
    assert (problem["key"], problem["line"]) == ("traffic.capture.left", 9)
    assert "sent.pcap" in problem["message"]


def test_a_compressed_capture_is_named_as_one(tmp_path: Path) -> None:
    needs_weir_dp()
    (tmp_path / "sent.pcap").write_bytes(gzip.compress(b"a capture"))
    assert "is compressed; name the capture itself" in problem_of(tmp_path, REPLAYED)["message"]


@pytest.mark.parametrize("rate", ["recorded", "2x", "5kpps"])
@pytest.mark.parametrize("at_s", [[5.0], [5.0, 5.0], [5.0, 4.0, 3.0]])
def test_a_capture_without_time_between_its_frames_is_not_replayed_by_it(
    tmp_path: Path, at_s: list[float], rate: str
) -> None:
    needs_weir_dp()
    frames = [Ether() / IP(dst="198.19.0.9") / UDP(dport=53) / (b"q" * 100) for _ in at_s]
    for frame, time_s in zip(frames, at_s, strict=True):
        frame.time = time_s
    wrpcap(str(tmp_path / "sent.pcap"), frames)
    problem = problem_of(tmp_path, f"{REPLAYED}    rate: {rate}\n")
    assert (problem["key"], problem["line"]) == ("traffic.capture.rate", 10)
    assert "has no time between its frames" in problem["message"]
    assert runner.invoke(app, ["validate", str(tmp_path), "--any-machine"]).exit_code == USAGE
    (tmp_path / "lab.yml").write_text(REPLAYED)
    assert runner.invoke(app, ["validate", str(tmp_path), "--any-machine"]).exit_code == 0
    problem = problem_of(tmp_path, f"{REPLAYED}  pacing: recorded\n")
    assert (problem["key"], problem["line"]) == ("traffic.pacing", 10)
    assert "has no time between its frames" in problem["message"]


def test_a_capture_of_frames_without_room_for_a_stamp_is_refused_where_stamps_are_asked_for(
    tmp_path: Path,
) -> None:
    needs_weir_dp()
    (tmp_path / "lab.yml").write_text(REPLAYED)
    frames = [Ether() / IP(dst="198.19.0.9") / UDP(dport=53) / (b"q" * 100), Ether() / ARP()]
    wrpcap(str(tmp_path / "sent.pcap"), frames)
    assert runner.invoke(app, ["validate", str(tmp_path), "--any-machine"]).exit_code == 0
    problem = problem_of(tmp_path, f"{REPLAYED}    stamp: true\n")
    assert problem["key"] == "traffic.capture.left"
    assert "frame 2 of those of" in problem["message"]
    assert "leave `stamp` out" in problem["message"]
