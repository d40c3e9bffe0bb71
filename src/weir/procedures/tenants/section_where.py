# SPDX-License-Identifier: Apache-2.0
"""Where tenants lost packets, in reports: at devices that these tenants' packets pass, by the devices' own
counters."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from weir.procedures.tenants.section_rows import SHARED, Group
from weir.results.tenants import Senders
from weir.results.trial import Drop

PLACES = 1
"""Named of those where packets were lost; the result has all of them."""
LEAST = 0.01
"""Of all that was lost: a place with less is in the result alone."""
UNKNOWN = "not told"
"""Packets were lost, and no device that they pass has counted any."""
QUEUED = "a queue that grew"
"""No device has counted any at all."""
_NODE = re.compile(r"network|compute\d+")
_PORT = re.compile(r"network:(?:qr|qg|dhcp)(?P<number>\d+)$")
_OTHERS = "another tenant"


def where(drops: Sequence[Drop], group: Group, record: Senders) -> str:
    """ "compute1:qvo (socket_full) 91%, 1 more place": of what was lost where these tenants' packets pass.
    What all tenants pass has the losses of all."""
    if not drops:
        return QUEUED
    packets: Counter[str] = Counter()
    for one in drops:
        if _passed(one.place, group, record):
            packets[f"{_device(one.place)} ({one.reason})"] += one.packets
    every = packets.total()
    told = [(place, some) for place, some in packets.most_common() if some >= LEAST * every]
    named = [f"{place} {some / every:.0%}" for place, some in told[:PLACES]]
    more = len(told) - len(named)
    return (
        ", ".join([*named, *([f"{more} more {'place' if more == 1 else 'places'}"] if more else [])])
        or UNKNOWN
    )


def _passed(place: str, group: Group, record: Senders) -> bool:
    """Whether packets of these tenants pass it: a device of theirs, a function that they share, or one of
    nobody in particular."""
    owner = _owner(place, record)
    if owner is None:
        return True
    if not owner.startswith(SHARED):
        return owner in group.tenants
    through = record.through.get(group.tenants[0])
    return through is None or owner in through


def _owner(place: str, record: Senders) -> str | None:
    """Whose device it is: a tenant's name, also of one that does not send, or "shared.dpi"; None: nobody's.
    Of "compute1:qvo of customer-1.1", "customer-1.1:eth0", "filter of customer-1", "network:qr2"."""
    port = _PORT.match(place)
    if port is not None:  # networks are numbered as their tenants; those that send are the first
        number = int(port["number"])
        if number > record.standing:
            return None
        return record.tenants[number - 1] if number <= len(record.tenants) else _OTHERS
    device, of, whose = place.rpartition(" of ")
    name = whose.partition(":")[0]
    tenant, dot, _ = name.rpartition(".")
    if dot:
        return name if f"{tenant}." == SHARED else tenant
    return name if of and device == "filter" and not _NODE.fullmatch(name) else None


def _device(place: str) -> str:
    """Whichever tenant's it is: "compute1:qvo of customer-1.1" as "compute1:qvo", "customer-1.1:eth0" as
    "hosts:eth0", "customer-1.dpi:eth0" as "dpi:eth0"."""
    device = place.partition(" of ")[0]
    owner, colon, interface = device.partition(":")
    tenant, dot, name = owner.partition(".")
    if not dot or f"{tenant}." == SHARED:
        return device
    return ("hosts" if name.isdigit() else name) + colon + interface
