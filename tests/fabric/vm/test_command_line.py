# SPDX-License-Identifier: Apache-2.0
"""What QEMU is told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from weir.fabric.vm.command_line import Boot, Files, command_line

FILES = Files(Path("/run/weir/x-00000000"), "f1")
BOOT = Boot(Path("/images/vmlinuz"), Path("/images/initramfs"))
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
    "left_socket": "l.sock",
    "right_interface": "",
    "right_socket": "r.sock",
}


def said(*, boot: Boot | None = BOOT, vhost: bool = False, **changed: object) -> str:
    return " ".join(command_line({**PARAMS, **changed}, FILES, boot, "tcg", vhost=vhost))


def test_ports_are_taps_at_fixed_places_without_offloads() -> None:
    line = said()
    assert "tap,id=left,ifname=f1.left,script=no,downscript=no,vhost=off" in line
    assert "netdev=right,mac=02:57:00:00:01:01,addr=0x11," in line
    assert line.count("guest_tso4=off") == 2
    assert "mq=on" not in line


def test_the_guests_channel_is_there_once_the_monitor_listens() -> None:
    line = said(**BY_VHOST_USER)
    sockets = ("id=channel,", "id=monitor,", "id=chardev-left,")
    assert [line.index(name) for name in sockets] == sorted(line.index(name) for name in sockets)


def test_the_kernel_takes_a_tap_where_it_can() -> None:
    assert "vhost=on" in said(vhost=True)


def test_vhost_user_ports_listen_in_the_run_directory_and_share_memory() -> None:
    line = said(**BY_VHOST_USER)
    assert "socket,id=chardev-left,path=/run/weir/x-00000000/l.sock,server=on" in line
    assert "share=on" in line
    assert "tx_queue_size=1024" in line
    assert line.count("vectors=0") == 2


def test_several_queues_are_several_at_both_ends() -> None:
    line = said(queues=4)
    assert line.count("vhost=off,queues=4") == 2
    assert line.count("mq=on,vectors=10") == 2


@pytest.mark.parametrize(("wanted", "there"), [(True, True), (False, False)])
def test_hugepages_only_where_asked_for(wanted: bool, there: bool) -> None:
    assert ("hugetlb=on" in said(hugepages=wanted)) is there


def test_a_guests_weir_dp_leaves_the_first_cpu_and_has_its_hugepages() -> None:
    line = said(forwarder="weir-dp", guest_memory_mb=96)
    assert "hugepages=48 weir.memory_mb=96 weir.cores=1" in line


def test_an_image_of_the_users_boots_from_an_overlay_with_a_seed() -> None:
    line = said(boot=None, forwarder="", image="/images/own.qcow2")
    assert "-kernel" not in line
    assert '"filename": "/run/weir/x-00000000/f1.qcow2"}, "backing": "origin"}' in line
    assert '"filename": "/images/own.qcow2", "read-only": true}, "backing": null}' in line
    assert "dir=/run/weir/x-00000000/f1.seed,label=cidata,read-only=on" in line


def test_a_raw_image_is_never_taken_for_another_format() -> None:
    line = said(boot=None, forwarder="", image="/images/own.raw", image_format="raw")
    assert '"driver": "raw", "node-name": "origin", "read-only": true' in line
    assert '"backing": null' not in line


def test_qemu_may_start_nothing_and_become_nobody_else() -> None:
    assert "-sandbox on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny" in said()


def test_a_primary_is_a_card_of_its_own_in_an_express_slot_with_its_stand_bys_address() -> None:
    line = said(**PAIRS)
    assert "-machine q35," in line
    assert "id=standby-left,failover=on" in line
    assert "tap,id=tap-primary-left,ifname=f1.left.p," in line
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
