# SPDX-License-Identifier: Apache-2.0
"""VPP as l3fwd, acl, firewall, nat or lb: its router, and its plugins acl, nat44-ed and lb (https://docs.fd.io/vpp).

Ports are host interfaces (AF_PACKET), or memif at sockets. Whatever it does, it routes between them, with the
addresses and static neighbours that Linux would have.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator, Sequence

from weir.catalogue.balancer import services_of
from weir.catalogue.launch import ADDRESSED, Launch, Place, require_none, routed
from weir.catalogue.rule_text import Match, Range, Rule, rules
from weir.catalogue.setup import CatalogueError, Ends, Options, given, lines
from weir.lab.kernel import FILE_PREFIX, RUNTIME, SIDES

SOCKET = "cli.sock"
"""In its runtime directory; vppctl asks there."""
_ANY = {4: "0.0.0.0/0", 6: "::/0"}
_PROTOCOLS = {"tcp": 6, "udp": 17, "icmp": 1, "icmpv6": 58}
_BUFFERS = 16384  # a little more than 2 KiB each: `ProgramCounterpart.hugepages_mb`
_STARTUP = """\
unix {{
  nodaemon
  nosyslog
  runtime-dir {{{runtime}}}
  cli-listen {{{runtime}}}/{socket}
  startup-config {{{file}commands}}
}}
socksvr {{ socket-name {{{runtime}}}/api.sock }}
statseg {{ socket-name {{{runtime}}}/stats.sock }}
cpu {{ {cpu} }}
memory {{ main-heap-size 512M }}
buffers {{ buffers-per-numa {buffers}{pages} }}
plugins {{
  plugin default {{ disable }}
{plugins}
}}
"""


def l3fwd(options: Options, place: Place) -> Launch:
    """IPv4 and IPv6; a next hop each by a static neighbour."""
    for key in (*ADDRESSED, "src_mac"):
        require_none("VPP", options, key, "its interfaces have the chain's addresses")
    return _launch(place, [*_routes(options, place)], ())


def acl(options: Options, place: Place) -> Launch:
    """Each packet is asked about, where it comes in."""
    asked = [*_acl("acl", options, "rule_list", "permit")]
    direction = str(given("acl", options, "direction"))
    sides = {"outbound": ("left",), "inbound": ("right",)}.get(direction, SIDES)
    applied = [f"set acl-plugin interface {_name(side, place)} input acl 0" for side in sides]
    return _launch(place, [*_towards_ends(place), *asked, *applied], ("acl",))


def firewall(options: Options, place: Place) -> Launch:
    """A session is a rule that reflects: where the inside's interface receives, and where it sends."""
    times = (
        ("udp idle", "udp_timeout_s"),
        ("tcp idle", "tcp_established_timeout_s"),
        ("tcp transient", "tcp_transitory_timeout_s"),
    )
    kept = [f"set acl-plugin session timeout {what} {given('firewall', options, key)}" for what, key in times]
    asked = [*_acl("firewall", options, None, "permit+reflect")]
    inside = _name("left", place)
    applied = [f"set acl-plugin interface {inside} {way} acl 0" for way in ("input", "output")]
    return _launch(place, [*_towards_ends(place), *kept, *asked, *applied], ("acl",))


def nat(options: Options, place: Place) -> Launch:
    """Endpoint-dependent NAT44; what comes from the right and has no session is dropped."""
    for key in ("untranslated", "addresses"):
        require_none("VPP's nat44-ed", options, key, "it translates all that leaves by the right")
    network = _network(str(options["external"]))
    first, last = network[0], network[-1]
    times = (
        ("udp", "udp_timeout_s"),
        ("tcp-established", "tcp_established_timeout_s"),
        ("tcp-transitory", "tcp_transitory_timeout_s"),
        ("icmp", "icmp_timeout_s"),
    )
    commands = [
        f"nat44 plugin enable sessions {given('nat', options, 'sessions')}",
        f"set interface nat44 in {_name('left', place)} out {_name('right', place)}",
        f"nat44 add address {first}" + (f" - {last}" if last != first else ""),
        *(f"set nat timeout {what} {given('nat', options, key)}" for what, key in times),
        *_static_mappings(options),
    ]
    return _launch(place, [*_towards_ends(place, versions=(4,)), *commands], ("nat",))


