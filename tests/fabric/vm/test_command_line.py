# SPDX-License-Identifier: Apache-2.0
"""What QEMU is told."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from weir.fabric.vm.command_line import Files, Opened, command_line

FILES = Files(Path("/run/weir/x-00000000"), "f1")
TAPS = {"f1.left": (11,), "f1.right": (12,), "f1.left.p": (13,), "f1.right.p": (14,)}
BOOT = Opened(10, TAPS, kernel=20, initramfs=21)
OWN = Opened(10, TAPS, image=20, overlay=21, seed=22)
PARAMS: dict[str, Any] = {
    "failover": False,
    "incoming": False,
    "forwarder": "kernel",
    "image": "",
    "image_format": "qcow2",
    "vcpus": 2,
    "memory_mb": 512,
    "hugepages": False,
    "queues": 1,
    "guest_memory_mb": 0,
    "left_mac": "02:57:00:00:01:00",
    "right_mac": "02:57:00:00:01:01",
    "left_next_hop": "02:57:00:00:00:00",
    "right_next_hop": "02:57:00:00:00:01",
    "left_interface": "f1.left",
    "right_interface": "f1.right",
    "left_socket": "",
    "right_socket": "",
    "left_primary": "",
    "right_primary": "",
}
PAIRS: dict[str, Any] = {"failover": True, "left_primary": "f1.left.p", "right_primary": "f1.right.p"}
BY_VHOST_USER: dict[str, Any] = {
    "left_interface": "",
    "left_socket": "guests/l.sock",
    "right_interface": "",
    "right_socket": "guests/r.sock",
}


def said(*, opened: Opened = BOOT, **changed: object) -> str:
    return " ".join(command_line({**PARAMS, **changed}, FILES, opened, "tcg"))


def test_a_host_has_one_port_and_is_told_its_name_and_no_next_hop() -> None:
    port = {"eth0_mac": "02:57:00:00:01:02", "eth0_next_hop": "", "eth0_interface": "f1.left"}
    port |= {"eth0_socket": "", "eth0_primary": ""}
    rest = {key: value for key, value in PARAMS.items() if not key.startswith(("left_", "right_"))}
    line = " ".join(command_line(rest | port | {"node": "blue.2", "forwarder": "host"}, FILES, BOOT, "tcg"))
    assert line.count("-device virtio-net-pci,") == 1
    assert "tap,id=eth0,fd=11,vhost=off" in line
    assert "netdev=eth0,mac=02:57:00:00:01:02,addr=0x10," in line
    assert "weir.eth0=02:57:00:00:01:02 weir.hostname=blue-2" in line
    assert "next_hop" not in line


def test_ports_are_taps_at_fixed_places_without_offloads() -> None:
    line = said()
    assert "tap,id=left,fd=11,vhost=off" in line
    assert "netdev=right,mac=02:57:00:00:01:01,addr=0x11," in line
    assert line.count("guest_tso4=off") == 2
    assert "mq=on" not in line


def test_the_guests_channel_is_there_once_the_monitor_listens() -> None:
    line = said(**BY_VHOST_USER)
    sockets = ("id=channel,", "id=monitor,", "id=chardev-left,")
    assert [line.index(name) for name in sockets] == sorted(line.index(name) for name in sockets)


def test_the_kernel_takes_a_tap_where_it_can() -> None:
    line = said(opened=replace(BOOT, vhosts={"f1.left": (31,), "f1.right": (32,)}))
    assert "tap,id=left,fd=11,vhost=on,vhostfd=31" in line
    assert "tap,id=right,fd=12,vhost=on,vhostfd=32" in line


def test_vhost_user_ports_listen_where_qemu_is_started_and_share_memory() -> None:
    line = said(**BY_VHOST_USER)
    assert "socket,id=chardev-left,path=l.sock,server=on" in line
    assert "share=on" in line
    assert "tx_queue_size=1024" in line
    assert line.count("vectors=0") == 2


def test_several_queues_are_several_at_both_ends() -> None:
    queues = {"f1.left": (11, 12, 13, 14), "f1.right": (15, 16, 17, 18)}
    line = said(opened=replace(BOOT, taps=queues, vhosts={"f1.left": (21, 22, 23, 24)}), queues=4)
    assert "tap,id=left,fds=11:12:13:14,vhost=on,vhostfds=21:22:23:24" in line
    assert "tap,id=right,fds=15:16:17:18,vhost=off" in line
    assert line.count("mq=on,vectors=10") == 2


@pytest.mark.parametrize(("wanted", "there"), [(True, True), (False, False)])
def test_hugepages_only_where_asked_for(wanted: bool, there: bool) -> None:
    assert ("hugetlb=on" in said(hugepages=wanted)) is there


def test_a_guests_weir_dp_leaves_the_first_cpu_and_has_its_hugepages() -> None:
    line = said(forwarder="weir-dp", guest_memory_mb=96)
    assert "hugepages=48 weir.memory_mb=96 weir.cores=1" in line


def test_an_image_of_the_users_boots_from_an_overlay_with_a_seed() -> None:
    line = said(opened=OWN, forwarder="", image="/images/own.qcow2")
    assert "-kernel" not in line
    assert '-add-fd fd=21,set=21 -blockdev {"driver": "qcow2", "node-name": "disk"' in line
    assert '"filename": "/dev/fdset/21"}, "backing": "origin"}' in line
    assert '"filename": "/dev/fdset/20", "read-only": true}, "backing": null}' in line
    assert "dir=/dev/fd/22,label=cidata,read-only=on" in line
    assert "drive=disk,bootindex=0,werror=stop" in line


def test_a_kernel_is_booted_by_its_descriptor() -> None:
    assert "-kernel /dev/fd/20 -initrd /dev/fd/21 -append" in said()


def test_no_path_of_the_hosts_is_named() -> None:
    for line in (said(), said(**BY_VHOST_USER), said(opened=OWN, forwarder="", image="/images/own.qcow2")):
        assert [
            word for word in re.findall(r"(?<![\w.])/[\w./-]+", line) if not word.startswith("/dev/fd")
        ] == []


def test_the_console_goes_to_the_pipe_that_qemu_got() -> None:
    line = said()
    assert "-add-fd fd=10,set=10 -chardev file,id=console,path=/dev/fdset/10,append=on" in line
    assert "-serial chardev:console" in line


def test_qemu_gets_all_descriptors_that_it_is_told_of_and_no_other() -> None:
    assert sorted(OWN.numbers()) == [10, 11, 12, 13, 14, 20, 21, 22]


def test_a_raw_image_is_never_taken_for_another_format() -> None:
    line = said(opened=OWN, forwarder="", image="/images/own.raw", image_format="raw")
    assert '"driver": "raw", "node-name": "origin", "read-only": true' in line
    assert '"backing": null' not in line


def test_qemu_may_start_nothing_and_become_nobody_else() -> None:
    assert "-sandbox on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny" in said()


def test_a_primary_is_a_card_of_its_own_in_an_express_slot_with_its_stand_bys_address() -> None:
    line = said(**PAIRS)
    assert "-machine q35," in line
    assert "id=standby-left,failover=on" in line
    assert "tap,id=tap-primary-left,fd=13,vhost=off" in line
    assert (
        "vmxnet3,id=primary-left,netdev=tap-primary-left,bus=slot-left,mac=02:57:00:00:01:00,"
        "failover_pair_id=standby-left" in line
    )
    assert "pcie-root-port,id=slot-left,bus=pcie.0,addr=0x1,chassis=1" in line
    assert "pcie-root-port,id=slot-right,bus=pcie.0,addr=0x2,chassis=2" in line


def test_a_machine_that_nobody_migrates_has_neither_pairs_nor_slots() -> None:
    line = said()
    assert "failover" not in line
    assert "pcie-root-port" not in line
    assert "-incoming" not in line


def test_the_second_qemu_waits_for_a_guest_and_is_otherwise_the_same_machine() -> None:
    assert said(**PAIRS, incoming=True) == said(**PAIRS) + " -incoming defer"
