# SPDX-License-Identifier: Apache-2.0
"""What the tester sends: its streams, as weir-dp takes them. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from weir.base.node import STANDARD_FRAME_BYTES, Node
from weir.base.topology import Topology
from weir.lab.capture import SIDES, Capture
from weir.lab.frames import CAPTURE, IMIX_PREFIX
from weir.lab.lab import Lab
from weir.lab.packet_fields import PACKET_FIELDS, PacketFieldName
from weir.lab.traffic import EXCHANGED, Traffic
from weir.plan.topology import PlanError, next_hop
from weir.protocol.errors import refusing
from weir.protocol.traffic import (
    AddressMap,
    CaptureConfig,
    FlowConfig,
    FrameSize,
    PacketFieldConfig,
    StreamConfig,
    Template,
    TrafficConfigure,
)

TRANSLATING = frozenset({"nat", "lb"})
"""Functions that write other addresses: of who sends, or of whom it is sent to."""
_ENDPOINTS: frozenset[PacketFieldName] = frozenset({"src_ip", "dst_ip", "src_port", "dst_port"})


@refusing()
def streams(topology: Topology, lab: Lab, frame: str) -> TrafficConfigure:
    """Of one frame size: stream 0 left to right, and stream 1 back if bidirectional.

    The frame's destination is the next hop's port, so that a learning bridge delivers it. What runs back
    answers the addresses that arrive, where a function may translate them.
    """
    ends = [("tester.left", "tester.right")]
    if lab.tester.direction == "bidirectional":
        ends.append(("tester.right", "tester.left"))
    made = []
    for number, (source, destination) in enumerate(ends):
        port = topology.port(source)
        headers = template(lab.traffic, port.mac, next_hop(topology, port).mac, back=number == 1)
        made.append(
            StreamConfig(
                id=number,
                port=source,
                to=destination,
                frame=frame_size(frame),
                template=headers,
                flows=flows(lab.traffic, lab.measure.seed + number, back=number == 1)
                if frame != CAPTURE
                else None,
                pacing=lab.traffic.pacing,
                capture=_captured(lab.traffic.capture, number) if frame == CAPTURE else None,
                fields=packet_fields(lab.traffic, lab.measure.seed, back=number == 1)
                if frame != CAPTURE
                else (),
                answers=0 if number == 1 and answers(topology, lab, frame) else None,
            )
        )
    return TrafficConfigure(streams=tuple(made))


def answers(topology: Topology, lab: Lab, frame: str) -> bool:
    """Whether what runs back answers the addresses that arrive at the right end, not those of the left one: a
    function between may translate these, to what only the packets tell.

    Not where the lab says whom the right end sends to, where the number of a flow does not tell its
    addresses, nor where no function can have translated them: these are the lab's anyway."""
    traffic = lab.traffic
    said = traffic.right.to_address is not None or traffic.right.to_port is not None
    known = frame != CAPTURE and not _ENDPOINTS.intersection(traffic.fields.said())
    translated = traffic.ip == 4 and any(_may_translate(node) for node in topology.functions())
    return translated and known and not said


def _may_translate(node: Node) -> bool:
    """What a user's program, image or commands do, nobody knows."""
    kernel = node.kernel
    unknown = (
        node.program is not None
        or (kernel is not None and bool(kernel.commands))
        or (node.machine is not None and node.machine.forwarder is None)
    )
    return unknown or any(one.nf in TRANSLATING for one in (*node.chain, *(kernel.does if kernel else ())))


def _captured(capture: Capture | None, number: int) -> CaptureConfig:
    """What the stream of that number sends. PlanError where the lab names no file for it."""
    sent = None if capture is None else capture.files().get(SIDES[number])
    if capture is None or sent is None:
        raise PlanError(
            f"no capture is named for the {SIDES[number]} end; expected traffic.capture.{SIDES[number]}"
        )
    return CaptureConfig(
        path=sent.file,
        stamp=capture.stamp,
        template_macs=capture.macs == "chain",
        filter=sent.filter,
        addresses=tuple(AddressMap(from_=one, to=other) for one, other in sent.addresses.items()),
    )


def frame_size(frame: str) -> FrameSize:
    """ "64", or a mix, "imix:aaaaaaaddddg"; of a capture a size that no frame has to have."""
    if frame == CAPTURE:
        return FrameSize(bytes=STANDARD_FRAME_BYTES)
    if frame.startswith(IMIX_PREFIX):
        return FrameSize(imix=frame.removeprefix(IMIX_PREFIX))
    return FrameSize(bytes=int(frame))


def flows(traffic: Traffic, seed: int, *, back: bool = False) -> FlowConfig:
    """The five-tuples of one stream; flow n of what runs back answers flow n."""
    wanted, vary = traffic.flows, traffic.varied(back=back)
    return FlowConfig(
        count=wanted.count if vary else 1,
        distribution=wanted.distribution,
        zipf_s=wanted.zipf_s,
        seed=seed,
        vary=vary,
        exchanged=back,
    )


_EXCHANGED: Mapping[PacketFieldName, PacketFieldName] = dict(EXCHANGED.items())


def packet_fields(traffic: Traffic, seed: int, *, back: bool = False) -> tuple[PacketFieldConfig, ...]:
    """Fields of a stream that change from packet to packet. Those of what runs back are exchanged and drawn
    alike: its packet n answers packet n. Whom an end sends to by `to_address` or `to_port` stays."""
    fixed = (traffic.right if back else traffic.left).sent_to()
    made = []
    for name, field in traffic.fields.said().items():
        place = _EXCHANGED.get(name, name) if back else name
        if place in fixed:
            continue
        numbers = field.numbers()
        made.append(
            PacketFieldConfig(
                field=place,
                order=field.order,
                seed=seed * len(PACKET_FIELDS) + PACKET_FIELDS.index(name),
                from_=0 if field.values else numbers[0],
                count=1 if field.values else numbers[1] - numbers[0] + 1,
                values=numbers if field.values else None,
                weights=field.weights or None,
            )
        )
    return tuple(made)


def template(traffic: Traffic, src_mac: str, dst_mac: str, *, back: bool = False) -> Template:
    """Headers of a stream's first flow, from left to right; or `back`, from right to left."""
    (source, source_port), (destination, destination_port) = traffic.sent(back=back)
    return Template(
        ip=traffic.ip,
        l4=traffic.l4,
        src_mac=src_mac,
        dst_mac=dst_mac,
        vlan=traffic.vlan,
        src_ip=source,
        dst_ip=destination,
        src_port=source_port,
        dst_port=destination_port,
    )