def lb(options: Options, place: Place) -> Launch:
    """Maglev's table too, and NAT towards the back-ends."""
    if given("lb", options, "other") == "drop":
        raise CatalogueError("VPP routes what is for no service", "expected other: forward")
    services = services_of(options)
    commands = [f"lb conf timeout {given('lb', options, 'udp_timeout_s')}"]
    right, hop = _name("right", place), place.ends["right.gateway"]
    for (address, port, protocol), backends in services.items():
        ports = {own for _, own in backends}
        if len(ports) > 1:
            what = f"{address}:{port}/{protocol} has back-ends with ports {', '.join(sorted(ports))}"
            raise CatalogueError(f"VPP's balancer has one for each service, and {what}", "expected one")
        vip = f"{address}/32 protocol {protocol} port {port}"
        commands.append(f"lb vip {vip} encap nat4 type clusterip target_port {ports.pop()}")
        commands.append(f"lb as {vip} {' '.join(one for one, _ in backends)}")
        commands += [f"ip route add {one}/32 via {hop} {right}" for one, _ in backends]
    commands.append(f"lb set interface nat4 in {right}")
    return _launch(place, [*_towards_ends(place, versions=(4,)), *dict.fromkeys(commands)], ("lb",))


def _name(side: str, place: Place) -> str:
    return f"memif{SIDES.index(side) + 1}/0" if place.sockets else f"host-{place.ends[f'{side}.name']}"


def _ports_made(place: Place) -> Iterator[str]:
    for number, side in enumerate(SIDES, 1):
        mac = place.ends[f"{side}.mac"]
        if place.sockets:
            yield f"create memif socket id {number} filename {{{side}.socket}}"
            yield f"create interface memif id 0 socket-id {number} master hw-addr {mac}"
        else:
            # VPP leaves out the header that it told the kernel of where the interface has no offloads.
            yield f"create host-interface name {place.ends[f'{side}.name']} hw-addr {mac} cksum-gso-disable"
        yield f"set interface state {_name(side, place)} up"


def _neighbours(place: Place, versions: Sequence[int]) -> Iterator[str]:
    ends = place.ends
    for side in SIDES:
        for version in versions:
            suffix = "" if version == 4 else "6"
            name = _name(side, place)
            yield f"set interface ip address {name} {ends[f'{side}.address{suffix}']}"
            hop, mac = ends[f"{side}.gateway{suffix}"], ends[f"{side}.gateway_mac"]
            yield f"set ip neighbor {name} {hop} {mac} static"


def _towards_ends(place: Place, *, versions: Sequence[int] = (4, 6)) -> Iterator[str]:
    """Routes without any of the lab's: to the left what is at the tester's left end."""
    return (line for line in _routes({}, place, versions=versions))


def _routes(options: Options, place: Place, *, versions: Sequence[int] = (4, 6)) -> Iterator[str]:
    yield from _neighbours(place, versions)
    hops: dict[tuple[int, int, str], str] = {}
    for prefix, at, mac in routed(options, place.ends, "VPP's routes here have MAC addresses as next hops"):
        if prefix.version not in versions:
            continue
        side, version = SIDES[at], prefix.version
        suffix = "" if version == 4 else "6"
        name, hop = _name(side, place), place.ends[f"{side}.gateway{suffix}"]
        wanted = mac or (str(options["dst_mac"]) if at == 1 and options.get("dst_mac") else None)
        if wanted is not None:
            key = (at, version, wanted)
            if key not in hops:
                hops[key] = _further_hop(place.ends, side, version, len(hops))
                yield f"set ip neighbor {name} {hops[key]} {wanted} static"
            hop = hops[key]
        yield f"ip route add {prefix} via {hop} {name}"


def _further_hop(ends: Ends, side: str, version: int, number: int) -> str:
    """An address that nobody has, for a neighbour whose MAC address alone is known."""
    if version == 4:
        return str(ipaddress.IPv4Address(int(ipaddress.IPv4Address("169.254.200.1")) + number))
    network = ipaddress.ip_interface(ends[f"{side}.address6"]).network
    return str(network[0x1000 + number])


