# SPDX-License-Identifier: Apache-2.0
"""Several clouds of one lab, that are compared: what tells them apart."""

from __future__ import annotations

from collections.abc import Iterator

from weir.base.cloud import CloudTopology
from weir.lab.tenants import TenantsFile

_ROUTES = {"linux": "Linux routes", "weir": "Weir routes"}


def called(tenants: TenantsFile, topology: CloudTopology) -> str:
    """One of them."""
    return variant(tenants, topology) or topology.security


def variant(tenants: TenantsFile, topology: CloudTopology) -> str | None:
    """What one of several clouds is called that differ in more than how they filter: "routers alone",
    "Weir routes, through dpi, firewall". None: they do not."""
    said = list(_differing(tenants, topology))
    if not said:
        return None
    return ", ".join([topology.security, *said] if _several(tenants.measure.security) else said)


def _differing(tenants: TenantsFile, topology: CloudTopology) -> Iterator[str]:
    if _several(tenants.measure.router):
        yield _ROUTES[topology.router]
    if _several(tenants.measure.functions):
        names = ", ".join(name.partition(".")[2] for name in topology.shared_functions())
        yield f"through {names}" if names else "routers alone"


def _several(compared: tuple[object, ...] | None) -> bool:
    return len(set(compared or ())) > 1
