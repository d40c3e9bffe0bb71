# SPDX-License-Identifier: Apache-2.0
"""Names of the scenarios of the suite `sanity`, as in Chung and Wang's Table A2 and in its order: files may
have limits for single ones. What each does is in `weir.verify.sanity.table`."""

from __future__ import annotations

from collections.abc import Mapping

_OF_KINDS: Mapping[str, tuple[str, ...]] = {
    "Authenticate": (
        "keystone",
        "validate_cinder",
        "validate_glance",
        "validate_heat",
        "validate_neutron",
        "validate_nova",
    ),
    "CinderQos": (
        "create_and_list_qos",
        "create_and_set_qos",
    ),
    "CinderVolumes": (
        "create_and_delete_snapshot",
        "create_and_delete_volume",
        "create_and_delete_volume-2",
        "create_and_delete_volume-3",
        "create_and_extend_volume",
        "create_from_volume_and_delete_volume",
    ),
    "CinderVolumeTypes": (
        "create_and_list_volume_types",
        "create_volume_type_and_encryption_type",
    ),
    "GlanceImages": (
        "create_and_delete_image",
        "create_and_list_image",
        "create_image_and_boot_instances",
        "list_images",
    ),
    "HeatStacks": (
        "create_check_delete_stack",
        "create_suspend_resume_delete_stack",
        "create_update_delete_stack",
        "list_stacks_and_resources",
    ),
    "KeystoneBasic": (
        "add_and_remove_user_role",
        "create_add_and_list_user_roles",
        "create_and_delete_role",
        "create_and_delete_service",
        "create_and_list_tenants",
        "create_and_list_users",
        "create_tenant",
        "create_tenant_with_users",
        "create_update_and_delete_tenant",
        "create_user",
        "get_entities",
    ),
    "NeutronNetworks": (
        "create_and_delete_networks",
        "create_and_delete_ports",
        "create_and_delete_routers",
        "create_and_delete_subnets",
        "create_and_list_networks",
        "create_and_list_ports",
        "create_and_list_routers",
        "create_and_list_subnets",
        "set_and_clear_router_gateway",
    ),
    "NeutronSecurityGroup": (
        "create_and_delete_security_group_rule",
        "create_and_delete_security_groups",
    ),
    "NovaKeypair": ("boot_and_delete_server_with_keypair",),
    "NovaServerGroups": ("create_and_delete_server_group",),
    "NovaServers": (
        "boot_server_and_list_interfaces",
        "boot_server_associate_and_dissociate_floating_ip",
        "boot_server_from_volume_and_delete",
        "pause_and_unpause_server",
    ),
    "Quotas": (
        "cinder_update",
        "cinder_update_and_delete",
        "neutron_update",
        "nova_update",
    ),
}
SCENARIO_NAMES = tuple(f"{kind}.{one}" for kind, each in _OF_KINDS.items() for one in each)
