# SPDX-License-Identifier: Apache-2.0
"""Lists of a router's ports that are made by hand: what was recorded was asked for by one owner alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .exchange import Exchange, path_of
from .replay import Fault

PLAIN = "network:router_interface"
_BY_OWNER = path_of(f"?device_owner={PLAIN}")[2:]


def whole_lists(recorded: Sequence[Exchange]) -> list[Exchange]:
    """All ports of each router whose interfaces are recorded: with its gateway, as administrators see it."""
    return [
        one.model_copy(
            update={
                "path": one.path.removesuffix(f"&{_BY_OWNER}"),
                "said": {"ports": [*one.said["ports"], *map(_gateway, one.said["ports"])]},
            }
        )
        for one in recorded
        if one.path.endswith(f"&{_BY_OWNER}")
    ]


def _gateway(interface: dict[str, Any]) -> dict[str, Any]:
    own = {"id": f"gateway-{interface['id']}", "device_owner": "network:router_gateway"}
    return interface | own | {"tenant_id": "", "project_id": ""}


def interfaces_of(owner: str) -> list[Fault]:
    """As Neutron names the interfaces of routers of another kind; it filters by the owner's whole name."""

    def renamed(said: Any) -> Any:
        return {
            "ports": [
                one | {"device_owner": owner} if one["device_owner"] == PLAIN else one
                for one in said["ports"]
            ]
        }

    ports = r"/network/v2\.0/ports\?device_id=[^&]*"
    by_owner = Fault("GET", f"{ports}&{_BY_OWNER}$", change=lambda _: {"ports": []})
    return [*([by_owner] if owner != PLAIN else []), Fault("GET", f"{ports}$", change=renamed)]
