# SPDX-License-Identifier: Apache-2.0
"""What users are told of a cloud's chains: what they take, and what their numbers rest on."""

from __future__ import annotations

from collections.abc import Sequence

from weir.base.topology import Topology
from weir.lab.sut import CloudChains, OpenStackCloud

from .chain_counts import NOT_FORWARDED, NOT_RETURNED


def needs(options: OpenStackCloud, chains: CloudChains) -> list[str]:
    """Of this host, of the user's rights, and of the image; each goes on behind "needs"."""
    network = chains.network or options.external_network
    image = (
        f"of image {chains.image} that its servers send on, by themselves, what comes to their second port: "
        "to the MAC address weir_next_mac of their metadata"
        if chains.image is not None
        else "an image that runs a script at its start as root (user data, by cloud-init), with sh and "
        "ip(8), or arp(8) of busybox; and SSH, for its counters"
    )
    return [
        f"root here, and interface {chains.interface}: up, at layer 2 of network {network}, which lets a "
        "second MAC address through there",
        f"the owner of network {network}, or an administrator: for ports that send in others' names; and an "
        "administrator, where it is external and not shared, and to make the flavors of pinned, of hugepages "
        "and of vCPUs that the file's flavor has not",
        "quotas for two servers, four ports, two floating addresses, a network, a router and two security "
        "groups",
        image,
    ]


def fidelity(
    chains: CloudChains, topology: Topology, names: Sequence[str], counted: Sequence[str]
) -> list[str]:
    """`names`: of all functions; `counted`: of those whose counters were read."""
    core = topology.nodes[0].cores[0]
    network = f"network {chains.network}" if chains.network else "its external network"
    unread = [name for name in names if name not in counted]
    said = [
        f"Servers of image {chains.image} forward by themselves."
        if chains.image is not None
        else "In the servers Linux forwards (IP) between the packets that come and go at one port.",
        f"The tester is at interface {chains.interface} of this host, which leads to {network}, by a device "
        f"of its own on it (macvlan); it polls on core {core}, sends in one direction, and takes at the same "
        "port what comes back.",
        f"A cloud counts for its operator, not for its users: `{NOT_RETURNED}` is what left one place that "
        "is counted and did not reach the next, wherever between them it was lost.",
    ]
    if counted:
        said.append(
            f"Of {' and '.join(counted)} the port's counters were read by SSH around each trial; "
            f"`{NOT_FORWARDED}` is what came in there and did not go out."
        )
    if unread:
        said.append(f"Nothing was read of {' and '.join(unread)}, whose losses are among those.")
    return said
