# SPDX-License-Identifier: Apache-2.0
"""Step kinds vm and vm-ready: QEMU's process, and its guest until it is up."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any, Literal

from weir.base.error import FabricError
from weir.base.si import MS_PER_S
from weir.base.started import Started
from weir.base.topology import Topology
from weir.fabric import markers, own_user, process, stop_signals
from weir.fabric.counters import Counter
from weir.fabric.host import isolated
from weir.fabric.host.guest import kvm_groups
from weir.fabric.process import wait_for
from weir.fabric.site import Facts, Site
from weir.fabric.vm import condition, console_log, image
from weir.fabric.vm.channel import Channel
from weir.fabric.vm.command_line import Files, command_line
from weir.fabric.vm.counters import machine_counters
from weir.fabric.vm.descriptors import opened
from weir.fabric.vm.kvm import kvm_boots
from weir.fabric.vm.lacking import QEMU, guest_lacking
from weir.fabric.vm.monitor import execute, vcpu_threads
from weir.fabric.vm.storage import Stored, overlay_limit_bytes, stored, user_of
from weir.plan import Step
from weir.plan.guest_steps import slots

CONSOLE_BYTES = 1 << 20
"""Of a console's log; as much of what it said before is kept beside it."""
LOG_BYTES = 16 << 20
"""Of QEMU's own log."""
_LOOK_S = 0.05


class Vm:
    """One QEMU, and the program that its console ends in."""

    def do(self, step: Step, site: Site) -> Facts:
        """Starts it and waits until its monitor answers; the guest boots meanwhile."""
        params = step.params
        files = Files(site.directory, str(params["node"]))
        its = stored(site, files.node)
        made = image.of_role(str(params["forwarder"]))
        accel = accelerator(str(params["accel"]), made)
        groups = (kvm_groups() or []) if accel == "kvm" else []
        # A file that may not grow is an error to QEMU, not its end. It gets nothing of root's environment.
        as_user = ["env", f"--chdir={files.sockets}", "--ignore-signal=XFSZ", "-i"]
        as_user += [f"PATH={os.environ.get('PATH', os.defpath)}", f"{markers.MARKER}={site.marker()}"]
        as_user += own_user.run_as(user_of(site), groups)
        source, console = os.pipe()
        try:
            site.spawn(
                [
                    sys.executable,
                    "-I",
                    "-S",
                    console_log.__file__,
                    str(source),
                    str(its.serial),
                    str(CONSOLE_BYTES),
                ],
                netns=None,
                env={},
                cores=[],
                log=str(its.log),
                descriptors=[source],
            )
            with opened(params, its, made, console) as given:
                pid = site.spawn(
                    [*as_user, QEMU, *command_line(params, files, given, accel)],
                    netns=str(params["netns"]),
                    env={},
                    cores=[],
                    log=str(its.log),
                    descriptors=given.numbers(),
                )
            started = Started.of(pid)
            if started is not None:
                site.note({"started": asdict(started)})
        finally:
            os.close(source)
            os.close(console)
        wait_for(f"virtual machine {files.node}", files.monitor, pid, its.log)
        return {"pid": pid, "accel": accel, "image": made.digest if made else "of the user's"}

    def undo(self, params: Mapping[str, Any], facts: Facts, site: Site) -> None:  # noqa: ARG002
        """Ends both. FabricError if a process of QEMU's user may not be looked at, and is not journalled."""
        site.end(user_of(site))

    def lacking(self, params: Mapping[str, Any]) -> str | None:
        """What is not installed, built or allowed here."""
        taps = any(params[f"{name}_interface"] for name in slots(params))
        found = guest_lacking(str(params["forwarder"]), str(params["accel"]), taps=taps)
        return None if found is None else ": ".join(found)

    def require_running(self, params: Mapping[str, Any], facts: Facts, site: Site) -> None:
        """FabricError with its last words if it has ended or stands still."""
        condition.require_running(params, facts, site)

    def counters(self, topology: Topology, site: Site, outside: Sequence[Counter]) -> list[Counter]:
        """Drops in all of them."""
        return machine_counters(topology, site, outside)


class VmReady:
    """A guest that forwards, or is up as a host."""

    def do(self, step: Step, site: Site) -> Facts:
        """Waits for it, tells its weir-dp what to do, pins its virtual CPUs. FabricError if it is late."""
        params = step.params
        files = Files(site.directory, str(params["node"]))
        pid = site.facts_of(f"vm:{files.node}")["pid"]
        its, limit_s = stored(site, files.node), float(str(params["time_limit_ms"])) / MS_PER_S
        try:
            _limit_files(
                files, pid, user_of(site), max(LOG_BYTES, overlay_limit_bytes(site, files.node)), limit_s
            )
            if params["incoming"]:
                pass  # its guest is still elsewhere
            elif params["forwarder"] == "":
                _said(its, pid, str(params["ready"]), limit_s)
            else:
                _answers(files, pid, params, limit_s)
        except FabricError as error:
            raise FabricError(f"{error.message}: {condition.last_words(its)}", error.fix) from error
        _pin(pid, vcpu_threads(files.monitor), step.numbers("cores"))
        return {}

    def undo(self, params: Mapping[str, Any], facts: Facts, site: Site) -> None:
        """Nothing: it ends with its virtual machine."""


def accelerator(wanted: str, made: image.Image | None) -> Literal["kvm", "tcg"]:
    """What runs the guest. FabricError if the lab wants KVM and it boots none."""
    if wanted == "tcg":
        return "tcg"
    probe = made or _any_image()
    if probe is not None and kvm_boots(probe.kernel, probe.initramfs):
        return "kvm"
    if wanted == "kvm":
        raise FabricError(
            "KVM boots no guest here", "set vm.accel to auto or tcg, which emulates the processor"
        )
    return "tcg"


def _any_image() -> image.Image | None:
    with suppress(FabricError):
        return image.found("kernel")
    return None


def _limit_files(files: Files, pid: int, number: int, most_bytes: int, within_s: float) -> None:
    """No file of QEMU's grows beyond that. Not before it has its memory, which is a file too."""
    execute(files.monitor, "query-status", answer_s=within_s)
    argv = [*own_user.run_as(number), "prlimit", f"--pid={pid}", f"--fsize={most_bytes}"]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise FabricError(f"cannot limit the files of virtual machine {files.node}: {done.stderr.strip()}")


def _answers(files: Files, pid: int, params: Mapping[str, Any], limit_s: float) -> None:
    channel = Channel(files.node, files.channel, pid)
    try:
        channel.greet(limit_s)
        if params["configure"]:
            channel.ask("configure", json.loads(str(params["configure"])), within_s=limit_s)
            channel.ask("start", within_s=limit_s)
    finally:
        channel.close()


def _said(its: Stored, pid: int, text: str, limit_s: float) -> None:
    deadline = time.monotonic() + limit_s
    while text.encode() not in its.console():
        if not process.alive(pid):
            raise FabricError(f"virtual machine {its.node} has ended")
        if time.monotonic() > deadline:
            raise FabricError(
                f"virtual machine {its.node} has not said {text!r} on its console within {limit_s:g} s",
                "set vm.ready to what it says when it is up, or raise vm.boot_time_limit_s",
            )
        stop_signals.check()
        time.sleep(_LOOK_S)


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
