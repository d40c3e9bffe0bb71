# SPDX-License-Identifier: Apache-2.0
"""Builds what a case needs, in the order in which it can be taken down again the other way round."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from weir.lab.sut import NewFlavor, OpenStackCloud
from weir.verify.driver import CannotRunError, CloudError, ServerWanted, StackWanted

from .connection import AnsweredError, Cloud, Deadline
from .journal import Journal
from .kinds import FORBIDDEN, KINDS, looked_at, make
from .stack import Server, Standing

_INGRESS: tuple[dict[str, Any], ...] = (
    {"protocol": "tcp", "port_range_min": 22, "port_range_max": 22},
    {"protocol": "icmp"},
)
_ROLES = ("member", "Member", "_member_")


class Building:
    """One stack, on the way. `own`: the cloud as the file names it."""

    def __init__(self, own: Cloud, options: OpenStackCloud, journal: Journal, deadline: Deadline) -> None:
        self._own = own
        self._options = options
        self._journal = journal
        self._deadline = deadline
        self._cloud = own

    def build(self, wanted: StackWanted, public_key: Path) -> Standing:
        """CloudError, with what could not be made and why; CannotRunError where that is rights."""
        external = self._external()
        if wanted.new_project:
            self._network("other", external)
            self._cloud = self._new_project()
        standing = Standing(self._cloud, external)
        standing.ids |= {"image": self._image(), "flavor": self._flavor()}
        standing.ids |= self._network("own", external)
        if wanted.servers:
            self._servers(standing, wanted.servers, public_key)
        return standing

    def _make(self, kind: str, part: str, cloud: Cloud | None = None, **attributes: Any) -> Any:
        return make(cloud or self._cloud, self._journal, kind, part, self._deadline, **attributes)

    def _external(self) -> str:
        name = self._options.external_network
        with self._own.asking(f"look for the external network {name}", self._deadline):
            found = self._own.sdk.network.find_network(name, ignore_missing=True)
        if found is None:
            raise CloudError(f"there is no network {name}", "see `openstack.external_network` of the file")
        if not found.is_router_external:
            raise CloudError(
                f"network {name} is not an external one: routers and floating addresses need that"
            )
        return str(found.id)

    def _new_project(self) -> Cloud:
        """One of which this user is a member, no more."""
        with self._own.asking("learn who this is", self._deadline):
            user = self._own.sdk.current_user_id
            domain = self._own.sdk.session.auth.get_access(self._own.sdk.session).project_domain_id
        project = self._as_administrator(
            "projects", lambda: self._make("project", "project", self._own, domain_id=domain)
        )
        with self._own.asking("become a member of the new project", self._deadline):
            role = next(
                (
                    one
                    for name in _ROLES
                    if (one := self._own.sdk.identity.find_role(name, ignore_missing=True))
                ),
                None,
            )
            if role is None:
                raise CloudError(f"there is no role {_ROLES[0]}")
            self._own.sdk.identity.assign_project_role_to_user(project.id, user, role.id)
        return self._own.in_project(project)

    def _as_administrator(self, what: str, doing: Callable[[], Any]) -> Any:
        try:
            return doing()
        except AnsweredError as error:
            if error.status == FORBIDDEN:
                raise CannotRunError(
                    f"making {what} needs an administrator's rights, which the user of {self._own.name} lacks"
                ) from error
            raise

    def _image(self) -> str:
        options = self._options
        if options.image is not None:
            return self._existing("image", options.image, "image")
        assert options.image_file is not None
        from openstack.exceptions import raise_from_response

        made = self._make("image", "image", container_format="bare", disk_format=options.image_format)
        try:
            with (
                Path(options.image_file).open("rb") as data,
                self._cloud.asking("upload the image", self._deadline),
            ):
                raise_from_response(made.upload(self._cloud.sdk.image, data=data))
        except OSError as error:
            raise CloudError(f"cannot read {options.image_file}: {error.strerror}") from error
        self._deadline.until(
            lambda: self._state("image", str(made.id)) == "active", lambda: "the uploaded image is not active"
        )
        return str(made.id)

    def _existing(self, key: str, name: str, kind: str) -> str:
        """The id of what the file names under `openstack.<key>`."""
        with self._cloud.asking(f"look for {key} {name}", self._deadline):
            found = KINDS[kind].of(self._cloud, "find")(name, ignore_missing=True)
        if found is None:
            raise CloudError(f"there is no {key} {name}", f"see `openstack.{key}` of the file")
        return str(found.id)

    def _state(self, kind: str, id_: str) -> str:
        found = looked_at(self._cloud, kind, id_, self._deadline)
        if found is None:
            raise CloudError(f"{kind} {id_} is gone")
        return str(found.status).lower()

    def _flavor(self) -> str:
        options = self._options
        if options.flavor is not None:
            return self._existing("flavor", options.flavor, "flavor")
        assert options.new_flavor is not None
        return self._new_flavor(options.new_flavor)

    def _new_flavor(self, wanted: NewFlavor) -> str:
        """CannotRunError where this user may make none."""
        made = self._as_administrator(
            "flavors",
            lambda: self._make(
                "flavor", "flavor", self._own, vcpus=wanted.vcpus, ram=wanted.ram_mib, disk=wanted.disk_gib,
                is_public=False,
            ),
        )  # fmt: skip
        with self._own.asking("give the flavor to the project", self._deadline):
            compute = self._own.sdk.compute
            if wanted.extra_specs:
                compute.create_flavor_extra_specs(made, wanted.extra_specs)
            compute.flavor_add_tenant_access(made, self._cloud.sdk.current_project_id)
        return str(made.id)

    def _network(self, part: str, external: str) -> dict[str, str]:
        """A network, a subnet and a router, joined."""
        network = self._make("network", f"{part}-network")
        subnet = self._make(
            "subnet", f"{part}-subnet", network_id=network.id, ip_version=4, cidr=self._options.subnet
        )
        router = self._make("router", f"{part}-router", external_gateway_info={"network_id": external})
        with self._cloud.asking("join router and subnet", self._deadline):
            self._cloud.sdk.network.add_interface_to_router(router, subnet_id=subnet.id)
        return {"network": str(network.id), "subnet": str(subnet.id), "router": str(router.id)}

    def _servers(self, standing: Standing, wanted: tuple[ServerWanted, ...], public_key: Path) -> None:
        key, group = self._access(public_key)
        ports = {one.name: self._port(one.name, standing, group) for one in wanted}
        known = {name: address(name, port) for name, port in ports.items()}
        floating = {name: self._floating(name, standing, port) for name, port in ports.items()}
        for one in wanted:
            script = _filled(one.user_data, known) if one.user_data else ""
            made = self._boot(one.name, standing, [ports[one.name]], key, script)
            standing.servers[one.name] = Server(made, known[one.name], floating[one.name])
        for name, server in standing.servers.items():
            self._await(name, server.id)

    def _access(self, public_key: Path) -> tuple[str, str]:
        """Name of a key pair, and identifier of a group that lets SSH and ICMP in."""
        key = self._make("key pair", "key", public_key=public_key.read_text())
        return str(key.name), self._group("group", _INGRESS)

    def _group(self, part: str, ingress: Sequence[Mapping[str, Any]]) -> str:
        group = self._make("security group", part)
        for rule in ingress:
            with self._cloud.asking("open the security group", self._deadline):
                self._cloud.sdk.network.create_security_group_rule(
                    security_group_id=group.id, direction="ingress", ethertype="IPv4", **rule
                )
        return str(group.id)

    def _floating(self, name: str, standing: Standing, port: Any) -> str:
        made = self._make(
            "floating address", f"{name}-floating", floating_network_id=standing.external, port_id=port.id
        )
        return given(made.floating_ip_address, f"server {name} no floating address")

    def _boot(
        self, name: str, standing: Standing, ports: Sequence[Any], key: str, script: str = "", **more: Any
    ) -> str:
        """Begun, not awaited. `script`: that it runs at its start; empty: none."""
        if script:
            more["user_data"] = base64.b64encode(script.encode()).decode()
        if self._options.availability_zone:
            more["availability_zone"] = self._options.availability_zone
        made = self._make(
            "server", name, image_id=standing.ids["image"], flavor_id=standing.ids["flavor"],
            key_name=key, networks=[{"port": one.id} for one in ports], **more,
        )  # fmt: skip
        return str(made.id)

    def _port(self, name: str, standing: Standing, group: str) -> Any:
        return self._make(
            "port", f"{name}-port", network_id=standing.ids["network"], security_group_ids=[group],
            fixed_ips=[{"subnet_id": standing.ids["subnet"]}], binding_vnic_type=self._options.vnic_type,
        )  # fmt: skip

    def _await(self, name: str, id_: str) -> None:
        state = "unknown"

        def active() -> bool:
            nonlocal state
            server = looked_at(self._cloud, "server", id_, self._deadline)
            state = str(server.status).lower() if server is not None else "gone"
            if state in ("gone", "deleted"):
                raise CloudError(f"server {name} is gone, though nobody removed it")
            assert server is not None
            if state == "error":
                fault = server.fault
                cause = fault.get("message") if isinstance(fault, Mapping) else fault
                raise CloudError(f"server {name} went to error: {cause or 'no cause is told'}")
            return state == "active"

        self._deadline.until(active, lambda: f"server {name} is still {state}")


def given(found: Any, otherwise: str) -> str:
    """What the cloud gave a thing that it made. CloudError if that is no text."""
    if not isinstance(found, str) or not found:
        raise CloudError(f"the cloud gave {otherwise}")
    return found


def address(name: str, port: Any) -> str:
    """That the cloud gave the port. CloudError if none."""
    match port.fixed_ips:
        case [{"ip_address": found}, *_]:
            pass
        case _:
            found = None
    return given(found, f"the port of server {name} no address")


def _filled(script: str, known: dict[str, str]) -> str:
    for name, address in known.items():
        script = script.replace(f"{{{name}}}", address)
    return script if script.startswith("#!") else f"#!/bin/sh\n{script}\n"
