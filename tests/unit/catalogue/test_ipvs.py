# SPDX-License-Identifier: Apache-2.0
"""IPVS is set up from the options of lb, and what it does not take is a drop of its own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from weir.catalogue import linux
from weir.fabric.counters import Counter
from weir.fabric.function.counters import ipvs_drops

from .test_linux import ENDS

SERVICES = (
    "203.0.113.10:80/tcp 10.0.0.1:8080, 203.0.113.10:80/tcp 10.0.0.2:8081, 203.0.113.11:53/udp 10.0.0.3:53"
)
# As Linux 6.1 prints it in a network namespace that has seen 300 packets of 3 connections, less than two
# seconds after the last.
STATS = """\
       Total Incoming Outgoing         Incoming         Outgoing
CPU    Conns  Packets  Packets            Bytes            Bytes
  0        1       64       10             1900              400
  1        2       C8        0             3200                0
  ~        3      127       10             49D4              400

     Conns/s   Pkts/s   Pkts/s          Bytes/s          Bytes/s
           0        0        0                0                0
"""
ARRIVED = {"family": "ip", "table": "ipvs_services", "name": "arrived", "packets": 307}


def program(name: str) -> str:
    made = linux("lb", {"services": SERVICES}, ENDS, "ipvs")
    return next(text for words, text in made.programs if words[0] == name and text is not None)


def test_each_service_has_maglevs_hash_of_the_clients_endpoint_and_its_back_ends() -> None:
    assert program("sh").splitlines() == [
        "-A -t 203.0.113.10:80 -s mh -b mh-port",
        "-a -t 203.0.113.10:80 -r 10.0.0.1:8080 -m -w 1",
        "-a -t 203.0.113.10:80 -r 10.0.0.2:8081 -m -w 1",
        "-A -u 203.0.113.11:53 -s mh -b mh-port",
        "-a -u 203.0.113.11:53 -r 10.0.0.3:53 -m -w 1",
    ]


def test_addresses_of_services_are_its_own_and_back_ends_are_behind_the_next_hop() -> None:
    assert program("ip").splitlines() == [
        "link set dev lo up",
        "address replace 203.0.113.10/32 dev lo",
        "address replace 203.0.113.11/32 dev lo",
        "route replace 10.0.0.1/32 via 169.254.2.2 dev right",
        "route replace 10.0.0.2/32 via 169.254.2.2 dev right",
        "route replace 10.0.0.3/32 via 169.254.2.2 dev right",
    ]


def test_time_outs_are_lbs() -> None:
    made = linux("lb", {"services": SERVICES, "tcp_timeout_s": 7, "udp_timeout_s": 9}, ENDS, "ipvs")
    assert made.programs[-1] == (("ipvsadm", "--set", "7", "120", "9"), None)


def test_a_connection_may_begin_with_any_segment_as_it_may_in_lb() -> None:
    """The tester's TCP packets have ACK alone."""
    assert linux("lb", {"services": SERVICES}, ENDS, "ipvs").settings["net.ipv4.vs.sloppy_tcp"] == "1"


def test_nftables_reads_what_it_is_given(tmp_path: Path) -> None:
    (tmp_path / "set").write_text(program("nft"))
    words = ["unshare", "--net", "nft", "--check", "-f", str(tmp_path / "set")]
    if os.geteuid() != 0 or shutil.which("nft") is None:
        pytest.skip("makes a network namespace with nftables: run as root")
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_what_is_no_services_is_dropped_at_its_address_and_elsewhere_if_asked() -> None:
    """A service's own packets, which IPVS has not taken, are told as not scheduled, and not once more."""
    services = "{ 203.0.113.10 . tcp . 80, 203.0.113.11 . udp . 53 }"
    own = f'iifname "left" ip daddr . meta l4proto . th dport {services} drop'
    rest = 'iifname "left" ip daddr { 203.0.113.10, 203.0.113.11 } counter name other drop'
    rules = [line.strip() for line in program("nft").splitlines()]
    at = rules.index(rest)
    assert rules[at - 1] == own
    assert "chain forward" not in program("nft").partition("table ip6")[0]
    made = linux("lb", {"services": SERVICES, "other": "drop"}, ENDS, "ipvs")
    text = next(text for words, text in made.programs if words[0] == "nft" and text is not None)
    assert (
        "ip saddr . meta l4proto . th sport { 203.0.113.10 . tcp . 80, 203.0.113.11 . udp . 53 } accept"
        in text
    )


def test_what_came_to_a_service_and_was_not_taken_is_told() -> None:
    told = ipvs_drops("f1", json.dumps({"nftables": [{"counter": ARRIVED}]}), STATS)
    assert told == Counter("f1/kernel/ipvs", "not_scheduled", "drop", 7)
