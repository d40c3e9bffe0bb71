# SPDX-License-Identifier: Apache-2.0
"""What the doctor says of machines that are not this one, of ones that fail it, and of this one."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import time
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests.weir_command import WEIR
from weir.cli.doctor import EXIT_CODES
from weir.fabric.host.guest import TIMEOUT_S, kvm
from weir.fabric.host.reading import facts
from weir.fabric.host.tree import Tree
from weir.host.checks import diagnose
from weir.host.diagnosis import Diagnosis, Finding, schema
from weir.host.facts import Cpus, Devices, Facts, Nic, Probes, Software
from weir.report import doctor_text

from .recorded_machine import planted

NEVER_RUN = "what Weir does with it was never run on hardware"
MACHINES = ("two-socket-server", "virtual-machine", "sriov-server")


@pytest.fixture
def machine(request: pytest.FixtureRequest, tmp_path: Path) -> Facts:
    return facts(planted(request.param, tmp_path))


def findings(seen: Facts, subject: str) -> list[Finding]:
    return [one for one in diagnose(seen, 0.5).findings if one.subject == subject]


def said(seen: Facts, subject: str) -> list[tuple[str, str]]:
    """(severity, what) of each finding about that subject."""
    return [(one.severity, one.what) for one in findings(seen, subject)]


def of(name: str) -> pytest.MarkDecorator:
    """The machine that a test is about."""
    return pytest.mark.parametrize("machine", [name], indirect=True)


@of("two-socket-server")
def test_an_untuned_server_is_told_all_that_hurts(machine: Facts) -> None:
    assert said(machine, "cores") == [("ok", "16 CPUs (0-15)")]
    assert said(machine, "smt") == [("warning", "two threads a core, such as CPUs 1 and 9")]
    assert said(machine, "numa") == [
        ("warning", "NUMA balancing is on"),
        ("note", "2 nodes. node 0: CPUs 0-3,8-11; node 1: CPUs 4-7,12-15"),
    ]
    assert "ens1f0 is on 1" in findings(machine, "numa")[1].mend
    assert said(machine, "isolation") == [("warning", "no CPU is isolated")]
    assert findings(machine, "isolation")[0].mend.startswith(
        "weir tune LAB (until reboot), or boot with isol"
    )
    assert said(machine, "governor") == [("warning", "powersave on CPUs 0-15 (intel_pstate)")]
    assert said(machine, "turbo")[0][0] == "note"
    assert "no_turbo" in findings(machine, "turbo")[0].mend
    assert said(machine, "c-states") == [("warning", "down to C6: 133 µs to wake, by intel_idle")]
    assert said(machine, "interrupts") == [
        ("warning", "2 may be served on CPUs 1-15: timer, ens1f0-TxRx-0"),
        ("warning", "irqbalance is running"),
        ("note", "the NMI watchdog is on"),
    ]
    assert said(machine, "hugepages") == [("warning", "512 of 2 MiB on node 0 (500 free); none on node 1")]
    assert said(machine, "mitigations") == [("note", "against mds")]
    assert said(machine, "iommu")[0][0] == "warning"
    assert "intel_iommu=on" in findings(machine, "iommu")[0].mend
    assert said(machine, "sr-iov") == [("ok", f"virtual functions made: ens1f0 (i40e) 0 of 64 ({NEVER_RUN})")]
    assert said(machine, "memory") == [("note", "transparent hugepages for every program")]


@of("virtual-machine")
def test_a_virtual_machine_is_told_whose_the_cores_are(machine: Facts) -> None:
    assert said(machine, "virtual") == [("warning", "a virtual machine (QEMU)")]
    assert said(machine, "cores") == [("warning", "2 CPUs (0-1): every one polls")]
    assert said(machine, "governor") == [("ok", "no frequency control here: it is the hypervisor's")]
    assert said(machine, "c-states") == [("ok", "the kernel chooses none: sleep is the hypervisor's")]
    assert said(machine, "isolation") == [("warning", "no CPU is isolated, and none could be")]
    assert "give it more CPUs" in findings(machine, "isolation")[0].mend
    four = machine.cpus.model_copy(update={"online": (0, 1, 2, 3), "allowed": (0, 1, 2, 3)})
    larger = machine.model_copy(update={"cpus": four})
    assert "here is cpuset in v1" in findings(larger, "isolation")[0].mend
    assert said(machine, "clock") == [("warning", "the time-stamp counter lacks nonstop_tsc")]
    assert said(machine, "hugepages") == [("note", "none is reserved")]
    assert said(machine, "memory") == [("warning", "pages with the same content are merged (KSM)")]
    assert said(machine, "realtime") == [("ok", "not a realtime kernel; realtime threads are not throttled")]
    assert said(machine, "iommu") == [("note", "off, or there is none")]
    assert machine.software.kernel == "5.10.0"
    assert machine.memory.pools[0].node == -1


@of("sriov-server")
def test_a_server_tuned_at_boot_has_little_to_mend(machine: Facts) -> None:
    worst = [one for one in diagnose(machine, 0.5).findings if one.severity in ("error", "warning")]
    assert [one.subject for one in worst] == ["isolation"]
    assert worst[0].what.startswith("cpuset partition guests.slice (CPU 1) is isolated invalid (Cpu list")
    assert said(machine, "interrupts") == [("ok", "none on CPUs 2-7")]
    assert ("ok", "CPUs 2-7 are isolated") in said(machine, "isolation")
    assert said(machine, "smt") == [("ok", "one thread a core")]
    assert said(machine, "c-states") == [("ok", "none that takes 10 µs to leave")]
    assert said(machine, "hugepages") == [("ok", "16 of 1 GiB (16 free)")]
    assert said(machine, "iommu") == [("ok", "6 groups")]
    assert said(machine, "sr-iov") == [
        ("ok", f"virtual functions made: ens1f0 (ice) 8 of 256, ens2f0 (ice) 8 of 256 ({NEVER_RUN})")
    ]
    assert said(machine, "realtime") == [("ok", "a realtime kernel; realtime threads are not throttled")]
    assert said(machine, "virtual") == [("ok", "bare metal")]


def test_isolated_cores_with_a_tick_and_threads_apart_are_told_so(tmp_path: Path) -> None:
    root = planted("two-socket-server", tmp_path)
    (root / "sys/devices/system/cpu/isolated").write_text("4-5\n")
    (root / "sys/fs/cgroup/lab").mkdir()
    (root / "sys/fs/cgroup/lab/cpuset.cpus.partition").write_text("isolated\n")
    (root / "sys/fs/cgroup/lab/cpuset.cpus").write_text("6\n")
    seen = facts(root)
    assert said(seen, "isolation") == [
        ("note", "isolated CPUs 4-6 have a timer tick"),
        ("ok", "CPUs 4-6 are isolated"),
    ]
    apart = seen.model_copy(update={"cpus": seen.cpus.model_copy(update={"allowed": (0, 1, 2, 3, 4)})})
    assert said(apart, "smt") == [("ok", "on, but no core has two threads that may poll")]
    assert said(apart, "cores") == [("ok", "5 CPUs (0-4) of 16 for this process")]


def test_cpus_that_weir_tune_keeps_count_as_its_own(tmp_path: Path) -> None:
    root = planted("two-socket-server", tmp_path)
    (root / "sys/fs/cgroup/weir-lab-1a2b3c4d").mkdir()
    (root / "sys/fs/cgroup/weir-lab-1a2b3c4d/cpuset.cpus.partition").write_text("isolated\n")
    (root / "sys/fs/cgroup/weir-lab-1a2b3c4d/cpuset.cpus").write_text("5-6\n")
    seen = facts(root)
    tuned = seen.model_copy(update={"cpus": seen.cpus.model_copy(update={"allowed": (0, 1)})})
    assert said(tuned, "cores") == [("ok", "4 CPUs (0-1,5-6) of 16 for this process")]
    assert tuned.polling_cpus() == (5, 6)
    assert said(tuned, "smt")[0][0] == "ok"


@pytest.mark.parametrize(
    ("probes", "severity", "what"),
    [
        (Probes(namespaces=False), "error", "root may not make network namespaces"),
        (Probes(links={"veth": False}), "error", "this kernel makes no veth"),
        (Probes(packet_sockets=False), "error", "this kernel makes no AF_PACKET socket"),
        (Probes(ovs_datapath=False), "note", "no datapath of it in the kernel"),
        (Probes(kvm="hangs"), "warning", "/dev/kvm exists, but a guest of one instruction hangs"),
        (Probes(kvm="absent"), "note", "no /dev/kvm"),
        (Probes(kvm="works"), "ok", f"runs a guest of one instruction ({NEVER_RUN})"),
        (Probes(cycle_counter=False), "note", "no hardware counters for this process"),
        (Probes(cycle_counter=True), "ok", "cycles are counted in hardware"),
    ],
)
def test_what_was_tried_is_judged(probes: Probes, severity: str, what: str) -> None:
    found = diagnose(Facts(probes=probes), 0.5).findings
    assert (severity, what) in [(one.severity, one.what) for one in found]


def test_one_core_and_a_card_that_merges_packets_are_warned_about() -> None:
    nic = Nic(name="eth0", driver="ice", node=None, up=True, offloads=("rx gro", "rx lro"), vfs_offered=0)
    seen = Facts(cpus=Cpus(online=(0,), allowed=(0,)), devices=Devices(nics=(nic,), iommu_groups=1))
    assert said(seen, "cores") == [("warning", "1 CPU (0)")]
    assert said(seen, "isolation") == []
    assert said(seen, "offloads") == [("warning", "LRO is on in eth0")]
    assert said(seen, "sr-iov") == [("warning", "eth0 could have virtual functions, and offers 0")]
    assert ("warning", "the vfio-pci driver is not loaded") in said(seen, "iommu")


@pytest.mark.parametrize(
    ("stamps", "found"),
    [
        (("none", "all"), [("ok", f"eth1 (ice) can stamp every received packet ({NEVER_RUN})")]),
        (("none", "some"), [("note", "eth1 stamps only packets of PTP")]),
        (("none", "none"), [("note", "no card stamps received packets")]),
        ((None, None), []),
    ],
)
def test_cards_that_stamp_what_they_receive_are_named(stamps: Any, found: list[tuple[str, str]]) -> None:
    nics = tuple(
        Nic(name=f"eth{number}", driver="ice", node=None, up=True, rx_stamps=one)
        for number, one in enumerate(stamps)
    )
    assert said(Facts(devices=Devices(nics=nics)), "timestamps") == found


def test_a_missing_data_plane_is_an_error_and_a_missing_switch_is_not() -> None:
    versions = {"weir": "1", "python": "3", "weir-dp": "", "openvswitch": "", "qemu": "7.2"}
    diagnosis = diagnose(Facts(software=Software(versions=versions)), 0.5)
    severities = [one.severity for one in diagnosis.findings if one.subject == "programs"]
    assert severities == ["error", "note", "ok"]
    assert (diagnosis.worst(), EXIT_CODES[diagnosis.worst()]) == ("error", 3)


@pytest.mark.parametrize("machine", MACHINES, indirect=True)
def test_every_finding_that_hurts_says_what_it_costs_and_fits_80_columns(machine: Facts) -> None:
    diagnosis = diagnose(machine, 0.5)
    assert all(one.cost for one in diagnosis.findings if one.severity != "ok")
    assert all(one.mend for one in diagnosis.findings if one.severity in ("error", "warning"))
    text = doctor_text.render(diagnosis)
    assert max(map(len, text.splitlines())) <= 80
    assert all(one.subject in text for one in diagnosis.findings)
    jsonschema.validate(json.loads(diagnosis.model_dump_json()), schema())


def test_files_that_may_not_be_read_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = planted("two-socket-server", tmp_path)
    read = Path.read_text

    def refusing(path: Path, *arguments: Any, **options: Any) -> str:
        if path.name == "cmdline":
            raise PermissionError(13, "Permission denied")
        return read(path, *arguments, **options)

    monkeypatch.setattr(Path, "read_text", refusing)
    text = doctor_text.render(diagnose(facts(root), 0.5))
    assert "? not seen: /proc/cmdline (not readable for this user)" in text


def test_an_empty_machine_is_judged_all_the_same(tmp_path: Path) -> None:
    assert diagnose(facts(tmp_path), 0.5).worst() in ("warning", "error")


def test_a_device_that_hangs_is_given_up_in_time(tmp_path: Path) -> None:
    pipe = tmp_path / "kvm"
    os.mkfifo(pipe)  # whoever opens it for reading and writing gets it; ioctl then fails
    assert kvm(Tree(tmp_path), str(pipe)) == "refuses"
    assert kvm(Tree(tmp_path), str(tmp_path / "none")) == "absent"


def test_a_kvm_child_that_says_nothing_counts_as_hanging(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("weir.fabric.host.guest._halts", lambda _device: time.sleep(60))
    device = tmp_path / "kvm"
    device.touch()
    began = time.monotonic()
    assert kvm(Tree(tmp_path), str(device), timeout_s=0.05) == "hangs"
    assert time.monotonic() - began < 1


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    argv = [*WEIR, "doctor", *arguments]
    return subprocess.run(argv, capture_output=True, text=True, check=False, timeout=60)


@pytest.mark.long
def test_this_machine_is_looked_at_within_three_seconds_and_by_the_schema() -> None:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = run("--json")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    document = json.loads(done.stdout)
    jsonschema.validate(document, schema())
    assert done.returncode == EXIT_CODES[Diagnosis.model_validate(document).worst()]
    assert document["facts"]["cpus"]["allowed"] == sorted(os.sched_getaffinity(0))
    # Its own time: what others take from a busy machine is not the doctor's.
    worked_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    assert worked_s + TIMEOUT_S < 3


def test_whoever_is_not_root_sees_less_and_is_told_what(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    seen = facts()
    assert seen.probes.namespaces is None
    assert [one.what for one in seen.unseen][-1] == "namespaces, links and packet sockets"
    assert "kernel" in [one.subject for one in diagnose(seen, 0.5).findings]
