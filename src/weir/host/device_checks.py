# SPDX-License-Identifier: Apache-2.0
"""Findings about virtualisation, devices, the kernel and programs."""

from __future__ import annotations

from collections.abc import Iterator

from weir.host.diagnosis import Finding
from weir.host.facts import Facts, KvmState

_NEVER_RUN = "what Weir does with it was never run on hardware"
_PACKAGES = {"openvswitch": "openvswitch-switch-dpdk", "qemu": "qemu-system-x86"}
_USES = {
    "openvswitch": "ovs and ovs-dpdk cannot be built",
    "qemu": "functions in virtual machines cannot run",
}


def virtual(facts: Facts) -> Iterator[Finding]:
    """Is this machine somebody's guest?"""
    vendor = facts.cpus.hypervisor
    if vendor:
        named = "" if vendor == "unknown" else f" ({vendor})"
        yield Finding(
            subject="virtual", severity="warning", what=f"a virtual machine{named}",
            cost="its hypervisor takes cores away without a word; Weir counts such stalls and labels results",
            mend="for numbers to rely on: bare metal, or pinned and dedicated virtual CPUs",
        )  # fmt: skip
    else:
        yield Finding(subject="virtual", severity="ok", what="bare metal")


_EMULATED = "functions in virtual machines run under emulation, and results say so"
_KVM: dict[KvmState, tuple[str, str]] = {
    "absent": ("no /dev/kvm", "load kvm_intel or kvm_amd; in a guest: nested virtualisation"),
    "forbidden": ("/dev/kvm is not for this user", "join the group kvm, or run as root"),
    "refuses": ("/dev/kvm exists, but a guest of one instruction does not run", "see dmesg"),
    "hangs": ("/dev/kvm exists, but a guest of one instruction hangs", "see dmesg; unload kvm"),
    "software": (
        "/dev/kvm runs code, but this CPU shows no vmx or svm: stock guests may not boot",
        "nested virtualisation in the hypervisor",
    ),
}


def kvm(facts: Facts) -> Iterator[Finding]:
    """Do guests run on the CPU itself?"""
    state = facts.probes.kvm
    if state == "works":
        yield Finding(subject="kvm", severity="ok", what=f"runs a guest of one instruction ({_NEVER_RUN})")
    elif state is not None:
        what, mend = _KVM[state]
        severity: str = "note" if state in ("absent", "forbidden") else "warning"
        yield Finding.model_validate(
            {"subject": "kvm", "severity": severity, "what": what, "cost": _EMULATED, "mend": mend}
        )


def counters(facts: Facts) -> Iterator[Finding]:
    """Are there hardware counters?"""
    if facts.probes.cycle_counter:
        yield Finding(subject="pmu", severity="ok", what="cycles are counted in hardware")
    elif facts.probes.cycle_counter is False:
        yield Finding(
            subject="pmu", severity="note", what="no hardware counters for this process",
            cost="`weir lean` takes the core's clock from timed additions, and tells no cache misses",
            mend="ask for a virtual PMU" if facts.cpus.hypervisor else "sysctl kernel.perf_event_paranoid=2",
        )  # fmt: skip


def iommu(facts: Facts) -> Iterator[Finding]:
    """Can a program get a device?"""
    capable = [nic.name for nic in facts.devices.nics if nic.vfs_offered is not None]
    if facts.devices.iommu_groups:
        yield Finding(subject="iommu", severity="ok", what=f"{facts.devices.iommu_groups} groups")
        if capable and not facts.devices.vfio_loaded:
            yield Finding(
                subject="iommu", severity="warning", what="the vfio-pci driver is not loaded",
                cost="sr-iov cannot hand virtual functions to weir-dp", mend="modprobe vfio-pci",
            )  # fmt: skip
    else:
        vendor = "amd_iommu=on" if "svm" in facts.cpus.flags else "intel_iommu=on"
        yield Finding(
            subject="iommu", severity="warning" if capable else "note", what="off, or there is none",
            cost="no device can be handed to weir-dp or a guest safely: no sr-iov",
            mend=f"switch it on in the firmware, boot with {vendor} iommu=pt" if capable else "",
        )  # fmt: skip


