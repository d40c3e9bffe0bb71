# SPDX-License-Identifier: Apache-2.0
"""The scenarios of the suite: Chung and Wang's Table A2, which are Functest's of that tier, in its order,
with its arguments. What a cloud has to say for itself stands as a word of `Of`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Any


class Of(Enum):
    """Values that the cloud, or the file of the system under test, has."""

    IMAGE = auto()
    FLAVOR = auto()
    EXTERNAL_NETWORK = auto()
    IMAGE_FILE = auto()
    """A path: what is uploaded."""
    IMAGE_FORMAT = auto()


@dataclass(frozen=True)
class Template:
    """A Heat template, which becomes a file of this name."""

    name: str
    resources: Mapping[str, Any]


@dataclass(frozen=True)
class Scenario:
    """One row."""

    name: str
    """As in Table A2."""
    title: str
    services: tuple[str, ...] = ()
    """Types that the catalogue must have beside identity, by their official names."""
    time_s: float = 30.0
    """That an iteration may take, where the file says nothing else."""
    arguments: Mapping[str, Any] = field(default_factory=dict)
    contexts: Mapping[str, Any] = field(default_factory=dict)
    """Rally's, beside its users: what stands before the first iteration."""
    users: bool = True
    """Whether its iterations run as members of projects made for it; otherwise as the administrator alone."""

    @property
    def plugin(self) -> str:
        """Rally's name: rows that differ in arguments have a number behind it."""
        return self.name.partition("-")[0]


IDENTITY_S, API_S, IMAGE_S, VOLUME_S, STACK_S, SERVER_S = 15.0, 30.0, 60.0, 90.0, 120.0, 240.0
_COMPUTE, _NETWORK, _IMAGE, _VOLUME, _HEAT = "compute", "network", "image", "block-storage", "orchestration"
_TWICE = {"repetitions": 2}
_UPLOAD = {"container_format": "bare", "disk_format": Of.IMAGE_FORMAT, "image_location": Of.IMAGE_FILE}
_SERVER = {"image": {"id": Of.IMAGE}, "flavor": {"id": Of.FLAVOR}}
_ROOM = {"quotas": {"nova": {"instances": -1, "cores": -1, "ram": -1}}}
_WIRED = {**_ROOM, "network": {}}
_VOLUMES = {"quotas": {"cinder": {"gigabytes": -1, "snapshots": -1, "volumes": -1}}}
_ONE_VOLUME = {**_VOLUMES, "volumes": {"size": 1, "volumes_per_tenant": 1}}
_SUBNETS: Mapping[str, Any] = {
    "network_create_args": {},
    "subnet_create_args": {},
    "subnet_cidr_start": "10.2.0.0/24",
    "subnets_per_network": 1,
}
_PORTS: Mapping[str, Any] = {"network_create_args": {}, "port_create_args": {}, "ports_per_network": 1}
_OWNER = {"roles": ["heat_stack_owner"]}
_STRINGS = Template(
    "strings.json",
    {name: {"type": "OS::Heat::RandomString", "properties": {"length": 20}} for name in ("first", "second")},
)


def _scaled(name: str, by: int) -> Template:
    """A group of nothing, and a policy that would add or remove one."""
    group = {
        "type": "OS::Heat::AutoScalingGroup",
        "properties": {
            "desired_capacity": 0, "min_size": 0, "max_size": 0,
            "resource": {"type": "OS::Heat::RandomString"},
        },
    }  # fmt: skip
    policy = {
        "type": "OS::Heat::ScalingPolicy",
        "properties": {
            "adjustment_type": "change_in_capacity", "auto_scaling_group_id": {"get_resource": "group"},
            "scaling_adjustment": by,
        },
    }  # fmt: skip
    return Template(name, {"group": group, "policy": policy})


def _quotas(*of: str) -> Mapping[str, Any]:
    return {"quotas": {"neutron": dict.fromkeys(of, -1)}}


def _identity(name: str, title: str, *, users: bool = False, **arguments: Any) -> Scenario:
    return Scenario(f"KeystoneBasic.{name}", title, (), IDENTITY_S, arguments, users=users)


def _network(name: str, title: str, arguments: Mapping[str, Any], contexts: Mapping[str, Any]) -> Scenario:
    return Scenario(f"NeutronNetworks.{name}", title, (_NETWORK,), API_S, arguments, contexts)


