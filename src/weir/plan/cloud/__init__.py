# SPDX-License-Identifier: Apache-2.0
"""From a tenants file to a cloud's names, addresses, and the ordered steps that build it. Pure."""

from __future__ import annotations

from weir.plan.cloud.names import hosts_file, resolver_file
from weir.plan.cloud.steps import cloud_steps
from weir.plan.cloud.topology import cloud_topology, measured_topology

__all__ = ["cloud_steps", "cloud_topology", "hosts_file", "measured_topology", "resolver_file"]
