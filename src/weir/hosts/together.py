# SPDX-License-Identifier: Apache-2.0
"""Hosts that one chain spans, as one host of a campaign: the tester's measures, the others build and count
their parts, and their lines go through here. Where one of them is lost, all of them are ended: what was being
measured counts nothing.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from weir.hosts.messages import (
    Begin,
    End,
    Failed,
    MessageError,
    Offered,
    Possible,
    Showed,
    from_host,
    to_host,
)
from weir.hosts.parts import (
    FromPart,
    PartAnswer,
    PartCounted,
    PartDown,
    PartFailed,
    PartStands,
    Place,
    TakeDownPart,
    ToPart,
)
from weir.hosts.times import HOSTS_END_S
from weir.hosts.transport import Heard, Hosts


@dataclass
class _Member:
    """One of them."""

    host: str
    """As the lab calls it."""
    machine: str
    """As the cluster calls it."""
    offered: Offered | None = None
    ended: str | None = None


@dataclass
class Together:
    """The `Hosts` of one campaign."""

    hosts: Hosts
    """Which have given the machines below to this campaign, all of them."""
    machines: Mapping[str, str]
    """By host of the lab, the tester's first."""
    addresses: Mapping[str, str]
    """In the cluster, likewise."""
    lost: str | None = None
    """Which host was lost, and why."""
    _members: dict[str, _Member] = field(default_factory=dict)
    _stopping: bool = False
    _until_s: float | None = None
    _said: bool = False

    def __post_init__(self) -> None:
        self._members = {machine: _Member(host, machine) for host, machine in self.machines.items()}

    @property
    def names(self) -> Sequence[str]:
        """One: runs of other machines are other runs."""
        return ["+".join(self.machines.values())]

    @property
    def _tester(self) -> _Member:
        return next(iter(self._members.values()))

    def begin(self, host: str) -> None:  # noqa: ARG002 - there is one
        """All their programs."""
        for machine in self._members:
            self.hosts.begin(machine)

    def send(self, host: str, line: str) -> None:  # noqa: ARG002
        """What all have to know to all, the rest to the tester's."""
        order = to_host(line)
        if isinstance(order, Begin):
            for member in self._members.values():
                place = Place(host=member.host, machines=dict(self.machines), addresses=dict(self.addresses))
                begun = order.model_copy(update={"place": place})
                if member is not self._tester:  # which alone measures
                    begun = begun.model_copy(update={"earlier_pieces": 0})
                self.hosts.send(member.machine, begun.model_dump_json())
            return
        ends = isinstance(order, End)
        for member in self._members.values() if ends else (self._tester,):
            self.hosts.send(member.machine, line)

    def heard(self, wait_s: float) -> Sequence[Heard]:
        """What the tester's says; what the others show, with their names."""
        lines: list[str] = []
        for one in self.hosts.heard(wait_s):
            member = self._members[one.host]
            for line in one.lines:
                lines += self._passed(member, line)
            if one.ended is not None and member.ended is None:
                self._end(member, one.ended)
        (name,) = self.names
        late = self._until_s is not None and time.monotonic() > self._until_s
        if self._said or not (late or all(one.ended is not None for one in self._members.values())):
            return [Heard(name, lines)] if lines else []
        self._said = True
        why = next((one.ended for one in self._members.values() if one.ended), "")
        return [Heard(name, lines, self.lost or why)]

    def stop(self, host: str) -> None:  # noqa: ARG002
        """The tester's first, which has the others take down their parts."""
        self._stopping = True
        self.hosts.stop(self._tester.machine)

    def close(self) -> None:
        """Ends what is left."""
        self.hosts.close()

    def _passed(self, member: _Member, line: str) -> Iterator[str]:
        """Lines of it that are for the campaign."""
        try:
            said = from_host(line)
        except MessageError as error:
            self._lose(member, str(error))
            return
        match said:
            case Offered():
                member.offered = said
                yield from self._offer()
            case Showed():
                if member is self._tester:
                    yield line
                elif said.stays:
                    yield Showed(text=f"{member.host}: {said.text}", stays=True).model_dump_json()
            case Failed():
                self._lose(member, said.why)
            case ToPart():
                self._to_part(said)
            case PartStands() | PartCounted() | PartDown() | PartFailed():
                self._from_part(member.host, said)
            case _ if member is self._tester and self.lost is None:
                yield line

    def _offer(self) -> Iterator[str]:
        """What they can do together, once all have said it."""
        members = [*self._members.values()]
        offers = [one.offered for one in members if one.offered is not None]
        if self.lost is not None or len(offers) < len(members):
            return
        for member, offer in zip(members, offers, strict=True):
            if offer.offer.weir != offers[0].offer.weir:
                here = offers[0].offer.weir
                self._lose(member, f"has Weir {offer.offer.weir}, and {members[0].machine} has {here}")
                return
        setups = [
            Possible(name=one.name, chain=one.chain, refused=_refused(members, offers, at))
            for at, one in enumerate(offers[0].setups)
        ]
        yield offers[0].model_copy(update={"setups": tuple(setups)}).model_dump_json()

    def _to_part(self, said: ToPart) -> None:
        member = next((one for one in self._members.values() if one.host == said.host), None)
        if member is not None and member.ended is None:
            self.hosts.send(member.machine, said.order.model_dump_json())
            return
        gone = PartFailed(why=f"{said.host} is lost")
        self._from_part(said.host, PartDown() if isinstance(said.order, TakeDownPart) else gone)

    def _from_part(self, host: str, answer: PartAnswer) -> None:
        self.hosts.send(self._tester.machine, FromPart(host=host, answer=answer).model_dump_json())

    def _end(self, member: _Member, why: str) -> None:
        """Its program has ended. Where nobody has told it to, it is lost; `why` says how."""
        member.ended = why
        if why and not self._stopping:
            self._lose(member, why)
        if member is self._tester:
            for other in self._members.values():
                if other.ended is None:
                    self.hosts.stop(other.machine)
        elif self._tester.ended is None and self._stopping:
            self._from_part(member.host, PartDown())

    def _lose(self, member: _Member, why: str) -> None:
        if self.lost is None:
            self.lost = f"{member.host} ({member.machine}): {why}"
            self._until_s = time.monotonic() + HOSTS_END_S
        if member.ended is None:
            self.hosts.stop(member.machine)
        self._stopping = True
        if self._tester.ended is None and member is not self._tester:
            self.hosts.stop(self._tester.machine)


def _refused(members: Sequence[_Member], offers: Sequence[Offered], at: int) -> str | None:
    """Why one of the set-ups cannot be measured, host by host."""
    why = [
        f"{member.host} ({member.machine}): {offer.setups[at].refused}"
        for member, offer in zip(members, offers, strict=True)
        if offer.setups[at].refused is not None
    ]
    return "; ".join(why) or None
