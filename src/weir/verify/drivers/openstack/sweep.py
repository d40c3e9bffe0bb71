# SPDX-License-Identifier: Apache-2.0
"""Removes what scenarios made and did not remove: those that were ended, and those whose own clean-up failed.

Rally names what it makes; here those names begin with a journal's tag, which has 48 random bits and is of no
other run. What is in a project of such a name is the scenario's, whatever its name; elsewhere the whole
pattern counts.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

from weir.fabric import attended
from weir.verify.driver import CloudError

from . import services
from .connection import AnsweredError, Cloud, Deadline
from .kinds import interfaces

KIND = "scenario"
"""In a journal: all that one made, under its tag."""
_AGAIN_S = 2.0
_MISSING = 404
_TRIES = 3
_ROLE = "admin"
_DEFAULT = "default"
"""A project's security group, which goes right before the project."""

Found = tuple[str, Callable[[], Any]]
"""What it is, and what removes it."""


def marker(tag: str) -> str:
    """Of the processes that do a scenario."""
    return f"{tag}/rally"


def sweep(cloud: Cloud, tag: str, deadline: Deadline) -> None:
    """All of it, until a look finds nothing. CloudError names what stays."""
    attended.end(marker(tag))  # one that an ended run left goes on making things
    sweeping = _Sweeping(cloud, re.compile(rf"{re.escape(tag)}_\w{{3}}_\w{{8}}(-\w+)*"), deadline)
    while True:
        sweeping.stays.clear()
        found = False
        for what, remove in sweeping.all():
            found = True
            try:
                with cloud.asking(f"remove {what}", deadline):
                    remove()
            except AnsweredError as error:
                if error.status != _MISSING:
                    sweeping.stays.append(str(error))
        if not found:
            return
        if deadline.left_s() <= _AGAIN_S:
            said = "; ".join(sweeping.stays[:_TRIES]) or "what is being removed"
            raise CloudError(f"of its scenario stays: {said}")
        if sweeping.stays or sweeping.slow:
            time.sleep(_AGAIN_S)


