# SPDX-License-Identifier: Apache-2.0
"""What weir-lean is asked, for chains named on the command line and for those of labs."""

from __future__ import annotations

from pathlib import Path

import pytest

from weir.lab import load_lab
from weir.lab.problem import LabFileError
from weir.lab.traffic import Flows, Traffic
from weir.plan.lean import LeanError, chain_of_lab, chain_of_text, lean_request

LAB = """
weir: 1
name: lean
technology: direct
chain: [[in, out]]
functions:
  in: {nf: l2fwd, options: {mode: mac-swap}}
  out: {nf: l2fwd}
"""


def test_functions_are_stages_in_their_order_with_numbers_where_names_repeat() -> None:
    chain = chain_of_text("nat,l2fwd,l2fwd")
    assert [stage.name for stage in chain.stages] == ["nat", "l2fwd-1", "l2fwd-2"]


def test_options_follow_colons_and_have_their_types() -> None:
    nat, forward = chain_of_text("nat:external=198.51.100.0/24:sessions=1000,l2fwd:mode=mac-swap").stages
    assert nat.options["external"] == "198.51.100.0/24"
    assert nat.options["sessions"] == 1000
    assert forward.options == {"mode": "mac-swap"}


def test_what_a_function_cannot_be_without_is_filled_in() -> None:
    nat, forward = chain_of_text("nat,l2fwd").stages
    assert nat.options["external"] == "203.0.113.0/24"
    assert {"src_mac", "dst_mac"} <= set(forward.options)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("nta", "did you mean nat"),
        ("nat,", "no function ''"),
        ("nat:sessoins=5", "nat has no option 'sessoins'; expected one of .*did you mean sessions"),
        ("nat:sessions=many", "option sessions of nat is 'many'; expected a whole number"),
    ],
)
def test_mistakes_are_named(text: str, said: str) -> None:
    with pytest.raises(LabFileError, match=said):
        chain_of_text(text)


def test_a_labs_chain_is_one_path(tmp_path: Path) -> None:
    file = tmp_path / "lab.yml"
    file.write_text(LAB, encoding="utf-8")
    lab = load_lab(file)
    chain = chain_of_lab(lab, lab.chains()[0])
    assert [stage.nf for stage in chain.stages] == ["l2fwd", "l2fwd"]
    assert chain.stages[0].options == {"mode": "mac-swap"}
    assert chain.fastpath_flows == 0


@pytest.mark.parametrize(
    ("function", "said"),
    [
        ("{nf: l3fwd, fastpath: true, offload: {kind: xdp}}", "out has .* offloaded to xdp; expected no"),
        ("{nf: l2fwd, architecture: dispatch}", "out runs as dispatch, .* expected run-to-completion"),
        ("{nf: nat, options: {external: 192.0.2.0/24}, fastpath: true}", "out has the fast path and in has"),
    ],
)
def test_what_no_single_area_does_is_refused(tmp_path: Path, function: str, said: str) -> None:
    file = tmp_path / "lab.yml"
    file.write_text(LAB.replace("{nf: l2fwd}", function).replace("direct", "linux-bridge"), encoding="utf-8")
    lab = load_lab(file)
    with pytest.raises(LeanError, match=said):
        chain_of_lab(lab, lab.chains()[0])


def test_every_flow_is_sent_in_whole_batches() -> None:
    traffic = Traffic(flows=Flows(count=100_001))
    request = lean_request(chain_of_text("l2fwd"), 1, traffic=traffic, frame="64").arguments()
    assert request["traffic"]["frames"] >= 100_001
    assert request["traffic"]["frames"] % 32 == 0
    assert request["traffic"]["stream"]["flows"]["count"] == 100_001


def test_a_capture_takes_the_place_of_flows() -> None:
    request = lean_request(
        chain_of_text("l2fwd"), 1, traffic=Traffic(), frame="64", pcap="/tmp/a.pcap"
    ).arguments()
    assert request["traffic"] == {"pcap": "/tmp/a.pcap"}


def test_the_fast_path_has_room_for_flows() -> None:
    request = lean_request(chain_of_text("nat", fastpath=True), 1, traffic=Traffic(), frame="64").arguments()
    assert request["configure"]["areas"][0]["fastpath_flows"] == 65536


ROUTER = """
weir: 1
name: lean
technology: direct
chain: [[edge]]
functions:
  edge: {router: {tenants: [{prefix: 10.0.0.0/8}], external: 203.0.113.1/32}, fastpath: true}
"""


def test_a_router_is_measured_with_both_its_sides_as_outputs(tmp_path: Path) -> None:
    file = tmp_path / "lab.yml"
    file.write_text(ROUTER, encoding="utf-8")
    lab = load_lab(file)
    chain = chain_of_lab(lab, lab.chains()[0])
    assert [stage.nf for stage in chain.stages] == ["nat", "l3fwd"]
    request = lean_request(chain, 0, traffic=Traffic(), frame="64").arguments()
    assert request["configure"]["areas"][0]["paths"][0]["out"] == ["right", "left"]


def test_a_router_with_addresses_has_both_its_sides_as_outputs_and_is_told_which_leads_inside() -> None:
    chain = chain_of_text("l2fwd,l3fwd:addresses=192.0.2.1/24")
    assert chain.name == "l2fwd,l3fwd:addresses=192.0.2.1/24"
    request = lean_request(chain, 0, traffic=Traffic(), frame="64").arguments()
    (path,) = request["configure"]["areas"][0]["paths"]
    assert path["out"] == ["right", "left"]
    assert path["stages"][1]["options"]["inside_output"] == 1
    assert "inside_output" not in path["stages"][0]["options"]


def test_a_router_without_addresses_sends_by_the_direction_of_the_path() -> None:
    request = lean_request(chain_of_text("l3fwd"), 0, traffic=Traffic(), frame="64").arguments()
    (path,) = request["configure"]["areas"][0]["paths"]
    assert path["out"] == "right"
    assert "inside_output" not in path["stages"][0]["options"]