def sriov(facts: Facts) -> Iterator[Finding]:
    """Are there virtual functions to be had?"""
    offering = [nic for nic in facts.devices.nics if nic.vfs_offered is not None]
    usable = [nic for nic in offering if nic.vfs_offered]
    if usable:
        listed = ", ".join(f"{nic.name} ({nic.driver}) {nic.vfs_made} of {nic.vfs_offered}" for nic in usable)
        what = f"virtual functions made: {listed} ({_NEVER_RUN})"
        yield Finding(subject="sr-iov", severity="ok", what=what)
    elif offering:
        names = ", ".join(nic.name for nic in offering)
        yield Finding(
            subject="sr-iov", severity="warning", what=f"{names} could have virtual functions, and offers 0",
            cost="no sr-iov", mend="switch SR-IOV on in the card's firmware",
        )  # fmt: skip
    else:
        yield Finding(
            subject="sr-iov", severity="note", what="no network card with SR-IOV",
            cost="sr-iov is refused; `direct` stands in for it as the upper bound",
        )  # fmt: skip


def offloads(facts: Facts) -> Iterator[Finding]:
    """Do cards change packets on their way?"""
    seen = [nic for nic in facts.devices.nics if nic.up and nic.offloads is not None]
    merging = [nic.name for nic in seen if any("lro" in kind for kind in nic.offloads or ())]
    if merging:
        yield Finding(
            subject="offloads", severity="warning", what=f"LRO is on in {', '.join(merging)}",
            cost="packets are merged before the kernel counts them: accounts over that card cannot close",
            mend=" && ".join(f"ethtool -K {name} lro off" for name in merging),
        )  # fmt: skip
    elif seen:
        yield Finding(subject="offloads", severity="ok", what="no card merges received packets (LRO)")


def timestamps(facts: Facts) -> Iterator[Finding]:
    """Do cards stamp what they receive?"""
    seen = [nic for nic in facts.devices.nics if nic.rx_stamps is not None]
    able = [f"{nic.name} ({nic.driver})" for nic in seen if nic.rx_stamps == "all"]
    if able:
        what = f"{', '.join(able)} can stamp every received packet ({_NEVER_RUN})"
        yield Finding(subject="timestamps", severity="ok", what=what)
    elif seen:
        only = ", ".join(nic.name for nic in seen if nic.rx_stamps == "some")
        yield Finding(
            subject="timestamps", severity="note",
            what=f"{only} stamps only packets of PTP" if only else "no card stamps received packets",
            cost="under sr-iov arrivals are timed when a loop takes the packet, its wait included",
        )  # fmt: skip


def kernel(facts: Facts) -> Iterator[Finding]:
    """Can deployments be built?"""
    probes, needs = facts.probes, "linux-bridge, ovs and ovs-dpdk cannot be built"
    fine = True
    if probes.namespaces is False:
        fine = False
        yield Finding(
            subject="kernel", severity="error", what="root may not make network namespaces", cost=needs,
            mend="run outside of the container, or in one with CAP_SYS_ADMIN and CAP_NET_ADMIN",
        )  # fmt: skip
    lacking = [kind for kind, made in probes.links.items() if not made]
    lacking += ["AF_PACKET socket"] if probes.packet_sockets is False else []
    for kind in lacking:
        fine = False
        yield Finding(
            subject="kernel", severity="error", what=f"this kernel makes no {kind}",
            cost="linux-bridge and ovs cannot be built", mend="load its module, or use another kernel",
        )  # fmt: skip
    if probes.ovs_datapath is False:
        yield Finding(
            subject="Open vSwitch", severity="note", what="no datapath of it in the kernel",
            cost="`ovs` runs its userspace datapath, which is slower, and results say so",
            mend="a kernel with the module openvswitch: this one has none, or is kept from loading it",
        )  # fmt: skip
    if fine:
        yield Finding(subject="kernel", severity="ok", what=facts.software.kernel)


def mitigations(facts: Facts) -> Iterator[Finding]:
    """What do flaws of the CPU cost?"""
    found = facts.software.mitigations
    if found:
        yield Finding(
            subject="mitigations", severity="note", what=f"against {', '.join(sorted(found))}",
            cost="system calls and switches between programs take longer: kernel paths most, polling least",
            mend="keep them as on the machines that you speak for; mitigations=off only if all code is yours",
        )  # fmt: skip


def programs(facts: Facts) -> Iterator[Finding]:
    """Is everything installed?"""
    versions = facts.software.versions
    if not versions:
        return
    if not versions["weir-dp"]:
        yield Finding(
            subject="programs", severity="error", what="weir-dp is not there, or does not start",
            cost="nothing can be deployed or measured", mend="make native, install weir-dp, or set WEIR_DP",
        )  # fmt: skip
    for name, package in _PACKAGES.items():
        if not versions[name]:
            yield Finding(
                subject="programs", severity="note", what=f"{name} is not installed", cost=_USES[name],
                mend=f"install the Debian package {package}",
            )  # fmt: skip
    listed = ", ".join(f"{name} {number}" for name, number in versions.items() if number)
    yield Finding(subject="programs", severity="ok", what=listed)