class _Sweeping:
    """What stands, by kind, in the order in which it goes."""

    def __init__(self, cloud: Cloud, pattern: re.Pattern[str], deadline: Deadline) -> None:
        self._cloud = cloud
        self._pattern = pattern
        self._deadline = deadline
        self._kinds = services.kinds(cloud, deadline)
        self.slow = False
        """Whether something goes that takes its time: what it hangs on is refused until then."""
        self.stays: list[str] = []
        """What was refused in this look."""

    def all(self) -> Iterator[Found]:
        """Looked for now, kind by kind. A project goes in a look that finds nothing in it: what a server that
        takes its time still holds would be found in no project any more. CloudError."""
        cloud = self._cloud
        projects = self._mine("projects", _listing(cloud, "identity", "project"))
        empty = True
        for project in projects:
            for one in self._in(project):
                empty = False
                yield one
        yield from self._by_name()
        for user in self._mine("users", _listing(cloud, "identity", "user")):
            if "compute" in self._kinds:
                keys = self._listed("key pairs", _listing(cloud, "compute", "keypair", user_id=user.id))
                for key in keys:
                    yield (
                        f"key pair {key.name}",
                        _removal(cloud, "compute", "keypair", key.name, user_id=user.id),
                    )
            yield f"user {user.name}", _removal(cloud, "identity", "user", user.id)
        for project in projects if empty else ():
            if "network" in self._kinds:
                yield from self._default_group(project, str(project.id))
            if not self.stays:
                yield f"project {project.name}", _removal(cloud, "identity", "project", project.id)

    def _default_group(self, project: Any, id_: str) -> Iterator[Found]:
        """Neutron makes a project one whenever that asks for its security groups."""
        inside = self._cloud.in_project(project)
        asked = _listing(inside, "network", "security_group", project_id=id_)
        for one in self._of(id_, "security groups", asked):
            yield f"security group {one.name}", _removal(inside, "network", "security_group", one.id)

    def _listed(self, what: str, ask: Callable[[], Iterable[Any]]) -> list[Any]:
        with self._cloud.asking(f"look for {what}", self._deadline):
            return list(ask())

    def _mine(self, what: str, ask: Callable[[], Iterable[Any]]) -> list[Any]:
        return [one for one in self._listed(what, ask) if self._pattern.fullmatch(str(one.name or ""))]

    def _in(self, project: Any) -> Iterator[Found]:
        """As a user who was given a role in it: some services show a project's things to its users alone."""
        with self._cloud.asking("enter a scenario's project", self._deadline):
            sdk = self._cloud.sdk
            role = sdk.identity.find_role(_ROLE, ignore_missing=False)
            sdk.identity.assign_project_role_to_user(project.id, sdk.current_user_id, role.id)
        inside, id_ = self._cloud.in_project(project), str(project.id)
        if "orchestration" in self._kinds:
            yield from self._each(inside, "orchestration", "stack")
        if "compute" in self._kinds:
            yield from self._each(inside, "compute", "server")
            yield from self._each(inside, "compute", "server_group", slow=False)
        if "block-storage" in self._kinds:
            yield from self._each(inside, "block_storage", "snapshot")
            yield from self._each(inside, "block_storage", "volume")
        if "network" in self._kinds:
            yield from self._networks(inside, id_)
        if "image" in self._kinds:
            images = _listing(inside, "image", "image", owner=id_)
            for one in self._of(id_, "images", images, key="owner"):
                yield f"image {one.name or one.id}", _removal(inside, "image", "image", one.id)

    def _each(self, inside: Cloud, service: str, kind: str, *, slow: bool = True) -> Iterator[Found]:
        what = kind.replace("_", " ")
        for one in self._listed(f"{what}s", _listing(inside, service, kind)):
            self.slow = self.slow or slow
            yield f"{what} {one.name or one.id}", _removal(inside, service, kind, one.id)

    def _of(
        self, project: str, what: str, ask: Callable[[], Iterable[Any]], *, key: str = "project_id"
    ) -> list[Any]:
        """Those of it: an administrator is shown shared ones too, and all where the filter is not heeded."""
        return [one for one in self._listed(what, ask) if getattr(one, key) == project]

    def _networks(self, inside: Cloud, project: str) -> Iterator[Found]:
        def those(what: str, kind: str) -> list[Any]:
            return self._of(project, what, _listing(inside, "network", kind, project_id=project))

        def removal(kind: str, one: Any) -> Callable[[], Any]:
            return _removal(inside, "network", kind, one.id)

        for one in those("floating addresses", "ip"):
            yield f"floating address {one.floating_ip_address}", removal("ip", one)
        for router in those("routers", "router"):
            for port in interfaces(inside, router.id, self._deadline):
                leave = _asked(inside, "network", "remove_interface_from_router", router.id, port_id=port.id)
                yield f"an interface of router {router.name}", leave
            yield f"router {router.name}", removal("router", router)
        for port in those("ports", "port"):
            if not str(port.device_owner or "").startswith("network:"):
                yield f"port {port.name or port.id}", removal("port", port)
        for kind in ("network", "security_group"):
            what = kind.replace("_", " ")
            for one in those(f"{what}s", kind):
                if one.name != _DEFAULT:
                    yield f"{what} {one.name}", removal(kind, one)

    def _by_name(self) -> Iterator[Found]:
        """What is in no project of the scenario's: an administrator made it, or its project is gone."""
        wanted: list[tuple[str, str, str, dict[str, Any]]] = [
            ("identity", "role", "role", {}), ("identity", "service", "service", {}),
            ("compute", "server", "server", {"details": False, "all_projects": True}),
            ("compute", "server_group", "server group", {"all_projects": True}),
            ("block-storage", "volume", "volume", {"details": False, "all_projects": True}),
            ("block-storage", "type", "volume type", {}),
            ("block-storage", "qos", "service level", {}),
            ("network", "router", "router", {}), ("network", "network", "network", {}),
            ("network", "security_group", "security group", {}), ("image", "image", "image", {}),
        ]  # fmt: skip
        for type_, kind, what, how in wanted:
            if type_ not in self._kinds:
                continue
            if kind == "qos":
                for one in self._mine(f"{what}s", self._qos):
                    yield f"{what} {one.name}", partial(self._delete_qos, one.id)
                continue
            service = type_.replace("-", "_")
            for one in self._mine(f"{what}s", _listing(self._cloud, service, kind, **how)):
                yield f"{what} {one.name}", _removal(self._cloud, service, kind, one.id)

    def _qos(self) -> Iterable[Any]:
        from types import SimpleNamespace

        said = self._cloud.sdk.block_storage.get("/qos-specs").json()
        return [SimpleNamespace(**one) for one in said["qos_specs"]]

    def _delete_qos(self, id_: str) -> None:
        from openstack.exceptions import raise_from_response

        raise_from_response(self._cloud.sdk.block_storage.delete(f"/qos-specs/{id_}"))


def _asked(cloud: Cloud, service: str, method: str, *words: Any, **how: Any) -> Callable[[], Any]:
    """Named when it is called, in a body of `asking`: for that the SDK may ask a service for its versions."""
    return lambda: getattr(getattr(cloud.sdk, service), method)(*words, **how)


def _listing(cloud: Cloud, service: str, kind: str, **how: Any) -> Callable[[], Iterable[Any]]:
    return _asked(cloud, service, f"{kind}s", **how)


def _removal(cloud: Cloud, service: str, kind: str, id_: str, **how: Any) -> Callable[[], Any]:
    return _asked(cloud, service, f"delete_{kind}", id_, **how)
