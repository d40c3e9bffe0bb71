# SPDX-License-Identifier: Apache-2.0
"""`bridge-filter`: rules of a Linux bridge in front of each instance. What it may send, in nftables'
bridge family; what it may get, in iptables, which follows connections there.

Network K is connection tracking's zone K, since tenants may have the same addresses. Each drop has a counter,
or a comment, of its port and reason.
"""

from __future__ import annotations

from collections.abc import Iterator

from weir.base.cloud import CloudNode, CloudTopology, Instance, Network, Rule
from weir.base.step import Step
from weir.plan.cloud.names import InstancePort
from weir.plan.cloud.parts import bridge, ruleset, wire
from weir.plan.cloud.security.kind import SecurityKind

COMMENT = "weir"
"""First word of the comment of a rule that drops; then network, instance and reason."""
ANTI_SPOOFING = ("spoofed_mac", "spoofed_arp", "rogue_dhcp", "spoofed_ip", "other_protocol")
_SEPARATOR = "_of_"


def counter(network: Network, instance: Instance, reason: str) -> str:
    """Of nftables: "spoofed_mac_of_1_2"."""
    return f"{reason}{_SEPARATOR}{network.number}_{instance.number}"


def reading(counter: str) -> tuple[str, int, int]:
    """What `counter` put in: reason, network, instance."""
    reason, _, whose = counter.partition(_SEPARATOR)
    network, _, instance = whose.partition("_")
    return reason, int(network), int(instance)


def anti_spoofing(topology: CloudTopology, node: CloudNode) -> str:
    """For nft."""
    here = topology.instances_at(node.name)
    lines = ["table bridge weir {"]
    for network, instance in here:
        lines += [f"  counter {counter(network, instance, reason)} {{ }}" for reason in ANTI_SPOOFING]
    for network, instance in here:
        lines += [f"  chain {_chain(network, instance)} {{", *_from_instance(network, instance), "  }"]
    lines += [
        "  chain prerouting {",
        "    type filter hook prerouting priority -300; policy accept;",
        "    iifname vmap {",
        *(
            f'      "{InstancePort.of(network, one).tap}" : jump {_chain(network, one)},'
            for network, one in here
        ),
        "    }",
        "  }",
        "}",
    ]
    return "\n".join(lines) + "\n"


def _chain(network: Network, instance: Instance) -> str:
    return f"from_{network.number}_{instance.number}"


def _from_instance(network: Network, instance: Instance) -> Iterator[str]:
    mac, own = instance.mac, f"{{ 0.0.0.0, {instance.address} }}"  # it probes before it has it: RFC 5227

    def drop(match: str, reason: str) -> str:
        return f"    {match} counter name {counter(network, instance, reason)} drop"

    yield drop(f"ether saddr != {mac}", "spoofed_mac")
    yield drop(f"ether type arp arp saddr ether != {mac}", "spoofed_arp")
    yield drop(f"ether type arp arp saddr ip != {own}", "spoofed_arp")
    yield "    ether type arp accept"
    yield f"    ether type ip ip saddr {own} udp sport 68 udp dport 67 accept"
    yield drop("ether type ip udp sport 67 udp dport 68", "rogue_dhcp")
    if instance.allowed:
        pairs = f"{{ {', '.join(instance.allowed)} }}"
        yield from (f"    ether type ip ip {end} {pairs} accept" for end in ("saddr", "daddr"))
    yield drop(f"ether type ip ip saddr != {instance.address}", "spoofed_ip")
    yield "    ether type ip accept"
    yield f"    counter name {counter(network, instance, 'other_protocol')} drop"


def security_groups(topology: CloudTopology, node: CloudNode) -> str:
    """For iptables-restore."""
    here = topology.instances_at(node.name)
    lines = ["*raw"]
    for network, instance in here:
        port = InstancePort.of(network, instance)
        for interface in (port.tap, port.below):
            into = f"-A PREROUTING -m physdev --physdev-in {interface}"
            lines += [f"{into} {pair} -j CT --notrack" for pair in _pairs(instance)]
            lines.append(f"{into} -j CT --zone {network.number}")
    lines += ["COMMIT", "*filter"]
    lines += [f":{_group(network, one)} - [0:0]" for network, one in here]
    for network, instance in here:
        tap, group = InstancePort.of(network, instance).tap, _group(network, instance)
        lines.append(f"-A FORWARD -m physdev --physdev-is-bridged --physdev-out {tap} -j {group}")
        lines += [f"-A {group} {rule}" for rule in _to_instance(network, instance)]
    return "\n".join([*lines, "COMMIT", ""])


def _group(network: Network, instance: Instance) -> str:
    return f"to-{network.number}.{instance.number}"


def _pairs(instance: Instance) -> list[str]:
    """What a function forwards, both ways. Connections are followed at the ends' own ports alone: what a
    function sends in a host's name must not let its answer in at the host."""
    return [f"{end} {address}" for address in instance.allowed for end in ("-s", "-d")]


def _to_instance(network: Network, instance: Instance) -> Iterator[str]:
    said = f"{COMMENT} {network.number} {instance.number}"
    first, last = network.instances[0].address, network.instances[-1].address
    yield "-m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT"
    yield f"-s {network.dhcp} -p udp --sport 67 --dport 68 -j ACCEPT"
    yield from (f"{pair} -j ACCEPT" for pair in _pairs(instance))
    yield "-p udp --sport 68 --dport 67 -j DROP"  # what others ask the DHCP server: no harm, so not counted
    yield f'-m conntrack --ctstate INVALID -m comment --comment "{said} invalid" -j DROP'
    yield f"-m iprange --src-range {first}-{last} -j ACCEPT"
    for rule in network.ingress:
        yield f"{_let_in(rule)} -j ACCEPT"
    yield f'-m comment --comment "{said} security_group" -j DROP'


def _let_in(rule: Rule) -> str:
    words = [f"-s {rule.source}"]
    if rule.protocol != "any":
        words.append(f"-p {rule.protocol}")
    if rule.ports is not None:
        words.append(f"--dport {rule.ports[0]}:{rule.ports[1]}")
    return " ".join(words)


def _instance_steps(topology: CloudTopology, network: Network, instance: Instance) -> Iterator[Step]:
    node, port = topology.namespace(instance.node), InstancePort.of(network, instance)
    yield wire(node, port.below, node, port.above)
    yield from bridge(node, port.bridge, (port.tap, port.below))


def _node_steps(topology: CloudTopology, node: CloudNode) -> Iterator[Step]:
    if not topology.instances_at(node.name):
        return
    netns = topology.namespace(node.name)
    yield ruleset(netns, "nft", anti_spoofing(topology, node), f"filter what instances of {node.name} send")
    groups = security_groups(topology, node)
    yield ruleset(netns, "iptables", groups, f"filter what instances of {node.name} get")


KIND = SecurityKind(
    sentence="A Linux bridge at each instance filters, by nftables and by iptables with connection tracking.",
    at_integration=lambda port: port.above,
    instance_steps=_instance_steps,
    node_steps=_node_steps,
    bridged_netfilter=True,
    beside_switch=("tap", "qvb"),
)
