# SPDX-License-Identifier: Apache-2.0
"""What is impossible about the flows, fields, captures and connections of a lab, but for the files, which
weir-dp reads."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator

from weir.lab.complaint import Complaint
from weir.lab.connections import DATAGRAM_BYTES_MAX, SEGMENT_BYTES_MAX
from weir.lab.frames import CAPTURE, CONNECTIONS
from weir.lab.lab import Lab
from weir.lab.packet_fields import AddressField
from weir.lab.source import KeyPath

_HERE: KeyPath = ("traffic", "capture")
_FRAMES: KeyPath = ("traffic", "frames")


def traffic_complaints(lab: Lab) -> Iterator[Complaint]:
    """Of the whole lab."""
    yield from _flows(lab)
    yield from _fields(lab)
    yield from _captures(lab)
    yield from _connections(lab)


def _flows(lab: Lab) -> Iterator[Complaint]:
    flows, left = lab.traffic.flows, ("traffic", "left")
    if flows.count > 1 and not lab.traffic.varied():
        message = f"is {', '.join(flows.vary)} alone, which is where the left end sends to, in every packet"
        yield Complaint(
            ("traffic", "flows", "vary"), message, "src_ip or src_port, or one flow", about=(left,)
        )


def _fields(lab: Lab) -> Iterator[Complaint]:
    traffic, said = lab.traffic, lab.traffic.fields.said()
    if said and set(traffic.frames) <= {CAPTURE, CONNECTIONS}:
        message = f"are not sent: packets of {traffic.frames[0]} have fields of their own"
        yield Complaint(("traffic", "fields"), message, "sizes among the frames, or none", about=(_FRAMES,))
    latency = lab.measure.latency
    if (
        latency is not None
        and latency.first_packets
        and said.keys() & {"src_ip", "dst_ip", "src_port", "dst_port"}
    ):
        message = "is not known of packets whose addresses or ports change: each may begin a flow"
        path: KeyPath = ("measure", "latency", "first_packets")
        yield Complaint(path, message, "false, or flows alone", about=(("traffic", "fields"),))
    source, destination = (address for address, _ in traffic.sent())
    for name, field in said.items():
        path = ("traffic", "fields", name)
        if name in ("vlan", "priority") and traffic.vlan is None:
            yield Complaint(
                path, "is of a tag, and frames have none", "traffic.vlan too", about=(("traffic", "vlan"),)
            )
        if isinstance(field, AddressField):
            yield from _addresses(path, field, source if name == "src_ip" else destination, traffic.ip)


def _addresses(path: KeyPath, field: AddressField, end: str, version: int) -> Iterator[Complaint]:
    about: tuple[KeyPath, ...] = (("traffic", "ip"), ("traffic", "left"), ("traffic", "right"))
    found = field.addresses()
    if found[0].version != version:
        expected = f"IPv{version} addresses, as traffic.ip says"
        yield Complaint(path, f"is of IPv{found[0].version}", expected, about=about)
        return
    if any(one.is_multicast or one.is_unspecified or one.is_loopback for one in found):
        yield Complaint(path, "has an address that is no other host's", "unicast addresses")
    try:
        base = int(ipaddress.ip_address(end))
    except ValueError:  # said elsewhere
        return
    if version == 6 and base >> 32 != int(found[0]) >> 32:
        yield Complaint(path, f"is not of {end}'s /96", "addresses of it, or another end", about=about)


def _captures(lab: Lab) -> Iterator[Complaint]:
    traffic, capture = lab.traffic, lab.traffic.capture
    sizes = [frame for frame in traffic.frames if frame != CAPTURE]
    if capture is None:
        if len(sizes) < len(traffic.frames) and traffic.connections is None:
            expected = "the files there, or sizes alone"
            yield Complaint(
                _FRAMES, "names `capture`, and traffic.capture is absent", expected, about=(_HERE,)
            )
        if traffic.pacing == "recorded":
            message, expected = "is `recorded`, and no capture is sent", "constant or poisson"
            yield Complaint(("traffic", "pacing"), message, expected, about=(_HERE,))
        return
    if len(sizes) == len(traffic.frames):
        message, expected = "is not sent: traffic.frames has sizes alone", "`capture` among the frames"
        yield Complaint(_HERE, message, expected, about=(_FRAMES,))
    if traffic.pacing == "recorded" and sizes:
        message = f"is `recorded`, and frames of {sizes[0]} were not captured"
        expected = "constant or poisson, or the capture alone"
        yield Complaint(("traffic", "pacing"), message, expected, about=(_FRAMES,))
    yield from _ends(lab)
    yield from _replay(lab)
    if lab.measure.latency is not None and not capture.stamp:
        message, expected = (
            "is not known of frames without a stamp",
            "`stamp: true` in traffic.capture, or none",
        )
        yield Complaint(("measure", "latency"), message, expected, about=(_HERE,))
    elif lab.measure.latency is not None and lab.measure.latency.first_packets:
        message = "is not known of a capture: nobody tells its flows apart"
        path: KeyPath = ("measure", "latency", "first_packets")
        yield Complaint(path, message, "false, or sizes alone", about=(_HERE,))


def _replay(lab: Lab) -> Iterator[Complaint]:
    """Where a capture is replayed, nothing is searched for, and all times are the file's."""
    traffic, capture = lab.traffic, lab.traffic.capture
    if capture is None or capture.rate is None:
        return
    about: tuple[KeyPath, ...] = ((*_HERE, "rate"),)
    if traffic.frames != (CAPTURE,):
        message = f"has {traffic.frames[0]}, and the capture is replayed"
        yield Complaint(_FRAMES, message, "the capture alone, or no rate of it", about=about)
    if traffic.pacing != "recorded":
        message = f"is {traffic.pacing}, and a replay has the gaps of its file"
        yield Complaint(("traffic", "pacing"), message, "recorded, or none", about=about)
    if lab.measure.latency is not None:
        message = "is of loads beside a search, and the capture is replayed"
        expected = "none: with `stamp: true` delays of the replay are told without it"
        yield Complaint(("measure", "latency"), message, expected, about=about)
    if lab.measure.rounds > 1:
        message = f"is {lab.measure.rounds}, and captures are replayed in one round"
        yield Complaint(("measure", "rounds"), message, "1; replays are repeated by measure.repeats")
    if lab.sla is not None:
        message = "limits rates that are searched and delays at loads, and the capture is replayed"
        yield Complaint(("sla",), message, "none", about=about)


