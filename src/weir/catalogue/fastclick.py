# SPDX-License-Identifier: Apache-2.0
"""FastClick's elements as l2fwd, l3fwd or acl, on DPDK's ports (https://github.com/tbarbette/fastclick).

What an element drops goes through a Counter of its own, whose name is the reason: a ControlSocket in the
runtime directory tells them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from weir.catalogue.launch import ADDRESSED, Launch, Place, require_none, routed
from weir.catalogue.rewrite import addresses_of
from weir.catalogue.rule_text import Match, Range, Rule, rules
from weir.catalogue.setup import Options, given
from weir.lab.kernel import EAL, FILE_PREFIX, RUNTIME, SIDES

SOCKET = "click.socket"
"""In its runtime directory."""
_CLASSES = {"arp": "12/0806", "ipv6": "12/86dd"}
_FORWARDS = "forwards"


def l2fwd(options: Options, place: Place) -> Launch:
    """In both its modes."""
    paths = []
    for at, side in enumerate(SIDES):
        rewriting = "EtherMirror"
        if given("l2fwd", options, "mode") != "mac-swap":
            rewriting = "EtherRewrite({}, {})".format(*addresses_of(side, options, place.ends))
        paths.append(f"in{at} -> {rewriting} -> out{1 - at};")
    return _launch(paths, ())


def l3fwd(options: Options, place: Place) -> Launch:
    """Of IPv4, with its header checked."""
    for key in (*ADDRESSED, "src_mac"):
        require_none("FastClick's router", options, key, "it has no addresses and looks at no MTU")
    ends = place.ends
    hops = {
        (0, None): ends["left.gateway_mac"],
        (1, None): str(options.get("dst_mac", ends["right.gateway_mac"])),
    }
    outputs: dict[tuple[int, str], int] = {}
    table: dict[str, int] = {}
    for prefix, at, mac in routed(options, ends, "FastClick's router has MAC addresses as next hops"):
        if prefix.version == 4:
            hop = (at, mac or hops[at, None])
            table[str(prefix)] = outputs.setdefault(hop, len(outputs))
    table.setdefault("0.0.0.0/0", len(outputs))
    listed = ", ".join(f"{prefix} {output}" for prefix, output in table.items())
    paths = [
        "is_ip :: Classifier(12/0800, -);",
        "in0 -> is_ip; in1 -> is_ip;",
        "is_ip[1] -> not_ip;",
        "checked :: CheckIPHeader(VERBOSE false);",
        f"routed :: DirectIPLookup({listed});",
        "is_ip[0] -> Strip(14) -> checked -> routed;",
        "checked[1] -> malformed;",
    ]
    for (at, mac), output in outputs.items():
        own = ends[f"{SIDES[at]}.mac"]
        paths.append(
            f"routed[{output}] -> ttl{output} :: DecIPTTL -> EtherEncap(0x0800, {own}, {mac}) -> out{at};"
        )
        paths.append(f"ttl{output}[1] -> ttl_expired;")
    reasons = ["not_ip", "malformed", "ttl_expired"]
    if table["0.0.0.0/0"] == len(outputs):
        paths.append(f"routed[{len(outputs)}] -> no_route;")
        reasons.append("no_route")
    return _launch(paths, reasons)


def acl(options: Options, place: Place) -> Launch:
    """Of IPv4: IPv6 is forwarded or dropped as a whole."""
    del place
    asked = [*rules(options, "rule_list")]
    of_ipv6 = [one.match for one in asked if one.match.version() == 6]
    if of_ipv6 and str(given("acl", options, "ipv6")) == "rules":
        raise of_ipv6[0].refused("FastClick's IPFilter has no rules for IPv6", "ipv6: drop or forward")
    words = [f"{_action(one.permits)} {_words(one)}" for one in asked if one.match.version() != 6]
    listed = ",\n  ".join([*words, _default(options)])
    arp, ipv6, other = _other_frames(options)
    direction = str(given("acl", options, "direction"))
    paths = []
    for at, (side, asks) in enumerate((("left", "outbound"), ("right", "inbound"))):
        frames = f"frames_{side}"
        paths.append(f"{frames} :: Classifier(12/0800, {_CLASSES['arp']}, {_CLASSES['ipv6']}, -);")
        paths.append(f"in{at} -> {frames};")
        if direction in ("both", asks):
            paths.append(f"rules_{side} :: IPFilter({listed});")
            paths.append(f"{frames}[0] -> MarkIPHeader(14) -> rules_{side} -> out{1 - at};")
            paths.append(f"rules_{side}[1] -> denied;")
        else:
            paths.append(f"{frames}[0] -> out{1 - at};")
        for number, (verdict, reason) in enumerate(
            ((arp, "not_ipv4"), (ipv6, "ipv6"), (other, "not_ipv4")), 1
        ):
            paths.append(f"{frames}[{number}] -> {f'out{1 - at}' if verdict else reason};")
    return _launch(paths, ("denied", "ipv6", "not_ipv4"))


def _other_frames(options: Options) -> tuple[bool, bool, bool]:
    """Whether ARP, IPv6 and other frames pass."""
    fallback = str(given("acl", options, "not_ipv4"))
    said = [str(given("acl", options, key)) for key in ("arp", "ipv6", "other")]
    arp, ipv6, other = [fallback if one == "not_ipv4" else one for one in said]
    if ipv6 == "rules":
        ipv6 = "forward" if given("acl", options, "default") == "permit" else "drop"
    return arp == "forward", ipv6 == "forward", other == "forward"


def _action(permits: bool) -> str:
    return "0" if permits else "1"


def _default(options: Options) -> str:
    return f"{_action(given('acl', options, 'default') == 'permit')} all"


def _words(rule: Rule) -> str:
    """In IPFilter's words."""
    asked = rule.match
    found = [*_protocol(asked)]
    for name, prefix in (("src", asked.source), ("dst", asked.destination)):
        if prefix is not None:
            found.append(f"{name} net {prefix}")
    for name, ports in (("src", asked.source_ports), ("dst", asked.destination_ports)):
        found += _ports(name, ports)
    types = asked.type_range()
    if types is not None:
        found.append(f"icmp type >= {types[0]} && icmp type <= {types[1]}")
    return " && ".join(found) or "all"


def _protocol(asked: Match) -> Iterator[str]:
    if asked.protocol == "any":
        yield from ("(tcp || udp)",) if asked.has_ports() else ()
    else:
        yield asked.protocol if asked.protocol in ("tcp", "udp", "icmp") else f"ip proto {asked.protocol}"


def _ports(name: str, ports: Range | None) -> Sequence[str]:
    if ports is None:
        return ()
    first, last = ports
    return (
        (f"{name} port {first}",) if first == last else (f"{name} port >= {first}", f"{name} port <= {last}")
    )


def _launch(paths: Sequence[str], reasons: Sequence[str]) -> Launch:
    head = [f'ControlSocket(unix, "{{{RUNTIME}}}/{SOCKET}", READONLY true);']
    for at in range(len(SIDES)):
        head.append(f"in{at} :: FromDPDKDevice({at}, PROMISC true);")
        head.append(f"out{at} :: ToDPDKDevice({at}, BLOCKING false);")
    head += [f"{one} :: Counter -> Discard;" for one in reasons]
    last = f'Script(print "{_FORWARDS}");'  # run when every element has been set up
    text = "".join(f"{line}\n" for line in (*head, *paths, last))
    words = ("--dpdk", f"{{{EAL}}}", "--", f"{{{FILE_PREFIX}router}}")
    return Launch(words, ready=f"^{_FORWARDS}$", main_forwards=True, files={"router": text})
