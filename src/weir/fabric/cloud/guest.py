# SPDX-License-Identifier: Apache-2.0
"""Instances that are virtual machines: whether they still run, and commands in those of Weir's own image, by
their virtio-serial port."""

from __future__ import annotations

import base64
import shlex
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass

from weir.base.cloud import CloudTopology, Instance
from weir.base.error import USAGE, FabricError
from weir.fabric import process
from weir.fabric.deployment import Deployment
from weir.fabric.vm.channel import ANSWER_S, Channel
from weir.fabric.vm.command_line import Files
from weir.fabric.vm.condition import last_words
from weir.fabric.vm.storage import Stored
from weir.fabric.vm.storage import root as storage_root

COMMAND_S = 60
"""The longest that a command may take: a guest does one at a time."""
_ENDED = 143
"""Exit code of what timeout(1) of busybox ended: 128 and SIGTERM."""


def ended(deployment: Deployment, topology: CloudTopology) -> dict[str, str]:
    """Those that do not run any more, with their last words: guests that reboot or switch themselves off."""
    pids = deployment.processes()
    return {
        one.name: last_words(Stored(storage_root() / deployment.id, one.name))
        for _, one, _ in topology.machines()
        if not process.alive(pids.get(f"vm:{one.name}", 0))
    }


class NoCommandError(FabricError):
    """The machine runs none."""

    exit_code = USAGE


@dataclass(frozen=True)
class Done:
    """A command that has ended."""

    code: int
    out: bytes
    errors: bytes


def run_in_guest(deployment: Deployment, instance: Instance, argv: Sequence[str]) -> Done:
    """NoCommandError, if `argv` is empty too: there is no terminal. FabricError if the guest has ended, does
    not answer, or the command takes longer than a minute."""
    assert instance.machine is not None
    name = instance.name
    if instance.machine.forwarder is None:
        address = instance.floating or f"{instance.address}, from another instance of its network"
        raise NoCommandError(
            f"{name} is a virtual machine of an image of yours, in which Weir runs no commands",
            f"log in as the image has it, such as by SSH at {address}",
        )
    if not argv:
        raise NoCommandError(
            f"{name} is a virtual machine, and has no terminal here", f"name a command: {name} -- ip address"
        )
    pid = deployment.processes()[f"vm:{name}"]
    with closing(Channel(name, Files(deployment.run_dir, name).channel, pid)) as channel:
        channel.greet()
        shell = base64.b64encode(f"exec {shlex.join(argv)}\n".encode()).decode()
        said = channel.ask("run", {"shell": shell, "within_s": COMMAND_S}, within_s=COMMAND_S + ANSWER_S)
    try:
        out, errors = (base64.b64decode(said[key], validate=True) for key in ("out", "errors"))
        done = Done(int(said["code"]), out, errors)
    except (KeyError, TypeError, ValueError) as error:
        raise FabricError(f"virtual machine {name} says nothing of its command: {error!r}") from error
    if done.code == _ENDED:
        raise FabricError(
            f"{shlex.join(argv)} had not ended in {name} after {COMMAND_S} s, or was ended there",
            "commands in a virtual machine have a minute; leave longer ones in the background: sh -c '… &'",
        )
    return done
