# SPDX-License-Identifier: Apache-2.0
"""The ways to filter what instances send and get, by name."""

from __future__ import annotations

from collections.abc import Mapping

from weir.base.cloud import Security
from weir.plan.cloud.security import bridge_filter, none, ovs_conntrack
from weir.plan.cloud.security.kind import SecurityKind

SECURITIES: Mapping[Security, SecurityKind] = {
    "bridge-filter": bridge_filter.KIND,
    "ovs-conntrack": ovs_conntrack.KIND,
    "none": none.KIND,
}
