# SPDX-License-Identifier: Apache-2.0
"""Technologies that join the ports of a chain: one module each, and this list."""

from __future__ import annotations

from collections.abc import Mapping

from weir.technology import direct, linux_bridge, ovs, ovs_dpdk, sriov
from weir.technology.descriptor import Technology, TechnologyOptions

TECHNOLOGIES: Mapping[str, Technology] = {
    module.TECHNOLOGY.name: module.TECHNOLOGY for module in (direct, linux_bridge, ovs, ovs_dpdk, sriov)
}
"""By name, in the order in which people see them."""

__all__ = ["TECHNOLOGIES", "Technology", "TechnologyOptions"]
