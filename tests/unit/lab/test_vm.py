# SPDX-License-Identifier: Apache-2.0
"""Functions in virtual machines: what is accepted, and what is refused with its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.qcow2_image import write_qcow2
from weir.base.error import FabricError
from weir.fabric.vm import disk
from weir.lab import LabFileError, load_lab

from .lab_text import load, problem, problems

BRIDGE = "weir: 1\nname: small\nchain: PVP\ntechnology: [linux-bridge]\n"


def function(text: str) -> str:
    return BRIDGE + f"functions:\n  default: {{{text}}}\n"


@pytest.mark.parametrize(
    ("text", "forwarder"),
    [
        ("kind: vm, nf: l2fwd", "weir-dp"),
        ("kind: vm, nf: nat, options: {external: 203.0.113.0/24}, vm: {vcpus: 4}, cores: [1, 0]", "weir-dp"),
        ("kind: vm, vm: {forwarder: kernel, queues: 4, vcpus: 4, hugepages: true}", "kernel"),
    ],
)
def test_a_virtual_machine_can_be_asked_for(text: str, forwarder: str) -> None:
    assert load(function(text)).functions["default"].forwards_by() == forwarder


@pytest.mark.parametrize(
    ("text", "key", "expected"),
    [
        ("kind: vn, nf: l2fwd", "functions.default.kind", "process, vm"),
        ("kind: vm", "functions.default", "nf: one"),
        ("nf: l2fwd, vm: {vcpus: 2}", "functions.default.vm", "kind: vm"),
        ("kind: vm, nf: l2fwd, vm: {forwarder: kernel}", "functions.default.nf", "forwarder: weir-dp"),
        ("kind: vm, vm: {forwarder: kernel}, cores: [0, 1]", "functions.default.cores", "at most 1"),
        ("kind: vm, vm: {forwarder: kernal}", "functions.default.vm.forwarder", "weir-dp, kernel"),
        ("kind: vm, nf: l2fwd, vm: {queues: 2}", "functions.default.vm.queues", "forwarder: kernel"),
        (
            "kind: vm, vm: {forwarder: kernel, user_data: lab.yml}",
            "functions.default.vm.user_data",
            "image: a disk image",
        ),
        (
            "kind: vm, vm: {forwarder: kernel, image: lab.yml, image_format: raw}",
            "functions.default.vm.image",
            "one of forwarder and image",
        ),
        ("kind: vm, vm: {image: none.qcow2}", "functions.default.vm.image", "a file; relative ones"),
        ("kind: vm, nf: l2fwd, vm: {memory_mb: 64}", "functions.default.vm.memory_mb", "from 128"),
    ],
)
def test_an_impossible_one_is_refused_where_it_is(text: str, key: str, expected: str) -> None:
    found = problem(function(text))
    assert found.key == key
    assert expected in (found.expected or "")


@pytest.mark.parametrize("technology", ["direct", "ovs", "sr-iov"])
def test_technologies_that_join_no_virtual_machines_say_which_do(technology: str) -> None:
    found = problem(function("kind: vm, nf: l2fwd").replace("linux-bridge", technology))
    assert (found.key, found.expected) == ("technology[0]", "one of linux-bridge, ovs-dpdk")


def test_one_that_no_chain_names_is_no_reason_to_refuse() -> None:
    text = function("nf: l2fwd").replace("linux-bridge", "direct") + "  other: {kind: vm, nf: l2fwd}\n"
    assert not problems(text)


def test_files_of_an_image_are_looked_for_beside_the_lab(tmp_path: Path) -> None:
    write_qcow2(tmp_path / "router.qcow2")
    (tmp_path / "user-data.yml").touch()
    text = function("kind: vm, vm: {image: router.qcow2, user_data: user-data.yml}")
    (tmp_path / "lab.yml").write_text(text)
    machine = load_lab(tmp_path / "lab.yml").functions["default"].machine()
    assert machine is not None
    assert (machine.image, machine.user_data) == (
        str(tmp_path / "router.qcow2"),
        str(tmp_path / "user-data.yml"),
    )


def test_an_image_that_is_none_is_refused_where_it_is_and_in_the_words_of_who_builds_it(
    tmp_path: Path,
) -> None:
    lab, image = tmp_path / "lab.yml", tmp_path / "fake.qcow2"
    image.write_bytes(b"x")
    for text in ("vm: {image: fake.qcow2}", "vm: {image: fake.qcow2, image_format: qcow2}"):
        lab.write_text(function(f"kind: vm, {text}"))
        with pytest.raises(FabricError) as built:
            disk.checked(image, "qcow2")
        with pytest.raises(LabFileError) as refused:
            load_lab(lab)
        (found,) = refused.value.problems
        assert (found.key, f"vm.image {found.message}") == ("functions.default.vm.image", str(built.value))
    write_qcow2(image, backing_at=200)
    with pytest.raises(LabFileError, match="names a backing file, which QEMU would open too; make an image"):
        load_lab(lab)
    lab.write_text(function("kind: vm, vm: {image: fake.qcow2, image_format: raw}"))
    load_lab(lab)
