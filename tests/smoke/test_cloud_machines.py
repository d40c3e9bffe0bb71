# SPDX-License-Identifier: Apache-2.0
"""A tenant's instance that is a virtual machine, booted under emulation: it gets its address by DHCP, talks
as any instance does, is filtered at its tap, and goes with its cloud."""

from __future__ import annotations

import json
import re
import secrets
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from weir import fabric
from weir.base.cloud import OUTSIDE
from weir.base.error import FabricError
from weir.fabric.cloud.guest import Done, ended, run_in_guest
from weir.fabric.cloud.guest_leases import leased
from weir.fabric.host_graph import read
from weir.fabric.host_graph.differences import differences
from weir.fabric.host_graph.intended import of_steps
from weir.fabric.vm.lacking import guest_lacking
from weir.fabric.vm.storage import root as guests_root

from .clouds import CLOSED, FILTERED, NEEDS_CLOUDS, OPEN, StandingCloud, planned, standing
from .killed import kill, survived
from .surroundings import Surroundings
from .test_vm import BOOT_SECTOR

pytestmark = NEEDS_CLOUDS
NAMESPACE, MACHINE = "blue.1", "blue.2"
SMALL = {"accel": "tcg", "memory_mb": 128}
NOT_SPOOFED, SPOOFED = 5, 3
"""Echo requests."""


def text(security: str, **vm: object) -> str:
    ingress = [{"protocol": "icmp"}, {"protocol": "tcp", "ports": [OPEN, OPEN]}]
    blue = {"name": "blue", "instances": 2, "floating": 2, "ingress": ingress}
    blue["vm"] = {"instances": 1, **SMALL, **vm}
    cloud = {"security": security}
    return json.dumps({"weir": 1, "name": "cloud", "cloud": cloud, "tenants": [blue]})


def require_guests(role: str) -> None:
    missing = guest_lacking(role, "tcg", taps=True)
    if missing is not None:
        pytest.skip(": ".join(missing))


