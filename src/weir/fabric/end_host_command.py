# SPDX-License-Identifier: Apache-2.0
"""A command in a host of a deployment: this process goes there and becomes it, so that terminal, signals and
exit code are its own."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from weir.base.error import FabricError
from weir.base.topology import EndHost
from weir.fabric import namespace
from weir.fabric.deployment import Deployment
from weir.fabric.end_host import NAMES, RESOLVER
from weir.fabric.outside.watch import taking_part
from weir.plan.end_hosts import hosts_file, resolver_file


@dataclass(frozen=True)
class CommandPlace:
    """Where a command runs, and what it sees there."""

    deployment: str
    name: str
    netns: str
    hosts_file: Path
    resolver_file: Path
    polled_cores: frozenset[int]


def at_end(deployment: Deployment, host: EndHost) -> CommandPlace:
    """A host at an end of a chain."""
    topology = deployment.topology
    assert topology is not None
    return CommandPlace(
        deployment=deployment.id,
        name=host.side,
        netns=str(topology.port(host.port).netns),
        hosts_file=deployment.run_dir / hosts_file(host),
        resolver_file=deployment.run_dir / resolver_file(host),
        polled_cores=frozenset(taking_part(topology)),
    )


class NotExecutedError(FabricError):
    """There is no such command (127), or it is no program (126): exit codes as of a shell."""

    def __init__(self, command: str, error: OSError) -> None:
        missing = isinstance(error, FileNotFoundError)
        super().__init__(f"cannot run {command}: {error.strerror}", "expected a program on this machine")
        self.exit_code = 127 if missing else 126


def become(host: CommandPlace, argv: Sequence[str]) -> NoReturn:
    """Does not return. Off the cores that poll, if there are others.

    FabricError if the host is not there any more, or this machine has no file of names; NotExecutedError.
    """
    if not NAMES.exists():
        raise FabricError(
            f"this machine has no {NAMES}, in whose place commands in host {host.name} see the hosts' names",
            f"make an empty one: touch {NAMES}",
        )
    try:
        namespace.enter(host.netns)
        namespace.own_mounts()
        namespace.bind(host.hosts_file, NAMES)
        if RESOLVER.exists():
            namespace.bind(host.resolver_file, RESOLVER)
        with suppress(OSError):  # where none may be made, as in most containers, it stays the machine's
            namespace.own_sys()
    except OSError as error:
        raise FabricError(
            f"cannot enter host {host.name} of {host.deployment}: {error}",
            "was it taken down meanwhile? `weir inspect` lists what is deployed",
        ) from error
    others = os.sched_getaffinity(0) - host.polled_cores
    if others:
        with suppress(OSError):  # somebody has taken these away meanwhile: it runs wherever it may
            os.sched_setaffinity(0, others)
    # Python ignores these, and ignored signals are inherited.
    for ignored in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(ignored, signal.SIG_DFL)
    sys.stdout.flush()
    try:
        os.execvp(argv[0], list(argv))
    except OSError as error:
        raise NotExecutedError(argv[0], error) from error
