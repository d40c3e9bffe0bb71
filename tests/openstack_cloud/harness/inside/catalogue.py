# SPDX-License-Identifier: Apache-2.0
"""What its administrator enters: users and endpoints of services; an image, a flavor, the network outside."""

from __future__ import annotations

import os
from typing import Any

import openstack

from .. import place

_SERVICES = {
    "glance": ("image", f"http://{place.HOST}:9292"),
    "placement": ("placement", f"http://{place.HOST}:8778"),
    "nova": ("compute", f"http://{place.HOST}:8774/v2.1"),
    "neutron": ("network", f"http://{place.HOST}:9696"),
    "cinder": ("volumev3", f"http://{place.HOST}:8776/v3/%(project_id)s"),
    "heat": ("orchestration", f"http://{place.HOST}:8004/v1/%(project_id)s"),
}
_IMAGE_S = 120


def _cloud() -> Any:
    os.environ["OS_CLIENT_CONFIG_FILE"] = str(place.CLOUDS)
    return openstack.connect(cloud=place.CLOUD)


def register() -> None:
    """Of Keystone."""
    identity = _cloud().identity
    domain = "default"
    admin, member = identity.find_role("admin"), identity.find_role("member")
    project = identity.create_project(name="service", domain_id=domain)
    identity.create_role(name="service")
    for user, (kind, url) in _SERVICES.items():
        made = identity.create_user(
            name=user, password=place.password(), domain_id=domain, default_project_id=project.id
        )
        identity.assign_project_role_to_user(project, made, admin)
        service = identity.create_service(name=user, type=kind)
        for interface in ("public", "internal"):
            identity.create_endpoint(
                service_id=service.id, interface=interface, url=url, region_id="RegionOne"
            )
    _let_heat_make_users(identity, admin)
    own = identity.create_project(name="members", domain_id=domain)
    someone = identity.create_user(
        name="member", password=place.password(), domain_id=domain, default_project_id=own.id
    )
    identity.assign_project_role_to_user(own, someone, member)


def _let_heat_make_users(identity: Any, admin: Any) -> None:
    """In a domain of their own: who signals to a stack's resource is one."""
    identity.create_role(name="heat_stack_user")
    identity.create_role(name="heat_stack_owner")
    domain = identity.create_domain(name="heat")
    owner = identity.create_user(
        name="heat_domain_admin", password=place.password(), domain_id=domain.id, default_project_id=None
    )
    identity.assign_domain_role_to_user(domain, owner, admin)


def furnish() -> None:
    """What a cloud has before anybody uses it."""
    cloud = _cloud()
    cloud.create_flavor(place.FLAVOR, ram=192, vcpus=1, disk=1)
    cloud.create_image(
        place.IMAGE, filename=str(place.IMAGE_FILE), disk_format="raw", container_format="bare",
        visibility="public", wait=True, timeout=_IMAGE_S,
    )  # fmt: skip
    outside = cloud.network.create_network(
        name=place.EXTERNAL, is_router_external=True, provider_network_type="flat",
        provider_physical_network="public",
    )  # fmt: skip
    first, last = place.FLOATING_POOL
    cloud.network.create_subnet(
        network_id=outside.id, name=place.EXTERNAL, ip_version=4, cidr=place.FLOATING,
        gateway_ip=place.FLOATING_GATEWAY, is_dhcp_enabled=False,
        allocation_pools=[{"start": first, "end": last}],
    )  # fmt: skip
