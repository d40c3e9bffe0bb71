# SPDX-License-Identifier: Apache-2.0
"""What the network of a deployment is to be, read from the steps that built it."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from weir.base.step import Step, StepKind

OF_USERS: frozenset[StepKind] = frozenset({"commands", "program"})
"""Steps in which a user's own commands and programs change a namespace as they like."""


@dataclass
class MadeInterface:
    """What steps said of one; None and nothing: not said."""

    kind: str | None = None
    mtu_bytes: int | None = None
    mac: str | None = None
    addresses: set[str] = field(default_factory=set)
    peer: tuple[str, str] | None = None
    """Namespace and name of the other end of a veth pair."""
    bridge: str | None = None
    """Of the kernel, in the same namespace."""


@dataclass
class Intended:
    """All of it, by names."""

    namespaces: dict[str, dict[str, MadeInterface]] = field(default_factory=dict)
    free: set[str] = field(default_factory=set)
    """Namespaces that users' commands change."""
    switches: dict[tuple[str, str], dict[str, int | None]] = field(default_factory=dict)
    """Directory of its Open vSwitch and bridge → its ports, with the VLAN of each."""

    def interface(self, step: Step, namespace: str = "netns", name: str = "interface") -> MadeInterface:
        """The one that a step names by these parameters."""
        inside = self.namespaces.setdefault(str(step.params[namespace]), {})
        return inside.setdefault(str(step.params[name]), MadeInterface())


def of_steps(steps: Iterable[Step]) -> Intended:
    """Steps that change no network say nothing."""
    found = Intended()
    for step in steps:
        if step.kind in OF_USERS:
            found.free.add(str(step.params["netns"]))
        read = _READ.get(step.kind)
        if read is not None:
            read(found, step)
    return found


def _namespace(found: Intended, step: Step) -> None:
    found.namespaces.setdefault(str(step.params["netns"]), {})


def _veth(found: Intended, step: Step) -> None:
    ends = (("netns", "interface"), ("peer_netns", "peer_interface"))
    for (namespace, name), other in zip(ends, reversed(ends), strict=True):
        made = found.interface(step, namespace, name)
        made.kind, made.mtu_bytes = "veth", _mtu_bytes(step)
        made.peer = (str(step.params[other[0]]), str(step.params[other[1]]))


def _macvlan(found: Intended, step: Step) -> None:
    made = found.interface(step)
    made.kind, made.mac = "macvlan", str(step.params["mac"])


def _tap(found: Intended, step: Step) -> None:
    made = found.interface(step)
    made.kind, made.mtu_bytes = "tun", _mtu_bytes(step)


def _bridge(found: Intended, step: Step) -> None:
    made = found.interface(step, name="bridge")
    made.kind, made.mtu_bytes = "bridge", _mtu_bytes(step)


def _member(found: Intended, step: Step) -> None:
    found.interface(step).bridge = str(step.params["bridge"])


def _addressed(found: Intended, step: Step) -> None:
    made = found.interface(step)
    made.mac = str(step.params["mac"]) or made.mac
    made.mtu_bytes = _mtu_bytes(step) or made.mtu_bytes
    made.addresses |= set(map(_with_length, _texts(step, "addresses")))


def _with_length(address: str) -> str:
    """As the kernel says it: a host's own, of all its bits, where the step has no length."""
    return address if "/" in address else str(ipaddress.ip_interface(address))


def _leased(found: Intended, step: Step) -> None:
    name = str(step.params["interface"])
    for namespace, expected in zip(_texts(step, "namespaces"), _texts(step, "expected"), strict=True):
        made = found.namespaces.setdefault(namespace, {}).setdefault(name, MadeInterface())
        made.addresses.add(expected.split()[0])


def _switch(found: Intended, step: Step) -> None:
    found.switches.setdefault((str(step.params["directory"]), str(step.params["bridge"])), {})


def _switch_port(found: Intended, step: Step) -> None:
    place = (str(step.params["directory"]), str(step.params["bridge"]))
    found.switches.setdefault(place, {})[str(step.params["port"])] = None


def _transaction(found: Intended, step: Step) -> None:
    """As ovs-vsctl(8) reads it: commands behind dashes."""
    directory = str(step.params["directory"])
    for words in _commands(_texts(step, "words")):
        match words:
            case ["add-br", bridge, *_]:
                found.switches.setdefault((directory, bridge), {})
            case ["add-port", bridge, port, *settings]:
                tags = [int(one.removeprefix("tag=")) for one in settings if one.startswith("tag=")]
                found.switches.setdefault((directory, bridge), {})[port] = tags[0] if tags else None
            case _:
                pass


def _commands(words: Iterable[str]) -> Iterator[list[str]]:
    one: list[str] = []
    for word in [*words, "--"]:
        if word == "--":
            yield one
            one = []
        else:
            one.append(word)


def _mtu_bytes(step: Step) -> int | None:
    return int(str(step.params.get("mtu_bytes", 0))) or None


def _texts(step: Step, key: str) -> list[str]:
    listed = step.params.get(key, [])
    return [str(one) for one in listed] if isinstance(listed, list) else []


_READ: Mapping[StepKind, Callable[[Intended, Step], None]] = {
    "netns": _namespace,
    "veth": _veth,
    "macvlan": _macvlan,
    "tap": _tap,
    "bridge": _bridge,
    "bridge-port": _member,
    "interface": _addressed,
    "function-port": _addressed,
    "end-host": _addressed,
    "dhcp-leases": _leased,
    "ovs-bridge": _switch,
    "ovs-port": _switch_port,
    "ovs-transaction": _transaction,
}
