# SPDX-License-Identifier: Apache-2.0
"""What was lost in virtual machines: as a guest's own weir-dp or kernel counted it, or as its ports show."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from weir.base.error import FabricError
from weir.base.node import Node
from weir.base.topology import Topology, taps
from weir.fabric.counters import Counter, broadcasts
from weir.fabric.site import Site
from weir.fabric.vm.channel import Channel
from weir.fabric.vm.command_line import Files
from weir.fabric.vm.condition import last_words
from weir.fabric.vm.storage import stored
from weir.plan.guest_steps import PCI_SLOTS

_TO_GUEST, _FROM_GUEST = (" tx", " tx_packets"), (" rx", " rx_packets")  # of taps, of vhost-user ports


def machine_counters(topology: Topology, site: Site, outside: Sequence[Counter]) -> list[Counter]:
    """Drops in every virtual machine. `outside`: what the switch counted at its ports, just before."""
    found: list[Counter] = []
    for node in topology.machines():
        try:
            found += _of(topology, node, site, outside)
        except FabricError as error:
            words = last_words(stored(site, node.name))
            raise FabricError(f"{error.message}; its last words: {words}", error.fix) from error
    return found


def _of(topology: Topology, node: Node, site: Site, outside: Sequence[Counter]) -> list[Counter]:
    assert node.machine is not None
    if node.machine.failover or node.machine.forwarder is None:
        return [
            not_returned(topology, node, outside)
        ]  # if migrated, the guest is now in one QEMU, now in the other
    command = "counters" if node.machine.forwarder == "kernel" else "ledger"
    answer = _channel(site, node).ask(command)
    try:
        return kernel_drops(node, answer) if command == "counters" else ledger_drops(answer)
    except (AttributeError, KeyError, TypeError) as error:
        raise FabricError(
            f"virtual machine {node.name} answers {command} with what counts nothing: {error!r}"
        ) from error


def _channel(site: Site, node: Node) -> Channel:
    """Kept open: a guest needs a moment to notice a new one."""
    path, pid = Files(site.directory, node.name).channel, site.facts_of(f"vm:{node.name}")["pid"]

    def greeted() -> Channel:
        channel = Channel(node.name, path, pid)
        channel.greet()
        return channel

    return site.kept(f"guest:{node.name}", greeted)


def kernel_drops(node: Node, answer: Mapping[str, Any]) -> list[Counter]:
    """Those of a guest's kernel: at its interfaces, in their queues, and where packets are passed on."""
    found = []
    for side in PCI_SLOTS:
        interface, place = answer[side], f"{node.name} guest:{side}"
        for way in ("rx", "tx"):
            lost = interface[f"{way}_dropped"] + interface[f"{way}_errors"]
            found.append(Counter(place, f"{way}_dropped", "drop", lost))
        # The root of several queues sums them up.
        queues = [one for one in answer["queues"] if one["dev"] == interface["name"] and one.get("root")]
        found.append(Counter(place, "queue_full", "drop", sum(one["drops"] for one in queues)))
        filters = answer["rewriting"][side]
        actions = [action for one in filters for action in one.get("options", {}).get("actions", ())]
        refused = sum(action["stats"]["drops"] for action in actions)
        found.append(Counter(place, "not_rewritten", "drop", refused))
    return found


def ledger_drops(ledger: Mapping[str, Any]) -> list[Counter]:
    """Those of a guest's weir-dp: at its ports, and in its functions."""
    found = [
        Counter(f"guest:{port['name']}", reason, "drop", lost)
        for port in ledger["ports"]
        for reason, lost in port.items()
        if reason.startswith(("rx_", "tx_")) and not reason.endswith(("_packets", "_bytes"))
    ]
    for area in ledger["areas"]:
        for path in area["paths"]:
            place = f"guest:{area['name']}/{path['name']}"
            found += _by_reason(place, path)
            for stage in path.get("stages", ()):
                found += _by_reason(f"{place}/{stage['nf']}", stage)
                if stage.get("originated"):
                    found.append(Counter(f"{place}/{stage['nf']}", None, "originated", stage["originated"]))
                if stage.get("held"):
                    found.append(Counter(f"{place}/{stage['nf']}", "held", "drop", stage["held"]))
    return found


def _by_reason(place: str, counted: Mapping[str, Any]) -> Iterator[Counter]:
    for reason, packets in counted.get("drops", {}).items():
        yield Counter(place, reason, "drop", packets)


def not_returned(topology: Topology, node: Node, outside: Sequence[Counter]) -> Counter:
    """What a machine that nobody can ask has taken and not given back, all its devices together.

    Where QEMU announces addresses, which it does only for failover pairs, those packets are to everybody.
    """
    assert node.machine is not None
    ports = [topology.port(f"{node.name}.{side}") for side in PCI_SLOTS]
    places = [f"switch:{name}" for port in ports for name in taps(topology, port)]
    packets = {one.place: one.value for one in outside if one.kind == "packets"}
    to_guest = sum(packets.get(place + ending, 0) for place in places for ending in _TO_GUEST)
    from_guest = sum(packets.get(place + ending, 0) for place in places for ending in _FROM_GUEST)
    if node.machine.failover:
        from_guest -= sum(packets.get(broadcasts(topology.links[port.link]), 0) for port in ports)
    return Counter(f"{node.name} guest", "not_returned", "drop", to_guest - from_guest)
