# SPDX-License-Identifier: Apache-2.0
"""The account of a chain that spans hosts: what other hosts' parts count, and what is lost between two hosts,
where neither counts it: the packets that one gave to their wire less those that came out at the other.

Pure arithmetic on counters. Names of nodes, ports and links are those of the whole chain, so the counts of
all parts stand beside each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from weir.base.span import Span
from weir.measure.accounting import Seen
from weir.measure.tester import Counter

LOST_BETWEEN = "lost_between_hosts"


@dataclass(frozen=True)
class Count:
    """A counter, as those of this machine are."""

    place: str
    reason: str | None
    kind: Literal["drop", "packets", "originated"]
    value: int


def part_counts(found: Seen, counters: Sequence[Counter]) -> list[Count]:
    """Of a part without the tester: what its own ledger and the counters around it say, as counters outside
    the tester's host."""
    return [
        *(Count(place, reason, "drop", packets) for (place, reason), packets in found.drops.items()),
        *(Count(place, None, "originated", packets) for place, packets in found.originated.items()),
        *(Count(one.place, None, "packets", one.value) for one in counters if one.kind == "packets"),
    ]


def at_wires(spans: Sequence[Span], counters: Sequence[Counter]) -> dict[str, int]:
    """Packets that went in and came out at the ends of wires. Where two readings of all hosts agree, nothing
    moved between hosts meanwhile, so that what was read on one belongs to what was read on another."""
    ends = {f"{span.name}:{end.host}" for span in spans for end in (span.left, span.right)}
    packets = (one for one in counters if one.kind == "packets")
    return {one.place: one.value for one in packets if one.place.rpartition(" ")[0] in ends}


def lost_between(spans: Sequence[Span], counters: Sequence[Counter]) -> list[Count]:
    """For each wire and direction. `counters`: of all parts, while nothing moves between hosts. What a wire's
    end refused as faulty it has received, and counts as a drop of its own."""
    packets = {one.place: one.value for one in counters if one.kind == "packets"}
    refused = {one.place: one.value for one in counters if one.reason == "interface_rx_errors"}
    found = []
    for span in spans:
        for sent_by, taken_by in ((span.left, span.right), (span.right, span.left)):
            near, far = f"{span.name}:{sent_by.host}", f"{span.name}:{taken_by.host}"
            lost = packets.get(f"{near} tx", 0) - packets.get(f"{far} rx", 0) - refused.get(far, 0)
            found.append(Count(f"{span.name}:{sent_by.host}-{taken_by.host}", LOST_BETWEEN, "drop", lost))
    return found
