# SPDX-License-Identifier: Apache-2.0
"""Good labs: what they mean."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest
from pydantic import TypeAdapter
from ruamel.yaml import YAML

from weir.lab import Lab, load_lab
from weir.lab.frames import JUMBO, SIMPLE_IMIX, Frame, frame_sizes_bytes, mean_frame_bytes
from weir.lab.nf import NfOption
from weir.lab.of_tenants import has_tenants
from weir.lab.tenants_load import load_tenants

from .lab_text import GOOD, load

FILES = sorted((Path(__file__).parents[3] / "labs").glob("*/lab.yml"))
LABS = [path for path in FILES if not has_tenants(path)]


def test_pvp_and_pvvp_are_one_and_two_default_functions() -> None:
    chains = load(GOOD.replace("PVP", "[PVP, PVVP]")).chains()
    assert [(chain.name, chain.functions) for chain in chains] == [
        ("PVP", ("default",)),
        ("PVVP", ("default", "default")),
    ]


def test_a_chain_of_named_functions_is_called_by_their_names() -> None:
    text = GOOD.replace("PVP", "[[fw, nat]]") + "functions: {fw: {nf: l2fwd}, nat: {nf: l2fwd}}\n"
    assert load(text).chains()[0].name == "fw-nat"


def test_a_long_chain_has_a_short_name() -> None:
    names = ", ".join(["fw"] * 40 + ["nat"])
    text = GOOD.replace("PVP", f"[[{names}]]").replace("direct, linux-bridge, ovs-dpdk", "ovs")
    text += "functions: {fw: {nf: l2fwd}, nat: {nf: l2fwd}}\n"
    assert load(text).chains()[0].name == "40xfw-nat"


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ("64", "64"),
        ("jumbo", "9018"),
        ("IMIX", "imix:aaaaaaaAAAAg:A=570"),
        ("imix", "imix:aaaaaaaAAAAg:A=570"),
        ("IMIX(aaabg)", "imix:aaabg"),
        ("IMIX(aBA, B=9216, A=570)", "imix:aBA:A=570:B=9216"),
        ("imix:aBA:B=9216:A=570", "imix:aBA:A=570:B=9216"),
    ],
)
def test_names_and_mixes_of_frames_are_kept_in_one_way(written: str, kept: str) -> None:
    assert load(GOOD + f"traffic: {{frames: ['{written}']}}\n").traffic.frames == (kept,)


@pytest.mark.parametrize(
    ("traffic", "frame"),
    [("{l4: udp}", "64"), ("{ip: 6}", "128"), ("{l4: tcp}", "128"), ("{vlan: 7}", "128")],
)
def test_frames_that_are_not_given_have_room_for_the_headers_that_are(traffic: str, frame: str) -> None:
    assert load(GOOD + f"traffic: {traffic}\n").traffic.frames == (frame,)


def test_each_way_to_write_a_frame_is_in_the_schema() -> None:
    pattern = TypeAdapter(Frame).json_schema()["anyOf"][1]["pattern"]
    for written in ("64", "jumbo", "IMIX", "imix:aaaaaaaddddg", "imix:aA:A=570", "IMIX(aBA, B=9216,A=570)"):
        assert re.search(pattern, written), written
    assert not re.search(pattern, "imix:a:A")


def test_simple_imix_is_7_4_1_of_64_570_and_1518_bytes() -> None:
    sizes = Counter(frame_sizes_bytes(SIMPLE_IMIX))
    assert sizes == {64: 7, 570: 4, 1518: 1}
    assert mean_frame_bytes(SIMPLE_IMIX) == pytest.approx(353.83333, abs=1e-5)


def test_a_jumbo_frame_fills_an_mtu_of_9000_bytes() -> None:
    assert frame_sizes_bytes(JUMBO) == (9000 + 14 + 4,)


def test_the_mean_frame_of_a_mix_counts_each_letter() -> None:
    assert mean_frame_bytes("64") == 64
    assert mean_frame_bytes("imix:aaaaaaaddddg") == pytest.approx((7 * 64 + 4 * 512 + 1518) / 12)


def test_a_complete_lab_written_out_is_the_same_lab_again(tmp_path: Path) -> None:
    lab = load(GOOD, cpus=(0, 1, 2, 3))
    path = tmp_path / "again.yml"
    YAML(typ="safe").dump(lab.model_dump(mode="json", by_alias=True), path)
    assert load_lab(path, cpus=(0, 1, 2, 3)) == lab


@pytest.mark.parametrize("path", LABS, ids=lambda path: path.parent.name)
@pytest.mark.parametrize("quick", [False, True])
@pytest.mark.parametrize("cpus", [(0, 1), (0, 1, 2, 3)])
def test_every_lab_that_comes_with_weir_is_good(path: Path, quick: bool, cpus: tuple[int, ...]) -> None:
    assert load_lab(path, quick=quick, cpus=cpus).name == path.parent.name


@pytest.mark.parametrize("path", sorted(set(FILES) - set(LABS)), ids=lambda path: path.parent.name)
def test_every_lab_with_tenants_that_comes_with_weir_is_good(path: Path) -> None:
    assert load_tenants(path).name == path.parent.name


def test_the_switching_lab_is_the_experiment_that_it_says() -> None:
    path = next(path for path in LABS if path.parent.name == "switching")
    full, quick = load_lab(path), load_lab(path, quick=True)
    sizes = ("64", "128", "256", "512", "1024", "1280", "1518")
    assert full.traffic.frames[:-1] == sizes
    assert full.traffic.frames[-1].startswith("imix:")
    assert quick.traffic.frames == ("64", "1518")
    assert [chain.name for chain in full.chains()] == ["PVP", "PVVP"]
    assert full.technology == ("direct", "linux-bridge", "ovs", "ovs-dpdk")


@pytest.mark.parametrize(
    ("option", "good", "bad"),
    [
        (NfOption(name="n", type="int", min=1, max=9), 9, 10),
        (NfOption(name="n", type="int"), 3, True),
        (NfOption(name="n", type="bool"), False, 0),
        (NfOption(name="n", type="mac"), "02:00:00:00:00:01", "02:00"),
        (NfOption(name="n", type="enum", values=("a", "b")), "a", "c"),
        (NfOption(name="n", type="ipv4"), "192.0.2.1", "192.0.2.256"),
        (NfOption(name="n", type="prefix"), "192.0.2.0/24", "192.0.2.1/24"),
        (NfOption(name="n", type="prefix6"), "2001:db8::/64", "2001:db8::1/64"),
        (NfOption(name="n", type="text"), "x", 1),
        (NfOption(name="n", type="file"), "routes.txt", "x" * 16384),
    ],
    ids=lambda value: value.type if isinstance(value, NfOption) else "",
)
def test_options_of_a_function_take_what_their_table_says(
    option: NfOption, good: object, bad: object
) -> None:
    assert option.accepts(good)  # type: ignore[arg-type]
    assert not option.accepts(bad)  # type: ignore[arg-type]
    assert option.expected()


def test_a_chain_of_names_is_written_as_it_was_read_without_a_warning(
    recwarn: pytest.WarningsRecorder,
) -> None:
    lab = Lab.model_validate(
        {"weir": 1, "name": "one", "chain": [["default"], "PVP"], "technology": "direct"}
    )
    assert lab.model_dump(mode="json")["chain"] == [["default"], "PVP"]
    assert not recwarn.list
