# SPDX-License-Identifier: Apache-2.0
"""A command in an end host: this process goes there and becomes it, so that terminal, signals and exit code
are its own."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from typing import NoReturn

from weir.base.topology import EndHost
from weir.fabric import namespace
from weir.fabric.deployment import Deployment
from weir.fabric.end_host import NAMES, RESOLVER
from weir.fabric.errors import FabricError
from weir.fabric.outside.watch import taking_part
from weir.plan.end_hosts import hosts_file, resolver_file


class NotExecutedError(FabricError):
    """There is no such command (127), or it is no program (126): exit codes as of a shell."""

    def __init__(self, command: str, error: OSError) -> None:
        missing = isinstance(error, FileNotFoundError)
        super().__init__(f"cannot run {command}: {error.strerror}", "expected a program on this machine")
        self.exit_code = 127 if missing else 126


def become(deployment: Deployment, host: EndHost, argv: Sequence[str]) -> NoReturn:
    """Does not return. Off the cores that poll for the chain, if there are others.

    FabricError if the host is not there any more; NotExecutedError.
    """
    topology = deployment.topology
    assert topology is not None
    netns = topology.port(host.port).netns
    try:
        namespace.enter(str(netns))
        namespace.own_mounts()
        namespace.bind(deployment.run_dir / hosts_file(host), NAMES)
        if RESOLVER.exists():
            namespace.bind(deployment.run_dir / resolver_file(host), RESOLVER)
    except OSError as error:
        raise FabricError(
            f"cannot enter host {host.side} of {deployment.id}: {error}",
            "was it taken down meanwhile? `weir inspect` lists what is deployed",
        ) from error
    others = os.sched_getaffinity(0) - taking_part(topology)
    if others:
        os.sched_setaffinity(0, others)
    # Python ignores it, and ignored signals are inherited.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    sys.stdout.flush()
    try:
        os.execvp(argv[0], list(argv))
    except OSError as error:
        raise NotExecutedError(argv[0], error) from error
