# SPDX-License-Identifier: Apache-2.0
"""Programs that others wrote talk through a chain, where they are installed."""

from __future__ import annotations

import hashlib
import json
import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from weir.base.topology import Topology
from weir.fabric import namespace

from . import host_traffic
from .test_end_hosts import FUNCTIONS, forwarding, lab_of, topology_of

pytestmark = [
    pytest.mark.root,
    pytest.mark.slow,
    pytest.mark.skipif(os.geteuid() != 0, reason="makes namespaces and processes: run as root"),
]

FILE_BYTES = 20_000_000


def started(netns: str, argv: Sequence[str]) -> subprocess.Popen[bytes]:
    with namespace.inside(netns):
        return subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)


def needed(program: str) -> str:
    found = shutil.which(program)
    if found is None:
        pytest.skip(f"{program} is not installed")
    return found


def bracketed(address: str) -> str:
    return f"[{address}]" if ":" in address else address


@pytest.mark.parametrize("technology", ["direct", "linux-bridge", "ovs", "ovs-dpdk"])
@pytest.mark.usefixtures("run_root")
def test_curl_gets_a_file_as_it_was(technology: str, tmp_path: Path) -> None:
    lab = lab_of(technology, {"l3fwd": FUNCTIONS["l3fwd"]})
    topology = topology_of(lab)
    with forwarding(lab, topology):
        for pair in host_traffic.pairs(topology):
            curl_gets_a_file(pair, pair.to_right, tmp_path)


def curl_gets_a_file(pair: host_traffic.Pair, server: str, folder: Path) -> None:
    """A large one, byte by byte."""
    curl = needed("curl")
    data = random.Random(FILE_BYTES).randbytes(FILE_BYTES)
    (folder / "file").write_bytes(data)
    words = [sys.executable, "-m", "http.server", "80", "--bind", server, "--directory", str(folder)]
    url = f"http://{bracketed(pair.to_right)}/file"
    with serving(pair.right, words):
        got, _ = started(
            pair.left, [curl, "-sS", "-g", "--retry", "20", "--retry-connrefused", url]
        ).communicate()
    assert hashlib.sha256(got).digest() == hashlib.sha256(data).digest()


@contextmanager
def serving(netns: str, argv: Sequence[str]) -> Iterator[None]:
    """While it runs in that host; its own last words are a failing test's."""
    with namespace.inside(netns):
        server = subprocess.Popen(
            argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        )
    try:
        yield
    finally:
        server.terminate()
        server.communicate()


def said(netns: str, argv: Sequence[str], *, in_vain: str | None = None) -> str:
    """What a program that must succeed prints in that host; asked again while its server begins. `in_vain`:
    what it prints where it did not succeed, whatever its exit code."""
    end = time.monotonic() + host_traffic.PATIENCE_S
    while True:
        with namespace.inside(netns):
            done = subprocess.run(
                argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=120
            )
        if done.returncode == 0 and (in_vain is None or in_vain not in done.stdout):
            return done.stdout
        if time.monotonic() > end:
            pytest.fail(f"{' '.join(argv)}: exit code {done.returncode}\n{done.stdout}\n{done.stderr}")
        time.sleep(0.2)


def own_address(topology: Topology, pair: host_traffic.Pair) -> str:
    """The left host's, of that version of IP, whatever it is translated to."""
    return _address(topology, 0, pair)


def _address(topology: Topology, host: int, pair: host_traffic.Pair) -> str:
    six = ":" in pair.to_right
    return next(one for one in topology.end_hosts[host].addresses if (":" in one) == six)


def pings_of_every_size_are_answered(pair: host_traffic.Pair) -> None:
    """Whole up to the MTU, above it in fragments; at the bounds between one fragment and more, too."""
    largest = 1500 - (48 if ":" in pair.to_right else 28)
    for size in (0, 1, 18, 56, 1000, largest - 1, largest):
        ping(pair, size, "do")
    for size in (largest, largest + 1, largest + 8, 2 * largest, 8000, 60000):
        ping(pair, size, "dont")


def ping(pair: host_traffic.Pair, size: int, fragmenting: str) -> None:
    words = [needed("ping"), "-c", "2", "-i", "0.2", "-W", "5", "-M", fragmenting, "-s", str(size)]
    assert " 0% packet loss" in said(pair.left, [*words, pair.to_right]), (size, fragmenting)


