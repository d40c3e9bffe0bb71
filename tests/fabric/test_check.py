# SPDX-License-Identifier: Apache-2.0
"""What a technology needs is looked for before anything is touched, and named where it is missing."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from weir import fabric
from weir.fabric import probe
from weir.lab import Lab
from weir.lab.lab import Program
from weir.lab.vm import VmOptions
from weir.technology import TechnologyOptions
from weir.technology.linux_bridge import LinuxBridgeOptions
from weir.technology.ovs import OvsOptions

root = pytest.mark.skipif(os.geteuid() != 0, reason="makes interfaces: run as root")


@pytest.fixture
def as_root(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(probe, "makes_namespaces", lambda: True)
    monkeypatch.setattr(probe, "makes", lambda _kind: True)
    monkeypatch.setattr(probe, "opens_packet_sockets", lambda: True)
    return monkeypatch


def missing(technology: str, options: TechnologyOptions | None = None) -> str:
    refusal = fabric.check(technology, options)
    assert refusal is not None
    return refusal.missing


def test_who_is_not_root_is_told_what_needs_root_and_what_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(fabric.FabricError, match="need root: for network namespaces, hugepages") as refused:
        fabric.require_root()
    assert "`weir validate`, `weir deploy --dry-run`" in str(refused.value)
    assert "need root" in missing("direct")


@pytest.mark.parametrize(
    ("program", "said"),
    [
        (None, "there is no weir-dp at {}; get it by `make native`, or set WEIR_DP"),
        (
            "#!/bin/sh\necho 'built for another processor' >&2; exit 1\n",
            "{} does not start: built for another",
        ),
        ("no program\n", "{} does not start: "),
    ],
    ids=["absent", "refuses", "no program"],
)
def test_who_would_measure_without_a_weir_dp_that_starts_is_told(
    program: str | None, said: str, tmp_path: Path, as_root: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "weir-dp"
    as_root.setenv("WEIR_DP", str(path))
    if program is not None:
        path.write_text(program)
        path.chmod(0o755)
    with pytest.raises(fabric.FabricError) as refused:
        fabric.require_to_measure()
    assert said.format(path) in str(refused.value)
    assert "`make native`" in str(refused.value)


def test_a_polling_switch_and_weir_dp_do_not_share_the_only_core(as_root: pytest.MonkeyPatch) -> None:
    as_root.setattr(os, "sched_getaffinity", lambda _pid: {3})
    assert "fewer than 2 cores" in missing("ovs-dpdk")


def test_root_in_a_container_without_namespaces_is_told(as_root: pytest.MonkeyPatch) -> None:
    as_root.setattr(probe, "makes_namespaces", lambda: False)
    for technology in ("linux-bridge", "ovs", "ovs-dpdk"):
        assert missing(technology) == "root may not make network namespaces here"
    assert fabric.check("direct") is None


@pytest.mark.parametrize(
    ("kind", "technologies"), [("bridge", {"linux-bridge"}), ("veth", {"linux-bridge", "ovs"})]
)
def test_an_interface_that_the_kernel_does_not_make_is_named(
    kind: str, technologies: set[str], as_root: pytest.MonkeyPatch
) -> None:
    as_root.setattr(probe, "makes", lambda asked: asked != kind)
    for technology in technologies:
        assert f"makes no {kind} interfaces" in missing(technology)


def test_the_kernels_datapath_is_only_missed_by_who_asks_for_it(as_root: pytest.MonkeyPatch) -> None:
    as_root.setattr("shutil.which", lambda name: name)
    as_root.setattr(probe, "ovs_datapath", lambda: False)
    assert "no Open vSwitch datapath" in missing("ovs", OvsOptions(datapath="kernel"))
    assert fabric.check("ovs", OvsOptions(datapath="auto")) is None
    as_root.setattr(probe, "ovs_datapath", lambda: True)
    assert fabric.check("ovs", OvsOptions(datapath="kernel")) is None


def test_br_netfilter_is_only_missed_by_who_asks_for_it(as_root: pytest.MonkeyPatch) -> None:
    as_root.setattr(probe, "bridge_netfilter", lambda: False)
    assert "do not pass netfilter here" in missing("linux-bridge", LinuxBridgeOptions(netfilter=True))
    assert fabric.check("linux-bridge", LinuxBridgeOptions()) is None
    as_root.setattr(probe, "bridge_netfilter", lambda: True)
    assert fabric.check("linux-bridge", LinuxBridgeOptions(netfilter=True)) is None


def test_a_program_that_is_not_installed_is_named(as_root: pytest.MonkeyPatch) -> None:
    as_root.setattr("shutil.which", lambda name: None if name == "ovs-vsctl" else name)
    assert missing("ovs-dpdk") == "ovs-vsctl not installed"


@root
def test_a_kind_of_interface_that_no_kernel_has_is_not_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(probe._ARGUMENTS, "no-such-kind", {})
    assert probe.makes_namespaces()
    assert probe.makes("veth")
    assert not probe.makes("no-such-kind")


@root
def test_probing_makes_an_interface_and_leaves_none() -> None:
    before = os.listdir("/sys/class/net")  # noqa: PTH208
    assert probe.makes("veth")
    assert os.listdir("/sys/class/net") == before  # noqa: PTH208


@root
def test_the_offloads_are_the_kernels_own_words() -> None:
    assert probe.veth_offloads().startswith("veth: ")
    assert "tx checksum" in probe.veth_offloads()


@pytest.mark.parametrize(
    ("machine", "missing"),
    [
        (VmOptions(forwarder="kernel"), "no guest image in which kernel forwards"),
        (VmOptions(image="own.qcow2", accel="kvm"), "KVM runs no guest here"),
    ],
)
def test_what_a_virtual_machine_lacks_is_named(
    machine: VmOptions, missing: str, as_root: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    as_root.setenv("XDG_CACHE_HOME", str(tmp_path))
    as_root.setattr("shutil.which", lambda _program: "/usr/bin/there")
    as_root.setattr("weir.fabric.vm.lacking.kvm", lambda _tree: "hangs")
    as_root.setattr("weir.fabric.vm.lacking.TUN", Path("/dev/null"))
    as_root.setattr("weir.fabric.probe.sees_other_users", lambda: True)
    refusal = fabric.check("linux-bridge", machines=[machine])
    assert refusal is not None
    assert missing in refusal.missing


def test_root_that_may_not_find_qemu_again_is_told_the_capability(as_root: pytest.MonkeyPatch) -> None:
    as_root.setattr("shutil.which", lambda _program: "/usr/bin/there")
    as_root.setattr("weir.fabric.vm.lacking.TUN", Path("/dev/null"))
    as_root.setattr("weir.fabric.probe.sees_other_users", lambda: False)
    refusal = fabric.check("linux-bridge", machines=[VmOptions(forwarder="kernel")])
    assert refusal is not None
    assert "hides processes of QEMU's own user" in refusal.missing
    assert "CAP_SYS_PTRACE" in refusal.fix


def test_without_qemu_there_is_no_virtual_machine(as_root: pytest.MonkeyPatch) -> None:
    as_root.setattr("shutil.which", lambda _program: None)
    refusal = fabric.check("linux-bridge", machines=[VmOptions()])
    assert refusal is not None
    assert refusal.fix == "install the Debian package qemu-system-x86"


def test_a_program_that_a_function_starts_and_nobody_installed_is_named(
    as_root: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    as_root.setattr(probe, "makes_namespaces", lambda: True)
    programs = [Program("sh", "edge", "."), Program("nftt", "edge", ".")]
    refusal = fabric.check("linux-bridge", programs=programs)
    assert refusal is not None
    assert refusal.missing == "nftt not installed, which function edge needs"
    refusal = fabric.check("linux-bridge", programs=[Program("./setup", "edge", str(tmp_path))])
    assert refusal is not None
    assert refusal.missing == f"there is no program {tmp_path}/setup, which function edge needs"
    assert fabric.check("linux-bridge", programs=programs[:1]) is None


def test_a_user_whom_a_program_is_to_run_as_and_who_is_not_there_is_named(
    as_root: pytest.MonkeyPatch,
) -> None:
    as_root.setattr(probe, "makes_namespaces", lambda: True)
    programs = {user: function_lab("program", command="sh", user=user) for user in ("nobody", "no-such-user")}
    refusals = [fabric.check("linux-bridge", programs=one.programs("PVP")) for one in programs.values()]
    assert refusals[0] is None
    assert refusals[1] is not None
    assert refusals[1].missing == "there is no user no-such-user, whom function default is to run as"
    assert "program.user" in refusals[1].fix


@pytest.mark.parametrize(("program", "package"), [("ip", "iproute2"), ("nft", "nftables")])
def test_what_weir_itself_starts_for_a_kernel_function_is_named_with_its_package(
    program: str, package: str, as_root: pytest.MonkeyPatch
) -> None:
    as_root.setattr("shutil.which", lambda name: None if name == program else name)
    refusal = fabric.check(
        "linux-bridge", programs=function_lab("kernel", drop_counters=["inet t refused"]).programs("PVP")
    )
    assert refusal is not None
    assert refusal.missing == f"{program} not installed, which function default needs"
    assert refusal.fix == f"install the Debian package {package}"


def test_nft_is_missed_by_functions_with_drop_counters_alone(as_root: pytest.MonkeyPatch) -> None:
    as_root.setattr("shutil.which", lambda name: None if name == "nft" else name)
    assert fabric.check("linux-bridge", programs=function_lab("kernel").programs("PVP")) is None


def function_lab(kind: str, **options: object) -> Lab:
    """Of one function of that kind."""
    text = {"weir": 1, "name": "own", "chain": "PVP", "technology": "linux-bridge"}
    return Lab.model_validate({**text, "functions": {"default": {"kind": kind, kind: options}}})