@pytest.fixture(scope="module", params=FILTERED)
def cloud(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[StandingCloud]:
    require_guests("host")
    with pytest.MonkeyPatch.context() as patch:
        guests = tmp_path_factory.mktemp("guests")
        patch.setenv("WEIR_GUEST_DIR", str(guests))
        run_dir = Path("/tmp") / f"wk{secrets.token_hex(4)}"  # sockets have short names
        run_dir.mkdir(mode=0o711)
        with standing(text(request.param), run_dir=run_dir) as made:
            yield made
        assert [*guests.iterdir()] == []
        assert [*run_dir.iterdir()] == []
        run_dir.rmdir()


def inside(cloud: StandingCloud, *argv: str) -> Done:
    return run_in_guest(cloud.deployment, cloud.instance(MACHINE), argv)


def pings(cloud: StandingCloud, *words: str) -> Done:
    return inside(cloud, "ping", "-W", "2", *words)


@pytest.mark.slow
def test_it_has_the_address_that_its_networks_server_gave_to_its_mac(cloud: StandingCloud) -> None:
    own = cloud.instance(MACHINE)
    assert f"{own.mac} {own.address}" in leased(cloud.deployment.run_dir / "dhcp-blue.leases")
    shown = inside(cloud, "ip", "address", "show", "eth0").out.decode()
    assert own.mac in shown
    assert f"inet {own.address}/24" in shown
    assert " mtu 1500 " in shown


@pytest.mark.slow
def test_instances_the_router_and_the_outside_reach_it_and_it_them(cloud: StandingCloud) -> None:
    own = cloud.instance(MACHINE)
    assert own.floating is not None
    assert cloud.pings(NAMESPACE, own.address)
    assert cloud.pings("blue.router", own.address)
    assert cloud.pings(OUTSIDE, own.floating)
    for to in (cloud.instance(NAMESPACE).address, "10.0.0.1", cloud.topology.outside):
        assert pings(cloud, "-c", "1", to).code == 0


@pytest.mark.slow
def test_a_server_in_it_is_reached_by_its_open_port_and_what_is_closed_is_counted(
    cloud: StandingCloud,
) -> None:
    own = cloud.instance(MACHINE)
    assert own.floating is not None
    answered = secrets.token_hex(1000)
    serve = f"for port in {OPEN} {CLOSED}; do (echo {answered} | nc -l -p $port) >/dev/null 2>&1 & done"
    assert inside(cloud, "sh", "-c", serve).code == 0
    refused = cloud.dropped(MACHINE, "security_group")
    with cloud.stack(OUTSIDE, socket.SOCK_STREAM) as client:
        client.settimeout(10)
        client.connect((own.floating, OPEN))
        with client.makefile("r") as got:
            assert got.read().strip() == answered
    with cloud.stack(OUTSIDE, socket.SOCK_STREAM) as client, pytest.raises(TimeoutError):
        client.connect((own.floating, CLOSED))
    assert cloud.dropped(MACHINE, "security_group") > refused


@pytest.mark.slow
def test_what_it_sends_from_another_address_is_dropped_at_its_tap_and_counted(cloud: StandingCloud) -> None:
    at_first = {reason: cloud.dropped(MACHINE, reason) for reason in ("spoofed_ip", "spoofed_mac")}
    assert pings(cloud, "-c", str(NOT_SPOOFED), "10.0.0.1").code == 0
    assert {reason: cloud.dropped(MACHINE, reason) for reason in at_first} == at_first
    assert inside(cloud, "ip", "address", "add", "10.0.0.99/32", "dev", "eth0").code == 0
    assert pings(cloud, "-c", str(SPOOFED), "-I", "10.0.0.99", "10.0.0.1").code == 1
    cloud.dropped_becomes(MACHINE, "spoofed_ip", at_first["spoofed_ip"] + SPOOFED)
    own = cloud.instance(MACHINE).mac
    change = "ip link set eth0 address {}; ping -c 1 -W 1 10.0.0.1; ip link set eth0 address {}"
    inside(cloud, "sh", "-c", change.format("02:57:00:00:00:99", own))
    assert cloud.dropped(MACHINE, "spoofed_mac") > at_first["spoofed_mac"]


@pytest.mark.slow
def test_its_metadata_address_is_refused(cloud: StandingCloud) -> None:
    asked = inside(cloud, "nc", "-w", "3", "169.254.169.254", "80")
    assert asked.code != 0
    assert "Connection refused" in asked.errors.decode()


@pytest.mark.slow
def test_the_graph_has_the_machine_behind_its_tap_and_no_difference(cloud: StandingCloud) -> None:
    graph = read(0, None)
    intended = of_steps(cloud.deployment.steps())
    assert [one.said for one in differences(intended, graph, cloud.deployment.run_dir)] == []
    node = next(one for one in graph.namespaces if one.name == cloud.topology.namespace("compute1"))
    holder = {one.name: one.holder for one in node.interfaces}["tap1.2"]
    assert re.fullmatch(r"qemu-system-x86 blue\.2 \(\d+\)", holder or "")


@pytest.mark.slow
def test_what_a_command_says_and_its_exit_code_come_out_whole(cloud: StandingCloud) -> None:
    done = inside(cloud, "sh", "-c", 'seq 20000; echo "it\'s said" >&2; exit 7')
    assert (done.code, done.errors.decode()) == (7, "it's said\n")
    assert done.out.decode().split() == [str(number) for number in range(1, 20001)]
    assert inside(cloud, "nowhere").code == 127


@pytest.fixture
def surroundings(run_root: Path) -> Iterator[Surroundings]:
    made = Surroundings(run_root, "cloud", secrets.token_hex(4))
    yield made
    made.remove()


@pytest.mark.slow
def test_one_that_was_switched_off_is_told_with_its_last_words(run_root: Path) -> None:
    require_guests("host")
    with standing(text("none")) as cloud:
        assert ended(cloud.deployment, cloud.topology) == {}
        with pytest.raises(FabricError, match="has ended"):
            inside(cloud, "sh", "-c", "echo good night >/dev/console; poweroff -f")
        until = time.monotonic() + 10
        while not (told := ended(cloud.deployment, cloud.topology)) and time.monotonic() < until:
            time.sleep(0.05)  # its sockets are closed before it is gone
    assert [*told] == [MACHINE]
    assert "good night" in told[MACHINE]
    assert [*run_root.iterdir()] == []


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["tap", "guests", "vm", "vm-ready", "guest-leases"])
def test_killed_in_the_last_step_of_a_kind_it_leaves_nothing(kind: str, surroundings: Surroundings) -> None:
    require_guests("host")
    (token,) = surroundings.tokens
    steps, topology = planned(text("bridge-filter"), token)
    last = [step.name for step in steps if step.kind == kind][-1]

    def on_event(event: fabric.Event) -> None:
        if (event.step.name, event.state) == (last, "done"):
            kill()

    assert not survived(lambda: fabric.Deployment.deploy(steps, topology, on_event))
    assert fabric.clean_leftovers() == [topology.deployment]
    surroundings.check(kind)
    assert [*guests_root().iterdir()] == []


@pytest.mark.long
def test_an_image_that_asks_for_no_address_is_told_with_its_last_words_and_nothing_stays(
    run_root: Path, tmp_path: Path
) -> None:
    require_guests("")
    image = tmp_path / "own.raw"
    image.write_bytes(BOOT_SECTOR.ljust(510, b"\0") + b"\x55\xaa" + bytes(1 << 20))
    own = {"image": str(image), "image_format": "raw", "boot_time_limit_s": 15}
    said = r"blue\.2 has got no address by DHCP within 15 s: .*console: login:"
    with pytest.raises(FabricError, match=said), standing(text("bridge-filter", **own)):
        pass
    assert [*run_root.iterdir()] == []
