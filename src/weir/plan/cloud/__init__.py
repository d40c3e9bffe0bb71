# SPDX-License-Identifier: Apache-2.0
"""From a tenants file to a cloud's names, addresses, and the ordered steps that build it. Pure.

A packet's way from a tenant's host to the outside (names.py says what each is called):

    instance eth0 - tap [- qbr - qvb - qvo] - br-int - br-tun - br-phy - eth1   its compute node
        - the nodes' wire -
    eth1 - br-phy - br-tun - br-int - qr [router] qg - br-ex - eth2             the network node
        - outside eth0

With `isolation: vlan` br-vlan is in the place of br-tun and br-phy; what is in brackets filters, or routes.
"""

from __future__ import annotations

from weir.plan.cloud.names import hosts_file, resolver_file
from weir.plan.cloud.steps import cloud_steps
from weir.plan.cloud.topology import cloud_topology, measured_topology

__all__ = ["cloud_steps", "cloud_topology", "hosts_file", "measured_topology", "resolver_file"]
