# SPDX-License-Identifier: Apache-2.0
"""cloud-up-*, cloud-down-*: seconds to build a cloud of tenants and to take it down, against limits.

Each tenant has a network, a router, an instance and two functions, on one compute node.
"""

from __future__ import annotations

import secrets
import time

from bench.pairs import Line, SkipError, of_ratios
from weir import fabric, plan
from weir.lab.tenants import Tenant, TenantFunction, TenantsFile
from weir.plan.cloud import cloud_steps, cloud_topology

TENANTS = {4: 5, 64: 5}
"""How many, and how often they are built."""
UP_LIMIT_S = {4: 5.0, 64: 60.0}
DOWN_LIMIT_S = 20.0
FUNCTIONS = ("dpi", "firewall")


def run() -> list[Line]:
    """Ratios of the limits to the seconds."""
    refusal = fabric.check("ovs")
    if refusal is not None:
        raise SkipError(refusal.missing)
    lines = []
    for tenants, times in TENANTS.items():
        taken = [_up_and_down_s(tenants) for _ in range(times)]
        ups, downs = [up for up, _ in taken], [down for _, down in taken]
        lines.append(_line(f"cloud-up-{tenants}", ups, UP_LIMIT_S[tenants]))
        lines.append(_line(f"cloud-down-{tenants}", downs, DOWN_LIMIT_S))
    return lines


def _line(name: str, seconds: list[float], limit_s: float) -> Line:
    detail: dict[str, object] = {"seconds": [round(one, 3) for one in seconds], "limit_s": limit_s}
    return of_ratios(name, [limit_s / one for one in seconds], target=1.0, detail=detail)


def _up_and_down_s(tenants: int) -> tuple[float, float]:
    functions = tuple(TenantFunction(name=name) for name in FUNCTIONS)
    alike = Tenant(name="t", count=tenants, functions=functions)
    file = TenantsFile(weir=1, name="cloud-up", tenants=(alike,))
    topology = cloud_topology(file, plan.deployment_id(file.name, secrets.token_hex(4)))
    steps = cloud_steps(topology)
    missing = next((why for why in map(fabric.lacking, steps) if why is not None), None)
    if missing is not None:
        raise SkipError(missing)
    begin = time.perf_counter()
    deployment = fabric.Deployment.deploy(steps, topology)
    up_s = time.perf_counter() - begin
    begin = time.perf_counter()
    deployment.destroy()
    return up_s, time.perf_counter() - begin
