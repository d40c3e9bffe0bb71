# SPDX-License-Identifier: Apache-2.0
"""A project that stands in an OpenStack cloud, with servers in it."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from weir.base.error import FabricError
from weir.fabric import stop_signals
from weir.fabric.cloud.system import ssh
from weir.verify.driver import ACTIVE, CloudError, Resource

from .connection import Cloud, Deadline
from .kinds import looked_at

_SHORT_S = 15.0
_ASK_AGAIN_S = 1.0
_LAST_WORDS_S = 5.0
"""For the console of a server that was not reached in its case's time."""


@dataclass
class Server:
    """One of a stack's."""

    id: str
    address: str
    floating: str


@dataclass
class Standing:
    """Identifiers of what a stack is made of, in the project that `cloud` is of."""

    cloud: Cloud
    external: str
    ids: dict[str, str] = field(default_factory=dict)
    """By kind: "network", "subnet", "router", "image", "flavor"."""
    servers: dict[str, Server] = field(default_factory=dict)


class OpenStackStack:
    """What cases ask of it. `key`: the private one whose public half its servers have; `user`: whose;
    `deadline`: the case's."""

    def __init__(self, standing: Standing, key: Path, user: str, marker: str, deadline: Deadline) -> None:
        self._standing = standing
        self._cloud = standing.cloud
        self._key = key
        self._user = user
        self._marker = marker
        self._deadline = deadline

    def resources(self) -> Sequence[Resource]:
        """By what the cloud says of it now."""
        made = [self._looked(kind, id_) for kind, id_ in self._standing.ids.items()]
        for name, one in self._standing.servers.items():
            server = looked_at(self._cloud, "server", one.id, self._deadline)
            if server is None:
                raise CloudError(f"server {name} is gone")
            where = f"{one.address}, outside {one.floating}"
            made.append(Resource("server", name, str(server.status).lower(), where))
        return made

    def _looked(self, kind: str, id_: str) -> Resource:
        found = looked_at(self._cloud, kind, id_, self._deadline)
        if found is None:
            raise CloudError(f"the {kind} is gone")
        state = str(getattr(found, "status", None) or ACTIVE).lower()
        detail = ""
        if kind == "subnet":
            state = (
                ACTIVE
                if found.is_dhcp_enabled and found.network_id == self._standing.ids["network"]
                else "apart"
            )
            detail = str(found.cidr)
        if kind == "router":
            gateway = (found.external_gateway_info or {}).get("network_id")
            if gateway != self._standing.external:
                state = "without a way out"
        return Resource(kind, str(found.name), state, detail)

    def run(self, server: str, command: str, within_s: float) -> str:
        """At its floating address, as soon as it can be reached there."""
        deadline = Deadline(within_s)
        self._reach(server, deadline)
        try:
            return self._said(server, command, max(deadline.left_s(), 1.0))
        except FabricError as error:
            raise CloudError(f"{server}: {error.message}") from error

    def _reach(self, server: str, deadline: Deadline) -> None:
        while True:
            try:
                self._said(server, "true", min(_SHORT_S, max(deadline.left_s(), 1.0)))
                return
            except FabricError as error:
                if deadline.left_s() <= _ASK_AGAIN_S:
                    raise CloudError(f"{server}: {error.message}{self._last_words(server)}") from error
            stop_signals.check()
            time.sleep(_ASK_AGAIN_S)

    def _said(self, server: str, command: str, within_s: float) -> str:
        to = self._standing.servers[server].floating
        return ssh.said(
            None, to, command, user=self._user, private_key=self._key, marker=self._marker, within_s=within_s
        )

    def _last_words(self, server: str) -> str:
        """Of its console: a server that has no address says so there."""
        try:
            said = self._console(server, Deadline(_LAST_WORDS_S))
            lines = [line.strip() for line in said.splitlines() if line.strip()]
        except CloudError:
            return ""
        return (
            f"; its console ends with: {' | '.join(lines[-3:])[-240:]}" if lines else "; its console is empty"
        )

    def console(self, server: str) -> str:
        """As much as the cloud keeps of it."""
        return self._console(server, self._deadline)

    def _console(self, server: str, deadline: Deadline) -> str:
        one = self._standing.servers[server]
        with self._cloud.asking(f"read the console of {server}", deadline):
            said: Mapping[str, str] = self._cloud.sdk.compute.get_server_console_output(one.id)
            return str(said["output"] or "")

    def address(self, server: str) -> str:
        """That the cloud gave its port."""
        return self._standing.servers[server].address