def _acl(nf: str, options: Options, list_key: str | None, permit: str) -> Iterator[str]:
    """One list, number 0: rules are joined by commas."""
    said = str(given(nf, options, "ipv6"))
    verdicts = {True: permit, False: "deny"}
    versions = (4, 6) if said == "rules" else (4,)
    found = [
        f"{verdicts[each.permits]} {_words(each.match, version)}"
        for one in rules(options, list_key)
        for version in versions
        if one.match.version() in (None, version)
        for each in _each_protocol(one)
    ]
    default = verdicts[given(nf, options, "default") == "permit"]
    found += [f"{default} src {_ANY[version]} dst {_ANY[version]}" for version in versions]
    if said != "rules":
        fallback = str(given(nf, options, "not_ipv4")) if said == "not_ipv4" else said
        verdict = "permit" if fallback == "forward" else "deny"
        found.append(f"{verdict} src ::/0 dst ::/0")
    yield "set acl-plugin acl " + ", ".join(found)


def _each_protocol(rule: Rule) -> Iterator[Rule]:
    """Ports of any protocol are those of TCP and of UDP."""
    asked = rule.match
    if asked.protocol == "any" and asked.has_ports():
        for protocol in ("tcp", "udp"):
            yield Rule(rule.permits, _of(asked, protocol))
    else:
        yield rule


def _of(asked: Match, protocol: str) -> Match:
    ends = (asked.source, asked.destination, asked.source_ports, asked.destination_ports)
    return Match(asked.where, asked.text, protocol, *ends)


def _words(asked: Match, version: int) -> str:
    found = [f"src {asked.source or _ANY[version]}", f"dst {asked.destination or _ANY[version]}"]
    if asked.protocol != "any":
        found.append(f"proto {_PROTOCOLS.get(asked.protocol, asked.protocol)}")
    ports = [("sport", asked.type_range() or asked.source_ports), ("dport", asked.destination_ports)]
    found += [f"{name} {_span(one)}" for name, one in ports if one is not None]
    return " ".join(found)


def _span(ports: Range) -> str:
    return f"{ports[0]}-{ports[1]}"


def _network(prefix: str) -> ipaddress.IPv4Network:
    try:
        return ipaddress.IPv4Network(prefix)
    except ValueError as error:
        raise CatalogueError(f"external: {error}", "expected an IPv4 address or prefix") from None


def _static_mappings(options: Options) -> Iterator[str]:
    for where, entry in lines(options, "forwards", None):
        words = entry.split()
        ends = [one.rpartition(":") for one in words[1:]]
        if len(words) != 3 or words[0] not in ("tcp", "udp") or not all(end[1] for end in ends):
            wanted = "tcp or udp, an external and an inside endpoint"
            raise CatalogueError(f"{where}: no static mapping: `{entry}`", f"expected {wanted}")
        external, inside = (f"{end[0]} {end[2]}" for end in ends)
        yield f"nat44 add static mapping {words[0]} local {inside} external {external}"


def _launch(place: Place, commands: Sequence[str], plugins: Sequence[str]) -> Launch:
    needed = ("memif" if place.sockets else "af_packet", *plugins)
    # The command line answers before these commands have been carried out; what the last one says tells it.
    listed = "\n".join(f"  plugin {one}_plugin.so {{ enable }}" for one in needed)
    cores = [str(one) for one in place.cores]
    cpu = f"main-core {cores[0]}" if cores else ""
    cpu += f" corelist-workers {','.join(cores[1:])}" if cores[1:] else ""
    # Of hugepages that are lacking it adds to the host's number, and leaves them there. A page-size that is
    # neither the default one nor 4k it refuses.
    pages = "" if place.hugepages else " page-size 4k"
    startup = _STARTUP.format(
        runtime=RUNTIME,
        socket=SOCKET,
        file=FILE_PREFIX,
        cpu=cpu,
        plugins=listed,
        buffers=_BUFFERS,
        pages=pages,
    )
    made = "".join(f"{line}\n" for line in (*_ports_made(place), *commands, "show version"))
    return Launch(
        ("-c", f"{{{FILE_PREFIX}startup}}"),
        ready="^vpp v",
        socket=f"{{{RUNTIME}}}/{SOCKET}",
        files={"startup": startup, "commands": made},
    )
