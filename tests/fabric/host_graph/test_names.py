# SPDX-License-Identifier: Apache-2.0
"""What others call their processes, and what they have beside each other, misleads nobody who looks."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time

import pytest

from weir.fabric.host_graph import switches
from weir.fabric.host_graph.namespaces import command
from weir.results.host_graph import SwitchBridge, SwitchPort

NAMED = """
import sys, time
open("/proc/self/comm", "wb").write(bytes.fromhex(sys.argv[1]))
print("named", flush=True)
time.sleep(60)
"""


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        (b"\x1b[31mred\n", "red"),
        ("fourteen-byte\u00e9".encode()[:14], "fourteen-byte\ufffd"),  # cut within a character
        (b"\x07", "?"),
    ],
    ids=["controls", "cut", "nothing"],
)
def test_a_processs_name_is_shown_without_what_steers_a_terminal(name: bytes, shown: str) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", NAMED, name.hex()], stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "named\n"
            assert command(process.pid) == shown
        finally:
            process.kill()


def bridge(database: str, *ports: SwitchPort) -> SwitchBridge:
    return SwitchBridge(
        id=f"{database}/br-tun",
        name="br-tun",
        database=database,
        namespace=None,
        datapath="netdev",
        ports=list(ports),
    )


def tunnel(local: str, remote: str, kind: str = "vxlan") -> SwitchPort:
    options = {"local_ip": local, "remote_ip": remote}
    return SwitchPort(name=f"to-{remote}", type=kind, tag=None, interface=None, options=options)


ONE, OTHER = "172.16.0.1", "172.16.0.2"


def test_a_tunnel_joins_the_bridges_at_its_ends() -> None:
    found = switches.joins([bridge("a", tunnel(ONE, OTHER)), bridge("b", tunnel(OTHER, ONE))])
    assert [(one.kind, one.ends) for one in found] == [("tunnel", ("a/br-tun", "b/br-tun"))]


def test_tunnels_of_clouds_with_the_same_addresses_are_not_joined_by_guess() -> None:
    clouds = [bridge(name, tunnel(ONE, OTHER)) for name in ("a", "c")]
    clouds += [bridge(name, tunnel(OTHER, ONE)) for name in ("b", "d")]
    assert list(switches.joins(clouds)) == []


def test_the_key_of_a_tunnel_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    options = {"remote_ip": OTHER, "psk": "secret-of-theirs"}
    tables = {
        "Interface": [{"_uuid": "i", "name": "tun0", "type": "vxlan", "options": options}],
        "Port": [{"_uuid": "p", "tag": [], "interfaces": "i"}],
        "Bridge": [{"name": "br-tun", "datapath_type": "", "ports": "p"}],
    }
    monkeypatch.setattr(switches, "_table", lambda _database, name: tables[name])
    (found,) = switches._bridges("a", None)
    assert found.ports[0].options == {"remote_ip": OTHER, "psk": "(not shown)"}


def test_names_in_a_database_do_not_steer_the_terminal_of_who_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Any user's process may call itself a database."""
    shown = {
        "headings": ["_uuid", "name", "type", "options"],
        "data": [[["uuid", "i"], "\x1b[31mp0", "patch", ["map", [["peer", "\x1b]0;owned\x07p1"]]]]],
    }
    said = subprocess.CompletedProcess([], 0, stdout=json.dumps(shown), stderr="")
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: said)
    (row,) = switches._table("a", "Interface")
    assert row == {"_uuid": "i", "name": "p0", "type": "patch", "options": {"peer": "0;ownedp1"}}


def test_silent_databases_do_not_keep_who_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many as somebody likes to start."""
    now_s = 0.0

    def silent(*_: object) -> None:
        nonlocal now_s
        now_s += 10.0
        raise subprocess.TimeoutExpired("ovs-vsctl", 10)

    monkeypatch.setattr(switches, "_processes", lambda: ({f"/tmp/{n}": None for n in range(50)}, {}))
    monkeypatch.setattr(switches, "_table", silent)
    monkeypatch.setattr(shutil, "which", lambda _: "/usr/bin/ovs-vsctl")
    monkeypatch.setattr(time, "monotonic", lambda: now_s)
    found, unseen = switches.read_switches([])
    assert found == []
    assert now_s <= 30.0
    assert len([one for one in unseen if "not asked" in one]) >= 47