def _ends(lab: Lab) -> Iterator[Complaint]:
    capture, both = lab.traffic.capture, lab.tester.direction == "bidirectional"
    assert capture is not None
    about: tuple[KeyPath, ...] = (("tester", "direction"), _HERE)
    if capture.left is None:
        yield Complaint((*_HERE, "left"), "is absent", "a file for the left end", about=about)
    if capture.right is None and both:
        message = "is absent, and traffic is bidirectional"
        expected = "a file for the right end, or `tester: {direction: left-to-right}`"
        yield Complaint((*_HERE, "right"), message, expected, about=about)
    if capture.right is not None and not both:
        message = "is never sent: traffic runs left to right alone"
        yield Complaint((*_HERE, "right"), message, "tester.direction bidirectional, or none", about=about)


_CONNECTIONS: KeyPath = ("traffic", "connections")
_LAST_BITS = (1 << 32) - 1  # in which addresses differ


def _connections(lab: Lab) -> Iterator[Complaint]:
    traffic, wanted = lab.traffic, lab.traffic.connections
    if wanted is None:
        if CONNECTIONS in traffic.frames:
            message = "names `connections`, and traffic.connections is absent"
            yield Complaint(_FRAMES, message, "these, or sizes alone", about=(_CONNECTIONS,))
        return
    if traffic.frames != (CONNECTIONS,):
        message = f"has {traffic.frames[0]}, and connections have packets of their own sizes"
        yield Complaint(_FRAMES, message, "none: connections are measured alone", about=(_CONNECTIONS,))
    if traffic.capture is not None:
        message = "is not sent where connections are made"
        yield Complaint(_HERE, message, "one of the two", about=(_CONNECTIONS,))
    if traffic.pacing == "recorded":
        message = "is `recorded`, and connections were not captured"
        yield Complaint(("traffic", "pacing"), message, "constant or poisson", about=(_CONNECTIONS,))
    if lab.measure.latency is not None:
        message = "is of packets with a stamp, and connections have none"
        expected = "none: the times of connections and transactions are told without it"
        yield Complaint(("measure", "latency"), message, expected, about=(_CONNECTIONS,))
    if lab.measure.rounds > 1:
        message = f"is {lab.measure.rounds}, and connections are measured in one round"
        yield Complaint(("measure", "rounds"), message, "1; searches are repeated by measure.repeats")
    if lab.sla is not None:
        message = "limits rates and delays of packets, and the tester makes connections"
        yield Complaint(("sla",), message, "none", about=(_CONNECTIONS,))
    yield from _sizes(lab)
    yield from _ranges(lab)


def _sizes(lab: Lab) -> Iterator[Complaint]:
    """What fits a packet of IPv4 alone."""
    wanted, version = lab.traffic.connections, lab.traffic.ip
    assert wanted is not None
    about: tuple[KeyPath, ...] = (("traffic", "ip"),)
    if wanted.mss is not None and wanted.mss > SEGMENT_BYTES_MAX[version]:
        expected = f"at most {SEGMENT_BYTES_MAX[version]} with IPv{version}"
        yield Complaint((*_CONNECTIONS, "mss"), f"is {wanted.mss}", expected, about=about)
    for number, service in enumerate(wanted.services):
        longest = max(service.request_bytes, service.answer_bytes)
        if service.l4 == "udp" and longest > DATAGRAM_BYTES_MAX[version]:
            expected = f"at most {DATAGRAM_BYTES_MAX[version]} with udp and IPv{version}"
            path: KeyPath = (*_CONNECTIONS, "services", number)
            yield Complaint(path, f"has a datagram of {longest} bytes", expected, about=about)


def _ranges(lab: Lab) -> Iterator[Complaint]:
    """Ranges that reach beyond the last address, or of IPv6 out of a /96, or into each other."""
    traffic, wanted = lab.traffic, lab.traffic.connections
    assert wanted is not None
    try:
        (source, _), (destination, _) = traffic.sent()
        ends = ipaddress.ip_address(source), ipaddress.ip_address(destination)
    except ValueError:
        return  # which is said of the address itself
    if {one.version for one in ends} != {traffic.ip}:
        return  # likewise
    first, to = (int(one) for one in ends)
    where = " of its /96" if traffic.ip == 6 else ""
    for key, begin, count in (("clients", first, wanted.clients), ("servers", to, wanted.servers)):
        if (begin & _LAST_BITS) + count > _LAST_BITS + 1:
            address = ends[0] if key == "clients" else ends[1]
            message = f"is {count}, and there are not so many addresses{where} from {address} on"
            yield Complaint((*_CONNECTIONS, key), message, "fewer")
    if first < to + wanted.servers and to < first + wanted.clients:
        message = f"reaches the servers' addresses, which begin at {destination}"
        expected = "fewer, or ends whose addresses are further apart"
        yield Complaint(
            (*_CONNECTIONS, "clients"), message, expected, about=(("traffic", "right", "address"),)
        )
