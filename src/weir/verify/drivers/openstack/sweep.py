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
        stays: list[str] = []
        found = False
        for what, remove in sweeping.all():
            found = True
            try:
                with cloud.asking(f"remove {what}", deadline):
                    remove()
            except AnsweredError as error:
                if error.status != _MISSING:
                    stays.append(str(error))
        if not found:
            return
        if deadline.left_s() <= _AGAIN_S:
            raise CloudError(f"of its scenario stays: {'; '.join(stays[:_TRIES]) or 'what is being removed'}")
        if stays or sweeping.slow:
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

    def all(self) -> Iterator[Found]:
        """Looked for now, kind by kind. CloudError."""
        sdk = self._cloud.sdk
        projects = self._mine("projects", sdk.identity.projects)
        for project in projects:
            yield from self._in(project)
        yield from self._by_name()
        for user in self._mine("users", sdk.identity.users):
            if "compute" in self._kinds:
                keys = self._listed("key pairs", partial(sdk.compute.keypairs, user_id=user.id))
                for key in keys:
                    yield (
                        f"key pair {key.name}",
                        partial(sdk.compute.delete_keypair, key.name, user_id=user.id),
                    )
            yield f"user {user.name}", partial(sdk.identity.delete_user, user.id)
        for project in projects:
            yield f"project {project.name}", partial(sdk.identity.delete_project, project.id)

    def _listed(self, what: str, ask: Callable[[], Iterable[Any]]) -> list[Any]:
        with self._cloud.asking(f"look for {what}", self._deadline):
            return list(ask())

    def _mine(self, what: str, ask: Callable[[], Iterable[Any]]) -> list[Any]:
        return [one for one in self._listed(what, ask) if self._pattern.fullmatch(str(one.name or ""))]

    def _in(self, project: Any) -> Iterator[Found]:
        """As a user who was given a role in it: some services show a project's things to its users alone."""
        sdk = self._cloud.sdk
        with self._cloud.asking("enter a scenario's project", self._deadline):
            role = sdk.identity.find_role(_ROLE, ignore_missing=False)
            sdk.identity.assign_project_role_to_user(project.id, sdk.current_user_id, role.id)
        inside, id_ = self._cloud.in_project(project), str(project.id)
        there = inside.sdk
        if "orchestration" in self._kinds:
            yield from self._each("stack", there.orchestration.stacks, there.orchestration.delete_stack)
        if "compute" in self._kinds:
            yield from self._each("server", there.compute.servers, there.compute.delete_server)
            yield from self._each(
                "server group", there.compute.server_groups, there.compute.delete_server_group, slow=False
            )
        if "block-storage" in self._kinds:
            yield from self._each(
                "snapshot", there.block_storage.snapshots, there.block_storage.delete_snapshot
            )
            yield from self._each("volume", there.block_storage.volumes, there.block_storage.delete_volume)
        if "network" in self._kinds:
            yield from self._networks(inside, id_)
        if "image" in self._kinds:
            for one in self._of(id_, "images", partial(there.image.images, owner=id_), key="owner"):
                yield f"image {one.name or one.id}", partial(there.image.delete_image, one.id)

    def _each(
        self, what: str, ask: Callable[[], Iterable[Any]], remove: Callable[..., Any], *, slow: bool = True
    ) -> Iterator[Found]:
        for one in self._listed(f"{what}s", ask):
            self.slow = self.slow or slow
            yield f"{what} {one.name or one.id}", partial(remove, one.id)

    def _of(
        self, project: str, what: str, ask: Callable[[], Iterable[Any]], *, key: str = "project_id"
    ) -> list[Any]:
        """Those of it: an administrator is shown shared ones too, and all where the filter is not heeded."""
        return [one for one in self._listed(what, ask) if getattr(one, key) == project]

    def _networks(self, inside: Cloud, project: str) -> Iterator[Found]:
        network = inside.sdk.network
        for one in self._of(project, "floating addresses", partial(network.ips, project_id=project)):
            yield f"floating address {one.floating_ip_address}", partial(network.delete_ip, one.id)
        for router in self._of(project, "routers", partial(network.routers, project_id=project)):
            for port in interfaces(inside, router.id, self._deadline):
                leave = partial(network.remove_interface_from_router, router.id, port_id=port.id)
                yield f"an interface of router {router.name}", leave
            yield f"router {router.name}", partial(network.delete_router, router.id)
        for port in self._of(project, "ports", partial(network.ports, project_id=project)):
            if not str(port.device_owner or "").startswith("network:"):
                yield f"port {port.name or port.id}", partial(network.delete_port, port.id)
        for kind, remove in (
            ("networks", network.delete_network),
            ("security_groups", network.delete_security_group),
        ):
            ask = partial(getattr(network, kind), project_id=project)
            for one in self._of(project, kind.replace("_", " "), ask):
                yield f"{kind[:-1].replace('_', ' ')} {one.name}", partial(remove, one.id)

    def _by_name(self) -> Iterator[Found]:
        """What is in no project of the scenario's: an administrator made it, or its project is gone."""
        sdk = self._cloud.sdk
        todo: list[tuple[str, str, str, Callable[[], Iterable[Any]], Callable[..., Any]]] = [
            ("identity", "role", "roles", sdk.identity.roles, sdk.identity.delete_role),
            ("identity", "service", "services", sdk.identity.services, sdk.identity.delete_service),
        ]
        if "compute" in self._kinds:
            servers = partial(sdk.compute.servers, details=False, all_projects=True)
            groups = partial(sdk.compute.server_groups, all_projects=True)
            todo += [
                ("compute", "server", "servers", servers, sdk.compute.delete_server),
                ("compute", "server group", "server groups", groups, sdk.compute.delete_server_group),
            ]
        if "block-storage" in self._kinds:
            volume = sdk.block_storage
            todo += [
                ("block-storage", "volume", "volumes",
                 partial(volume.volumes, details=False, all_projects=True), volume.delete_volume),
                ("block-storage", "volume type", "volume types", volume.types, volume.delete_type),
                ("block-storage", "service level", "service levels", self._qos, self._delete_qos),
            ]  # fmt: skip
        if "network" in self._kinds:
            network = sdk.network
            todo += [
                ("network", "router", "routers", network.routers, network.delete_router),
                ("network", "network", "networks", network.networks, network.delete_network),
                ("network", "security group", "security groups", network.security_groups,
                 network.delete_security_group),
            ]  # fmt: skip
        if "image" in self._kinds:
            todo.append(("image", "image", "images", sdk.image.images, sdk.image.delete_image))
        for _service, what, plural, ask, remove in todo:
            for one in self._mine(plural, ask):
                yield f"{what} {one.name}", partial(remove, one.id)

    def _qos(self) -> Iterable[Any]:
        from types import SimpleNamespace

        said = self._cloud.sdk.block_storage.get("/qos-specs").json()
        return [SimpleNamespace(**one) for one in said["qos_specs"]]

    def _delete_qos(self, id_: str) -> None:
        from openstack.exceptions import raise_from_response

        raise_from_response(self._cloud.sdk.block_storage.delete(f"/qos-specs/{id_}"))
