# SPDX-License-Identifier: Apache-2.0
"""Step kinds vm-seed, vm and vm-ready: QEMU's process, and its guest until packets flow."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

from weir.base.si import MS_PER_S
from weir.base.topology import Topology
from weir.fabric import process, stop_signals
from weir.fabric.counters import Counter
from weir.fabric.errors import FabricError
from weir.fabric.host import isolated
from weir.fabric.process import wait_for
from weir.fabric.step_handlers import Facts, Site
from weir.fabric.vm import disk, image
from weir.fabric.vm.channel import Channel
from weir.fabric.vm.command_line import Boot, Files, command_line
from weir.fabric.vm.counters import machine_counters
from weir.fabric.vm.lacking import QEMU, kvm_boots
from weir.fabric.vm.monitor import vcpu_threads
from weir.plan import Step

VHOST_NET = Path("/dev/vhost-net")
_LAST_LINES = 4
_LOOK_S = 0.05


class VmSeed:
    """What belongs to a disk image of the user's: an overlay to write to, and data for cloud-init."""

    def do(self, step: Step, site: Site) -> Facts:
        """Makes both in the run directory."""
        files = Files(site.directory, str(step.params["node"]))
        origin = disk.checked(Path(str(step.params["image"])), _format(step.params))
        # Its size is said, so that qemu-img opens no image.
        backing = ["-u", "-F", origin.format, "-b", str(origin.path)]
        _qemu_img("create", "-q", "-f", "qcow2", *backing, str(files.overlay), str(origin.size_bytes))
        files.seed.mkdir()
        about = {"instance-id": f"{site.deployment}-{files.node}", "local-hostname": files.node}
        about |= {
            key: str(value) for key, value in step.params.items() if key.startswith(("left_", "right_"))
        }
        (files.seed / "meta-data").write_text(json.dumps(about, indent=2) + "\n", encoding="utf-8")
        user_data = str(step.params["user_data"])
        if user_data:
            shutil.copyfile(user_data, files.seed / "user-data")
        else:
            (files.seed / "user-data").write_text("#cloud-config\n", encoding="utf-8")
        return {}

    def undo(self, params: Mapping[str, Any], facts: Facts, site: Site) -> None:
        """Nothing: both go with the run directory."""


def _format(params: Mapping[str, Any]) -> disk.DiskFormat:
    return "raw" if params["image_format"] == "raw" else "qcow2"


class Vm:
    """One QEMU."""

    def do(self, step: Step, site: Site) -> Facts:
        """Starts it and waits until its monitor answers; the guest boots meanwhile."""
        params = step.params
        files = Files(site.directory, str(params["node"]))
        forwarder = params["forwarder"]
        made = None if forwarder == "" else image.found("kernel" if forwarder == "kernel" else "weir-dp")
        boot = None if made is None else Boot(made.kernel, made.initramfs)
        accel = accelerator(str(params["accel"]), boot)
        vhost = os.access(VHOST_NET, os.R_OK | os.W_OK)
        pid = site.spawn(
            [QEMU, *command_line(params, files, boot, accel, vhost=vhost)],
            netns=str(params["netns"]),
            env={},
            cores=[],
            log=files.log.name,
        )
        wait_for(f"virtual machine {files.node}", files.monitor, pid, files.log)
        return {"pid": pid, "accel": accel, "image": made.digest if made else "of the user's"}

    def undo(self, params: Mapping[str, Any], facts: Facts, site: Site) -> None:  # noqa: ARG002
        """Ends it."""
        site.end()

    def counters(self, topology: Topology, site: Site, outside: Sequence[Counter]) -> list[Counter]:
        """Drops in all of them."""
        return machine_counters(topology, site, outside)


