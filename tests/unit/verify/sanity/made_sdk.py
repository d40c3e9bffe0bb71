# SPDX-License-Identifier: Apache-2.0
"""An SDK that is made up: a few kinds of things, which can be listed and deleted."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

from openstack.cloud._network import NetworkCloudMixin

from weir.verify.drivers.openstack.connection import AnsweredError

KINDS = {
    "identity": ("project", "user", "role", "service"),
    "compute": ("server", "server_group", "keypair"),
    "network": ("ip", "router", "port", "network", "security_group"),
    "block_storage": ("snapshot", "volume", "type"),
    "image": ("image",),
    "orchestration": ("stack",),
}

FILTERED = (*KINDS["network"], *KINDS["image"])
"""What an administrator is shown of all projects, unless a filter is asked for."""


def thing(name: str, project: str = "", **more: Any) -> Any:
    """One, whose identifier is its name with a sign in front."""
    floating = {"floating_ip_address": name, "device_owner": "", "device_id": ""} | more
    return Thing(id=f"#{name}", name=name, project_id=project, owner=project, **floating)


class Thing(SimpleNamespace):
    """Whose fields are read in both of the SDK's ways."""

    def __getitem__(self, key: str) -> Any:
        return getattr(self, key)


@dataclass
class MadeSdk:
    """What there is, by kind; `refused`: kinds that do not go; `deaf`: it heeds no filter; `silent`: a
    service that cannot even be named, since it does not say its versions; `holds`: a kind of which another
    does not go while one is there, and which itself goes at the second asking."""

    there: dict[str, list[Any]]
    refused: set[str] = field(default_factory=set)
    deleted: list[str] = field(default_factory=list)
    current_user_id: str = "admin"
    deaf: bool = False
    silent: str = ""
    holds: tuple[str, str] = ("", "")
    going: set[str] = field(default_factory=set)

    def __getattr__(self, service: str) -> Any:
        if service == self.silent:
            raise ValueError("no supported versions")
        if service not in KINDS:
            raise AttributeError(service)
        made: dict[str, Any] = {}
        for kind in KINDS[service]:
            made[f"{kind}s"] = lambda kind=kind, **how: self._listed(kind, how)
            made[f"delete_{kind}"] = lambda id_, kind=kind, **_how: self._delete(kind, id_)
        made["find_role"] = lambda name, **_how: thing(name)
        made["assign_project_role_to_user"] = lambda *_who: None
        made["remove_interface_from_router"] = lambda _router, port_id: self._delete("port", port_id)
        made["get"] = lambda _path: SimpleNamespace(json=lambda: {"qos_specs": []})
        return SimpleNamespace(**made)

    def list_router_interfaces(self, router: Any, kind: str) -> list[Any]:
        """As the SDK's own: it knows who owns them."""
        assert kind == "internal"
        listing = SimpleNamespace(network=SimpleNamespace(ports=self.network.ports))
        found: list[Any] = NetworkCloudMixin.list_router_interfaces(listing, router, kind)
        return found

    def _listed(self, kind: str, how: dict[str, Any]) -> list[Any]:
        if self.deaf:
            return list(self.there.get(kind, []))
        project = how.get("project_id") or how.get("owner")
        device = how.get("device_id")
        return [
            one
            for one in self.there.get(kind, [])
            if project in (None, one.project_id) and device in (None, one.device_id)
        ]

    def _delete(self, kind: str, id_: str) -> None:
        if kind in self.refused:
            raise ValueError(f"{kind} does not go")
        holder, held = self.holds
        if kind == held and self.there[holder]:
            raise ValueError(f"{kind} {id_} is in use")
        if kind == holder and id_ not in self.going:
            self.going.add(id_)
            return
        self.deleted.append(f"{kind} {id_}")
        self.there[kind] = [one for one in self.there[kind] if id_ not in (one.id, one.name)]


class MadeApi:
    """In place of a connection."""

    name = "made"

    def __init__(self, sdk: MadeSdk, project: str | None = None) -> None:
        self.whole = sdk
        whole = FILTERED if sdk.deaf else ()
        kept = {
            kind: [one for one in found if project in (None, one.project_id) or kind in whole]
            for kind, found in sdk.there.items()
        }
        self.sdk: Any = sdk if project is None else _Within(sdk, kept)

    def in_project(self, project: Any) -> MadeApi:
        return MadeApi(self.whole, project.id)

    @contextmanager
    def asking(self, what: str, _deadline: Any = None) -> Iterator[None]:
        try:
            yield
        except ValueError as error:
            raise AnsweredError(f"{what}: {error}", 409) from None


class _Within(MadeSdk):
    """What a project's users see of it."""

    def __init__(self, whole: MadeSdk, there: dict[str, list[Any]]) -> None:
        super().__init__(
            there, whole.refused, whole.deleted, deaf=whole.deaf, silent=whole.silent, holds=whole.holds,
            going=whole.going,
        )  # fmt: skip
        self._whole = whole

    def _delete(self, kind: str, id_: str) -> None:
        super()._delete(kind, id_)
        mine = {one.id for one in self.there[kind]}
        self._whole.there[kind] = [
            one for one in self._whole.there[kind] if one.id in mine or id_ not in (one.id, one.name)
        ]
