# SPDX-License-Identifier: Apache-2.0
"""All that there is in a cloud."""

from __future__ import annotations

from typing import Any

from weir.verify.drivers.openstack.kinds import KINDS

OF_SCENARIOS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("identity", "users", {}), ("identity", "roles", {}), ("identity", "services", {}),
    ("compute", "server_groups", {"all_projects": True}),
    ("block_storage", "volumes", {"all_projects": True}),
    ("block_storage", "snapshots", {"all_projects": True}), ("block_storage", "types", {}),
)  # fmt: skip
"""What a cloud has that only scenarios touch."""


def listed(cloud: Any) -> dict[str, set[str]]:
    """Identifiers of all that there is of each kind, with when it was changed last where that is told."""
    found = {}
    projects = {one.id for one in cloud.identity.projects()}
    for name, kind in KINDS.items():
        every = (
            {"all_projects": True} if name == "server" else {"is_public": None} if name == "flavor" else {}
        )
        things = list(getattr(getattr(cloud, kind.service), kind.plural)(**every))
        if name == "security group":  # Neutron makes each project one when that asks for the first time
            things = [one for one in things if one.name != "default" or one.project_id not in projects]
        found[name] = {f"{one.id} {getattr(one, 'revision_number', '')}" for one in things}
    for service, plural, every in OF_SCENARIOS:
        found[plural] = {str(one.id) for one in getattr(getattr(cloud, service), plural)(**every)}
    return found
