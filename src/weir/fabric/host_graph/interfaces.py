# SPDX-License-Identifier: Apache-2.0
"""Interfaces of a namespace as iproute2 reads them, and which of them belong together."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pyroute2 import IPRoute
from pyroute2.netlink.exceptions import NetlinkError

from weir.fabric import netlink
from weir.fabric.host_graph.namespaces import Place
from weir.fabric.program_log import printable
from weir.results.host_graph import Interface, Join, Traffic

_READ_S = 20
_COUNTED = ("packets", "bytes", "dropped", "errors")
_DETAILS = {
    "id": "id",
    "remote": "remote",
    "local": "local",
    "group": "group",
    "port": "port",
    "protocol": "protocol",
    "mode": "mode",
    "ikey": "key",
    "vlan_filtering": "vlan_filtering",
    "type": "type",
}
"""Of iproute2's `info_data`: what tells one interface of its kind from another."""


@dataclass(frozen=True)
class Link:
    """An interface, and the numbers by which the kernel says what it belongs to."""

    place: Place
    shown: Interface
    below: int | str | None
    """Its peer, or the interface below it: by name in the same namespace, else by index."""
    below_in: int | None
    """Number of that one's namespace, as this namespace has it; None: the same one, or unknown."""
    master: str | None
    """Name of the bridge or bond that has it."""

    @property
    def peered(self) -> bool:
        """Whether what is below is the other end of a pair."""
        return self.shown.kind in ("veth", "netkit")


def read_links(place: Place) -> list[Link]:
    """Of the namespace that this thread is in. OSError, ValueError if iproute2 does not say."""
    done = subprocess.run(
        ["ip", "-details", "-statistics", "-json", "address", "show"],
        capture_output=True,
        text=True,
        errors="replace",
        timeout=_READ_S,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    if done.returncode != 0:
        raise OSError(done.stderr.strip() or f"ip ended with {done.returncode}")
    return [_link(place, one) for one in json.loads(done.stdout or "[]") if "ifindex" in one]


def _link(place: Place, said: Mapping[str, Any]) -> Link:
    return Link(
        place=place,
        shown=Interface(
            id=f"{place.inode}/{said['ifindex']}",
            name=printable(said["ifname"]),
            index=said["ifindex"],
            kind=_kind(said),
            mac=said.get("address") if said.get("link_type") == "ether" else None,
            mtu_bytes=said.get("mtu", 0),
            up="UP" in said.get("flags", ()),
            addresses=[
                f"{one['local']}/{one['prefixlen']}" for one in said.get("addr_info", ()) if "local" in one
            ],
            details=_details(said),
            holder=None,
            traffic=_traffic(said.get("stats64", {})),
            rates=None,
        ),
        below=said.get("link", said.get("link_index")),
        below_in=said.get("link_netnsid"),
        master=said.get("master"),
    )


def _kind(said: Mapping[str, Any]) -> str:
    kind = said.get("linkinfo", {}).get("info_kind")
    if kind:
        return str(kind)
    return "loopback" if said.get("link_type") == "loopback" else "device"


def _details(said: Mapping[str, Any]) -> dict[str, str]:
    data = said.get("linkinfo", {}).get("info_data", {})
    # 0 of a switch (vlan_filtering) or a number says that there is none.
    return {shown: str(data[key]) for key, shown in _DETAILS.items() if data.get(key)}


def _traffic(counted: Mapping[str, Mapping[str, int]]) -> Traffic:
    return Traffic(
        **{
            f"{way}_{what}": int(counted.get(way, {}).get(what, 0))
            for way in ("rx", "tx")
            for what in _COUNTED
        }
    )


def joins(links: Sequence[Link]) -> Iterator[Join]:
    """Pairs, members and what is stacked, of all namespaces together; each once."""
    by_name = {(one.place.inode, one.shown.name): one for one in links}
    at: dict[int, list[Link]] = {}
    for one in links:
        at.setdefault(one.shown.index, []).append(one)
    numbers = _Numbers()
    paired: set[str] = set()
    for one in links:
        if one.master is not None and (one.place.inode, one.master) in by_name:
            yield Join(kind="member", ends=(one.shown.id, by_name[one.place.inode, one.master].shown.id))
        other = _below(one, by_name, at, numbers)
        if other is None or one.shown.id in paired:
            continue
        if one.peered:
            paired |= {one.shown.id, other.shown.id}
        yield Join(kind="veth" if one.peered else "lower", ends=(one.shown.id, other.shown.id))


def _below(
    one: Link,
    by_name: Mapping[tuple[int, str], Link],
    at: Mapping[int, Sequence[Link]],
    numbers: _Numbers,
) -> Link | None:
    """The other one; None if it is in a namespace that was not seen."""
    if isinstance(one.below, str):
        return by_name.get((one.place.inode, one.below))
    if one.below is None or one.below == 0:
        return None
    found = [
        each
        for each in at.get(one.below, ())
        if each.place is not one.place
        and (not one.peered or (each.shown.kind == one.shown.kind and each.below == one.shown.index))
    ]
    if one.peered and one.below_in is None:
        return found[0] if len(found) == 1 else None
    return next((each for each in found if numbers.of(one.place, each.place) == one.below_in), None)


class _Numbers:
    """By which a namespace calls another one: asked where indexes leave a choice, and once."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, int], int | None] = {}

    def of(self, here: Place, there: Place) -> int | None:
        """None if it has no number for it, or does not say."""
        key = here.inode, there.inode
        if key not in self._known:
            self._known[key] = _number(here, there)
        return self._known[key]


def _number(here: Place, there: Place) -> int | None:
    try:
        with there.path.open("rb") as descriptor, netlink.opened(IPRoute, here.inside()) as route:
            found = route.get_netnsid(fd=descriptor.fileno())["nsid"]
    except (OSError, NetlinkError, KeyError, TypeError):
        return None
    return int(found) if found is not None and int(found) >= 0 else None