def traceroute_ends_at_the_other_host(pair: host_traffic.Pair) -> None:
    words = [needed("traceroute"), "-n", "-q", "1", "-w", "5", "-m", "4", pair.to_right]
    assert said(pair.left, words).splitlines()[-1].split()[1] == pair.to_right


def names_are_asked_for(pair: host_traffic.Pair, server: str) -> None:
    """By UDP and by TCP; a long answer comes in fragments."""
    dig = needed("dig")
    long = [f"--txt-record=long.weir.example,{','.join(chr(97 + n) * 250 for n in range(12))}"]
    words = [needed("dnsmasq"), "--no-daemon", "--conf-file=/dev/null", "--no-resolv", "--no-hosts"]
    words += ["--bind-interfaces", f"--listen-address={server}", "--user=root", "--pid-file="]
    words += ["--address=/weir.example/192.0.2.7", "--edns-packet-max=4096"]
    with serving(pair.right, [*words, *long]):
        ask = [dig, f"@{pair.to_right}", "+time=5", "+tries=3", "+short"]
        assert said(pair.left, [*ask, "a.weir.example", "A"]).split() == ["192.0.2.7"]
        assert said(pair.left, [*ask, "+tcp", "b.weir.example", "A"]).split() == ["192.0.2.7"]
        told = said(pair.left, [*ask, "+bufsize=4096", "+ignore", "long.weir.example", "TXT"])
        assert told.count('"') == 24


def iperf3_measures_both_ways(pair: host_traffic.Pair, server: str) -> None:
    iperf3 = needed("iperf3")
    with serving(pair.right, [iperf3, "-s", "-B", server]):
        for more in ([], ["-R"], ["-u", "-b", "2M", "-l", "1200"], ["-u", "-b", "2M", "-l", "4000", "-R"]):
            words = [iperf3, "-c", pair.to_right, "-t", "1", "-J", *more]
            ended = json.loads(said(pair.left, words, in_vain='"error"'))["end"]
            received = ended["sum"] if "-u" in more else ended["sum_received"]
            assert received["bytes"] > 0, more


def calls_are_made(pair: host_traffic.Pair, own: str, server: str, folder: Path) -> None:
    """Each with INVITE, 180, 200, ACK, BYE and 200; SIPp's exit code is 0 where all were."""
    sipp = needed("sipp")
    answering = [sipp, "-sn", "uas", "-i", bracketed(server), "-p", "5060", "-nostdin"]
    caller = [sipp, "-sn", "uac", "-i", bracketed(own), "-p", "5070", "-m", "20", "-r", "20", "-nostdin"]
    caller += ["-timeout", "60", "-timeout_error", f"{bracketed(pair.to_right)}:5060"]
    with serving(pair.right, answering):
        time.sleep(1)
        said(pair.left, ["env", "TERM=dumb", f"--chdir={folder}", *caller])


VIRTUAL = "203.0.113.10"
SERVICES = ((80, "tcp"), (53, "tcp"), (53, "udp"), (5201, "tcp"), (5201, "udp"), (5060, "udp"))
"""Of curl, dig, iperf3 and SIPp."""
BALANCED = ", ".join(f"{VIRTUAL}:{port}/{kind} 198.19.0.1:{port}" for port, kind in SERVICES)
EVERY: dict[str, dict[str, Any]] = {
    **FUNCTIONS,
    "lb": {"nf": "lb", "options": {"services": BALANCED, "ipv6": "forward"}},
    "linux": {"kind": "kernel"},
    "linux-lb": {"kind": "kernel", "nf": "lb", "options": {"services": BALANCED, "ipv6": "forward"}},
}
"""Linux in the place of two of them beside."""


@pytest.mark.parametrize("function", EVERY)
@pytest.mark.usefixtures("run_root")
def test_programs_of_others_talk_through_each_function(function: str, tmp_path: Path) -> None:
    ends = {"left": {"to_address": VIRTUAL}} if function.endswith("lb") else {}
    topology = topology_of(lab := lab_of("linux-bridge", {function: EVERY[function]}, **ends))
    with forwarding(lab, topology):
        for pair in host_traffic.pairs(topology):
            server = _address(topology, 1, pair)
            # A service has ports alone: pings are answered by the host itself.
            host = replace(pair, to_right=server)
            pings_of_every_size_are_answered(host)
            traceroute_ends_at_the_other_host(host)
            curl_gets_a_file(pair, server, tmp_path)
            names_are_asked_for(pair, server)
            iperf3_measures_both_ways(pair, server)
            calls_are_made(pair, own_address(topology, pair), server, tmp_path)
