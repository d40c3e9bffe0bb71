# SPDX-License-Identifier: Apache-2.0
"""What is impossible about the captures and fields of a lab, but for the files, which weir-dp reads."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator

from weir.lab.complaint import Complaint
from weir.lab.frames import CAPTURE
from weir.lab.lab import Lab
from weir.lab.source import KeyPath
from weir.lab.traffic import AddressField

_HERE: KeyPath = ("traffic", "capture")
_FRAMES: KeyPath = ("traffic", "frames")


def traffic_complaints(lab: Lab) -> Iterator[Complaint]:
    """Of the whole lab."""
    yield from _fields(lab)
    yield from _captures(lab)


def _fields(lab: Lab) -> Iterator[Complaint]:
    traffic, said = lab.traffic, lab.traffic.fields.said()
    if said and set(traffic.frames) == {CAPTURE}:
        message = "are not sent: a capture's frames have fields of their own"
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
        if len(sizes) < len(traffic.frames):
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
    if lab.measure.latency is not None and not capture.stamp:
        message, expected = (
            "is not known of frames without a stamp",
            "`stamp: true` in traffic.capture, or none",
        )
        yield Complaint(("measure", "latency"), message, expected, about=(_HERE,))


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
