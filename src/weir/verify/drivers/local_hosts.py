# SPDX-License-Identifier: Apache-2.0
"""Servers of the local driver for programs of a case's own: instances without a system, in which programs of
this host run, each server with a directory of its own in the deployment's run directory.

All that runs there ends with the deployment, by its instances' namespaces.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from weir import fabric
from weir.base.cloud import CloudTopology, Instance
from weir.fabric.cloud import programs
from weir.verify.driver import CannotRunError, CloudError, HostsWanted
from weir.verify.drivers.local_errors import cloud_errors

DIRECTORY = "programs"
TEMPORARY = "tmp"
"""In a server's directory: what its programs see in place of /tmp that leave files there."""


class LocalHosts:
    """Instances of the project that stands, in the order of the names. `on`: CPUs of each."""

    def __init__(
        self,
        deployment: fabric.Deployment,
        topology: CloudTopology,
        wanted: HostsWanted,
        on: Sequence[Sequence[int]],
    ) -> None:
        self._deployment = deployment
        self._topology = topology
        instances = topology.tenant_networks[-1].instances
        self._instances: dict[str, Instance] = dict(zip(wanted.names, instances, strict=True))
        self._cores = dict(zip(wanted.names, on, strict=True))
        for name in wanted.names:
            self._place(name).mkdir(parents=True)

    def _place(self, server: str) -> Path:
        return self._deployment.run_dir / DIRECTORY / server

    def address(self, server: str) -> str:
        """That DHCP gave it."""
        return self._instances[server].address

    def directory(self, server: str) -> str:
        """On this host."""
        return str(self._place(server))

    def write(self, server: str, files: Mapping[str, str]) -> None:
        """With their directories."""
        for name, text in files.items():
            path = self._place(server) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    def read(self, server: str, name: str) -> str:
        """The newest that fits."""
        found = sorted(self._place(server).glob(name), key=lambda path: path.stat().st_mtime)
        if not found:
            raise CloudError(f"{server} has no file {name}")
        return found[-1].read_text(errors="replace")

    def start(
        self, server: str, name: str, words: Sequence[str], *, own_temporary: bool = False
    ) -> programs.Program:
        """With its output in a file there."""
        with cloud_errors(server):
            return programs.start(
                words,
                netns=self._netns(server),
                marker=self._marker(server),
                cores=self._cores[server],
                directory=self._place(server) / name,
                temporary=self._place(server) / TEMPORARY if own_temporary else None,
            )

    def run(self, server: str, words: Sequence[str], within_s: float) -> str:
        """In the server's network."""
        netns, marker = self._netns(server), self._marker(server)
        with cloud_errors(server):
            return programs.output(words, netns=netns, marker=marker, within_s=within_s)

    def _netns(self, server: str) -> str:
        return self._topology.namespace(self._instances[server].name)

    def _marker(self, server: str) -> str:
        return f"{self._deployment.id}/{DIRECTORY}:{server}"


def cores(servers: int, each: int, there: Sequence[int] = ()) -> list[list[int]]:
    """Of this host's CPUs, in turn, as many for each server; all where that is all, or `each` is 0 (an empty
    list). CannotRunError where there are fewer."""
    known = sorted(there or os.sched_getaffinity(0))
    if each > len(known):
        raise CannotRunError(f"servers can have {len(known)} of this machine's CPUs, not {each}")
    if not 0 < each < len(known):
        return [[] for _ in range(servers)]
    return [sorted({known[(at * each + one) % len(known)] for one in range(each)}) for at in range(servers)]