def _volume(name: str, title: str, arguments: Mapping[str, Any], contexts: Mapping[str, Any]) -> Scenario:
    return Scenario(f"CinderVolumes.{name}", title, (_VOLUME,), VOLUME_S, arguments, contexts)


def _type(name: str, title: str, **arguments: Any) -> Scenario:
    return Scenario(name, title, (_VOLUME,), API_S, arguments)


def _stack(name: str, title: str, **arguments: Any) -> Scenario:
    return Scenario(f"HeatStacks.{name}", title, (_HEAT,), STACK_S, arguments, _OWNER)


def _server(
    name: str, title: str, *services: str, contexts: Mapping[str, Any] = _WIRED, **arguments: Any
) -> Scenario:
    needed = (_COMPUTE, _NETWORK, _IMAGE, *services)
    return Scenario(name, title, needed, SERVER_S, {**_SERVER, **arguments}, contexts)


def _asks(service: str, kind: str) -> Scenario:
    title = f"a user's token is good for {service}"
    return Scenario(f"Authenticate.validate_{service}", title, (kind,), IDENTITY_S, _TWICE)


SCENARIOS: tuple[Scenario, ...] = (
    Scenario("Authenticate.keystone", "a user logs in", (), IDENTITY_S),
    _asks("cinder", _VOLUME),
    _asks("glance", _IMAGE),
    _asks("heat", _HEAT),
    _asks("neutron", _NETWORK),
    _asks("nova", _COMPUTE),
    _type(
        "CinderQos.create_and_list_qos", "a service level of volumes is made, and listed",
        consumer="both", write_iops_sec="10", read_iops_sec="1000",
    ),
    _type(
        "CinderQos.create_and_set_qos", "a service level of volumes is made, and changed",
        consumer="back-end", write_iops_sec="10", read_iops_sec="1000",
        set_consumer="both", set_write_iops_sec="11", set_read_iops_sec="1001",
    ),
    _volume(
        "create_and_delete_snapshot", "a snapshot of a volume is made, and deleted",
        {"force": False}, _ONE_VOLUME,
    ),
    _volume(
        "create_and_delete_volume", "a volume of a size from a range is made, and deleted",
        {"size": {"min": 1, "max": 1}}, _VOLUMES,
    ),
    _volume(
        "create_and_delete_volume-2", "a volume is made of an image, and deleted",
        {"size": 1, "image": {"id": Of.IMAGE}}, _VOLUMES,
    ),
    _volume("create_and_delete_volume-3", "a volume is made, and deleted", {"size": 1}, _VOLUMES),
    _volume("create_and_extend_volume", "a volume is made, and grows", {"size": 1, "new_size": 2}, _VOLUMES),
    _volume(
        "create_from_volume_and_delete_volume", "a volume is made of another one, and deleted",
        {"size": 1}, _ONE_VOLUME,
    ),
    _type(
        "CinderVolumeTypes.create_and_list_volume_types", "a type of volumes is made, and listed",
        description="a type of volumes that a scenario made",
    ),
    _type(
        "CinderVolumeTypes.create_volume_type_and_encryption_type", "a type of encrypted volumes is made",
        description="a type of volumes that a scenario made",
        provider="LuksEncryptor", cipher="aes-xts-plain64", key_size=512, control_location="front-end",
    ),
    Scenario(
        "GlanceImages.create_and_delete_image", "an image is uploaded, and deleted",
        (_IMAGE,), IMAGE_S, _UPLOAD,
    ),
    Scenario(
        "GlanceImages.create_and_list_image", "an image is uploaded, and listed", (_IMAGE,), IMAGE_S, _UPLOAD
    ),
    Scenario(
        "GlanceImages.create_image_and_boot_instances", "an image is uploaded, and two servers boot from it",
        (_IMAGE, _COMPUTE, _NETWORK), SERVER_S,
        {**_UPLOAD, "flavor": {"id": Of.FLAVOR}, "number_instances": 2}, _WIRED,
    ),
    Scenario("GlanceImages.list_images", "images are listed", (_IMAGE,), API_S),
    _stack("create_check_delete_stack", "a stack is made, checked and deleted", template_path=_STRINGS),
    _stack(
        "create_suspend_resume_delete_stack", "a stack is made, suspended, resumed and deleted",
        template_path=_STRINGS,
    ),
    _stack(
        "create_update_delete_stack", "a stack is made, updated in place and deleted",
        template_path=_scaled("scaled-up.json", 1), updated_template_path=_scaled("scaled-down.json", -1),
    ),
    _stack("list_stacks_and_resources", "stacks and their resources are listed"),
    _identity("add_and_remove_user_role", "a user is given a role, and loses it", users=True),
    _identity("create_add_and_list_user_roles", "a role is made, given to a user, and listed", users=True),
    _identity("create_and_delete_role", "a role is made, and deleted"),
    _identity("create_and_delete_service", "a service is entered, and deleted"),
    _identity("create_and_list_tenants", "a project is made, and listed"),
    _identity("create_and_list_users", "a user is made, and listed"),
    _identity("create_tenant", "a project is made"),
    _identity("create_tenant_with_users", "a project of ten users is made", users_per_tenant=10),
    _identity("create_update_and_delete_tenant", "a project is made, changed and deleted"),
    _identity("create_user", "a user is made"),
    _identity("get_entities", "a project, a user, a role and a service are made, and looked up"),
    _network(
        "create_and_delete_networks", "a network is made, and deleted",
        {"network_create_args": {}}, _quotas("network"),
    ),
    _network(
        "create_and_delete_ports", "a port is made in a network, and deleted",
        _PORTS, _quotas("network", "port"),
    ),
    _network(
        "create_and_delete_routers", "a network, a subnet and a router are made, and the router is deleted",
        {**_SUBNETS, "router_create_args": {}}, _quotas("network", "subnet", "port", "router"),
    ),
    _network(
        "create_and_delete_subnets", "a network and a subnet are made, and the subnet is deleted",
        _SUBNETS, _quotas("network", "subnet"),
    ),
    _network(
        "create_and_list_networks", "a network is made, and listed",
        {"network_create_args": {}}, _quotas("network"),
    ),
    _network(
        "create_and_list_ports", "a port is made in a network, and listed",
        _PORTS, _quotas("network", "port"),
    ),
    _network(
        "create_and_list_routers", "a network, a subnet and a router of it are made, and listed",
        {**_SUBNETS, "router_create_args": {}}, _quotas("network", "subnet", "router"),
    ),
    _network(
        "create_and_list_subnets", "a network and a subnet are made, and listed",
        _SUBNETS, _quotas("network", "subnet"),
    ),
    _network(
        "set_and_clear_router_gateway", "a router gets a way out, and loses it",
        {"network_create_args": {"router:external": True}},
        {**_quotas("network", "router"), "roles": ["admin"]},
    ),
    Scenario(
        "NeutronSecurityGroup.create_and_delete_security_group_rule",
        "a rule of a security group is made, and deleted", (_NETWORK,), API_S, {}, _quotas("security_group"),
    ),
    Scenario(
        "NeutronSecurityGroup.create_and_delete_security_groups",
        "a security group is made, and deleted", (_NETWORK,), API_S, {}, _quotas("security_group"),
    ),
    _server(
        "NovaKeypair.boot_and_delete_server_with_keypair",
        "a server boots with a key pair, and both are deleted",
    ),
    Scenario(
        "NovaServerGroups.create_and_delete_server_group", "a group of servers is made, and deleted",
        (_COMPUTE,), API_S, {"policies": ["affinity"]},
    ),
    _server("NovaServers.boot_server_and_list_interfaces", "a server boots, and its interfaces are listed"),
    _server(
        "NovaServers.boot_server_associate_and_dissociate_floating_ip",
        "a server boots, is given a floating address, and loses it", floating_network=Of.EXTERNAL_NETWORK,
    ),
    _server(
        "NovaServers.boot_server_from_volume_and_delete", "a server boots from a volume, and is deleted",
        _VOLUME,
        contexts={**_WIRED, "quotas": {**_ROOM["quotas"], **_VOLUMES["quotas"]}}, volume_size=1,
    ),
    _server("NovaServers.pause_and_unpause_server", "a server is paused, and goes on", force_delete=False),
    _type("Quotas.cinder_update", "a project's quotas of volumes are changed", max_quota=1024),
    _type("Quotas.cinder_update_and_delete", "they are changed, and back to what is usual", max_quota=1024),
    Scenario(
        "Quotas.neutron_update", "a project's quotas of networks are changed", (_NETWORK,), API_S,
        {"max_quota": 1024},
    ),
    Scenario(
        "Quotas.nova_update", "a project's quotas of servers are changed", (_COMPUTE,), API_S,
        {"max_quota": 1024},
    ),
)  # fmt: skip
