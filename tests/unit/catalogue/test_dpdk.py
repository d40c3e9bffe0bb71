# SPDX-License-Identifier: Apache-2.0
"""DPDK's programs, set up from the options of Weir's functions."""

from __future__ import annotations

import pytest

from weir.catalogue import CatalogueError, Ends
from weir.catalogue.launch import Launch, Place
from weir.catalogue.programs import launch

LEFT_HOP, RIGHT_HOP = "02:57:00:00:00:0a", "02:57:00:00:00:0b"
ENDS = Ends(
    {"left.gateway_mac": LEFT_HOP, "right.gateway_mac": RIGHT_HOP}, ("198.18.0.0/17", "2001:2:0:1::/64")
)
OTHER = "02:00:00:00:00:99"


def made(program: str, options: dict[str, str], cores: tuple[int, ...]) -> Launch:
    nf = "l3fwd" if program == "dpdk-l3fwd" else "l2fwd"
    return launch(program, nf, options, Place(ENDS, cores))


def test_testpmd_exchanges_addresses_or_writes_those_of_the_next_hops() -> None:
    swap = made("testpmd", {"mode": "mac-swap"}, (3,))
    assert swap.words[:4] == ("{eal}", "--", "--forward-mode=macswap", "--nb-cores=1")
    assert not swap.main_forwards
    rewrite = made("testpmd", {"dst_mac": OTHER}, (3, 5, 7))
    assert rewrite.words[2:6] == (
        "--forward-mode=mac",
        f"--eth-peer=0,{LEFT_HOP}",
        f"--eth-peer=1,{OTHER}",
        "--nb-cores=2",
    )


@pytest.mark.parametrize(("cores", "queues"), [((), "2"), ((4,), "2"), ((4, 6), "1")])
def test_l2fwd_has_its_ports_on_one_core_or_on_one_each(cores: tuple[int, ...], queues: str) -> None:
    found = made("dpdk-l2fwd", {}, cores)
    assert found.words == ("{eal}", "--", "-p", "3", "-q", queues, "-T", "0")
    assert found.main_forwards


def test_l3fwd_without_routes_leads_everything_to_the_other_side() -> None:
    found = made("dpdk-l3fwd", {}, (2,))
    assert dict(found.files) == {
        "rules4": "R198.18.0.0/17 0\nR0.0.0.0/1 1\nR128.0.0.0/1 1\n",
        "rules6": "R2001:2:0:1::/64 0\nR::/1 1\nR8000::/1 1\n",
    }
    assert {"--config=(0,0,0),(1,0,0)", "--rule_ipv4={file.rules4}", "--rule_ipv6={file.rules6}"} <= set(
        found.words
    )
    assert {f"--eth-dest=0,{LEFT_HOP}", f"--eth-dest=1,{RIGHT_HOP}"} <= set(found.words)


def test_l3fwd_has_the_routes_of_the_lab() -> None:
    listed = f"192.0.2.0/24 default, 198.18.4.0/24 default, 2001:db8::/48 {RIGHT_HOP}"
    found = made("dpdk-l3fwd", {"route_list": listed}, (2, 3))
    assert found.files["rules4"] == "R198.18.0.0/17 0\nR192.0.2.0/24 1\nR198.18.4.0/24 0\n"
    assert found.files["rules6"].endswith("R2001:db8::/48 1\n")
    assert "--config=(0,0,0),(1,0,1)" in found.words


@pytest.mark.parametrize(
    ("program", "options", "said"),
    [
        ("testpmd", {"src_mac": OTHER}, "testpmd has no counterpart of src_mac"),
        ("dpdk-l2fwd", {"mode": "mac-swap"}, "exchanges no addresses"),
        ("dpdk-l2fwd", {"dst_mac": OTHER}, "has no counterpart of dst_mac"),
        ("dpdk-l3fwd", {"mtu_bytes": 1400}, "has no counterpart of mtu_bytes"),
        ("dpdk-l3fwd", {"route_list": f"192.0.2.0/24 {OTHER}"}, f"leads to {OTHER}, not to {RIGHT_HOP}"),
        ("dpdk-l3fwd", {"route_list": "192.0.2.0/24 via 10.0.0.1"}, "resolves none"),
        ("dpdk-l3fwd", {"route_list": "192.0.2.0/24 default 2"}, "output 2"),
    ],
)
def test_what_they_cannot_do_is_refused(program: str, options: dict[str, str], said: str) -> None:
    with pytest.raises(CatalogueError) as refused:
        made(program, options, (1,))
    assert said in str(refused.value)
