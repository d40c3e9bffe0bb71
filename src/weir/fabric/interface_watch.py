# SPDX-License-Identifier: Apache-2.0
"""Whether the kernel's interfaces of a chain are still what was built: there, up, with their MAC address and
their MTU. Whose program is under test may change them, or somebody else on the host."""

from __future__ import annotations

import errno
import fcntl
import socket
import struct
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass

from weir.base.topology import Topology, switch_namespace
from weir.fabric import namespace

_GET_FLAGS, _GET_MTU, _GET_MAC, _GET_INDEX = 0x8913, 0x8921, 0x8927, 0x8933  # SIOCGIF... of netdevice(7)
_UP = 1
_REQUEST = struct.Struct("16s24s")


@dataclass(frozen=True)
class _State:
    index: int
    up: bool
    mtu_bytes: int
    mac: str


class InterfaceWatch:
    """Of one chain: asked when it is made, before the first trial and after each. By ioctl, which costs some
    microseconds an interface."""

    def __init__(self, topology: Topology) -> None:
        self._places: dict[str, dict[str, str]] = {}
        """By namespace: what an interface is called in words."""
        kernel = [port for port in topology.ports if port.netns is not None]
        for port in kernel:
            name = port.interface or port.side
            self._places.setdefault(port.netns or "", {})[name] = f"{name} of {port.node}"
        if kernel and any(link.network for link in topology.links):
            ends = self._places.setdefault(switch_namespace(topology), {})
            ends |= {port.name: f"{port.name} of the switch" for port in kernel}
        self._built = self._now()
        self._measured: dict[tuple[str, str], _State] | None = None

    def begin(self) -> None:
        """A trial begins. What a program made of its interfaces before the first is how the chain is
        measured: what changes from then on is told."""
        if self._measured is None:
            self._measured = self._now()

    def altered(self) -> list[str]:
        """What is not as it was when the first trial began, and what is gone or down that was not when this
        was made: a sentence's part each."""
        found = []
        now, measured = self._now(), self._measured or self._built
        for place, built in self._built.items():
            said = self._places[place[0]][place[1]]
            found += [f"{said} {how}" for how in _changes(built, measured.get(place), now.get(place))]
        return found

    def _now(self) -> dict[tuple[str, str], _State]:
        """By namespace and name. One that is not there, or whose namespace is not, is left out."""
        found: dict[tuple[str, str], _State] = {}
        for netns, names in self._places.items():
            with suppress(FileNotFoundError), namespace.inside(netns):
                found |= {(netns, name): state for name, state in _states(names)}
        return found


def _changes(built: _State, before: _State | None, now: _State | None) -> Iterator[str]:
    if now is None:
        yield "is gone or renamed"
        return
    if now.index != built.index:
        yield "is another one of that name"
        return
    if built.up and not now.up:
        yield "is down"
    if before is None:
        return
    if now.mtu_bytes != before.mtu_bytes:
        yield f"has an MTU of {now.mtu_bytes} bytes, and had {before.mtu_bytes}"
    if now.mac != before.mac:
        yield f"has the MAC address {now.mac}, and had {before.mac}"


def _states(names: Iterable[str]) -> Iterator[tuple[str, _State]]:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as asked:
        for name in names:
            try:
                (index,) = struct.unpack_from("i", _ask(asked, _GET_INDEX, name))
                (flags,) = struct.unpack_from("H", _ask(asked, _GET_FLAGS, name))
                (mtu_bytes,) = struct.unpack_from("i", _ask(asked, _GET_MTU, name))
                mac = _ask(asked, _GET_MAC, name)[2:8].hex(":")
            except OSError as error:
                if error.errno == errno.ENODEV:
                    continue
                raise
            yield name, _State(index, bool(flags & _UP), mtu_bytes, mac)


def _ask(asked: socket.socket, what: int, name: str) -> bytes:
    answer: bytes = fcntl.ioctl(asked, what, _REQUEST.pack(name.encode(), b""))
    return answer[16:]