class VmReady:
    """A guest that forwards."""

    def do(self, step: Step, site: Site) -> Facts:
        """Waits for it, tells its weir-dp what to do, pins its virtual CPUs. FabricError if it is late."""
        params = step.params
        files = Files(site.directory, str(params["node"]))
        pid = site.facts_of(f"vm:{files.node}")["pid"]
        limit_s = float(str(params["time_limit_ms"])) / MS_PER_S
        try:
            if params["incoming"]:
                pass  # its guest is still elsewhere
            elif params["forwarder"] == "":
                _said(files, pid, str(params["ready"]), limit_s)
            else:
                _answers(files, pid, params, limit_s)
        except FabricError as error:
            raise FabricError(
                f"{error.message}: {_tail(files)}", error.fix or f"its console: {files.serial}"
            ) from error
        _pin(pid, vcpu_threads(files.monitor), step.numbers("cores"))
        return {}

    def undo(self, params: Mapping[str, Any], facts: Facts, site: Site) -> None:
        """Nothing: it ends with its virtual machine."""


def accelerator(wanted: str, boot: Boot | None) -> Literal["kvm", "tcg"]:
    """What runs the guest. FabricError if the lab wants KVM and it boots none."""
    if wanted == "tcg":
        return "tcg"
    probe = boot or _any_image()
    if probe is not None and kvm_boots(probe.kernel, probe.initramfs):
        return "kvm"
    if wanted == "kvm":
        raise FabricError(
            "KVM boots no guest here", "set vm.accel to auto or tcg, which emulates the processor"
        )
    return "tcg"


def _any_image() -> Boot | None:
    with suppress(FabricError):
        made = image.found("kernel")
        return Boot(made.kernel, made.initramfs)
    return None


def _answers(files: Files, pid: int, params: Mapping[str, Any], limit_s: float) -> None:
    channel = Channel(files.node, files.channel, pid)
    try:
        channel.greet(limit_s)
        if params["configure"]:
            channel.ask("configure", json.loads(str(params["configure"])), within_s=limit_s)
            channel.ask("start", within_s=limit_s)
    finally:
        channel.close()


def _said(files: Files, pid: int, text: str, limit_s: float) -> None:
    deadline = time.monotonic() + limit_s
    while not (files.serial.exists() and text.encode() in files.serial.read_bytes()):
        if not process.alive(pid):
            raise FabricError(f"virtual machine {files.node} has ended")
        if time.monotonic() > deadline:
            raise FabricError(
                f"virtual machine {files.node} has not said {text!r} on its console within {limit_s:g} s",
                "set vm.ready to what it says when it forwards, or raise vm.boot_time_limit_s",
            )
        stop_signals.check()
        time.sleep(_LOOK_S)


def _tail(files: Files) -> str:
    """The end of what QEMU or the guest said."""
    for path in (files.log, files.serial):
        with suppress(OSError):
            lines = path.read_text(errors="replace").split("\n")
            told = [line.strip() for line in lines if line.strip()]
            if told:
                return " | ".join(told[-_LAST_LINES:])
    return "it said nothing"


def _pin(pid: int, vcpus: list[int], cores: list[int]) -> None:
    """Each virtual CPU to its core, more than there are in turn; QEMU's other threads to all of these."""
    if not cores:
        return
    held = isolated.holding(cores)
    for thread in (int(task.name) for task in Path(f"/proc/{pid}/task").iterdir()):
        wanted = {cores[vcpus.index(thread) % len(cores)]} if thread in vcpus else {*cores}
        with suppress(ProcessLookupError):  # a thread that has ended meanwhile
            for partition in {held[cpu] for cpu in wanted if cpu in held}:
                isolated.enter(partition, thread)
            os.sched_setaffinity(thread, wanted)


def _qemu_img(*words: str) -> str:
    try:
        done = subprocess.run(["qemu-img", *words], capture_output=True, text=True, check=False)
    except OSError as error:
        raise FabricError(
            f"cannot start qemu-img: {error}", "install the Debian package qemu-utils"
        ) from error
    if done.returncode != 0:
        raise FabricError(f"qemu-img: {done.stderr.strip()}", "is vm.image a disk image?")
    return done.stdout
