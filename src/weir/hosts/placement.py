# SPDX-License-Identifier: Apache-2.0
"""Which host measures which point of a campaign. Pure.

A point goes to a host that can build its set-up. What is compared with each other stays together: the ways of
one chain and frame size in one round are a *block*, and a block's points go to the host that has begun it, as
far as it can build them. So ratios are of one machine. One host measures one point at a time; hosts that are
the same machine, by its boot id, do so at the same time only where their CPUs are disjoint.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from weir.lab.ways import Key
from weir.results.host_offer import HostOffer

Block = tuple[str, str, int]
"""Of a chain, a frame size and a round."""


@dataclass(frozen=True)
class Point:
    """One frame size of one set-up, in one round."""

    name: str
    chain: str
    frame: str
    round: int
    """From 0."""

    @property
    def setup(self) -> Key:
        """What has to be built."""
        return self.name, self.chain

    @property
    def block(self) -> Block:
        """What it is compared within."""
        return self.chain, self.frame, self.round

    def __str__(self) -> str:
        return f"{self.name} {self.chain}, {self.frame}, round {self.round + 1}"


@dataclass
class _Host:
    offer: HostOffer
    refused: dict[Key, str]
    at: Point | None = None
    busy: bool = False


@dataclass
class Placement:
    """Of one campaign, as far as it is."""

    waiting: list[Point]
    """What is left, in the order in which it should be measured."""
    _hosts: dict[str, _Host] = field(default_factory=dict)
    _begun: dict[Block, str] = field(default_factory=dict)
    _gone: dict[Key, dict[str, str]] = field(default_factory=dict)

    def begun(self, block: Block, host: str) -> None:
        """It has measured some of that block before."""
        self._begun.setdefault(block, host)

    def offered(self, host: str, offer: HostOffer, refused: Mapping[Key, str]) -> None:
        """A host takes part. `refused`: set-ups that it cannot build, and why."""
        self._hosts[host] = _Host(offer, dict(refused))

    def next(self, host: str) -> Point | None:
        """What it measures from now on; None: nothing now."""
        if not self.may_work(host):
            return None
        known = self._hosts[host]
        point = next(
            iter(sorted(self._open_to(host), key=lambda one: self._begun.get(one.block) != host)), None
        )
        if point is not None:
            self.waiting.remove(point)
            self._begun.setdefault(point.block, host)
            known.at, known.busy = point, True
        return point

    def may_work(self, host: str) -> bool:
        """Neither it nor another host on CPUs of its machine measures now."""
        mine = self._hosts[host].offer
        return not any(one.busy for one in self._hosts.values() if _same_cpus(one.offer, mine))

    def ending(self, host: str) -> None:
        """It gets no more, and has its machine until it is `gone`."""
        self._hosts[host].busy = True

    def at(self, host: str) -> Point | None:
        """What it measures now."""
        known = self._hosts.get(host)
        return known.at if known is not None else None

    def finished(self, host: str) -> None:
        """Its point counts."""
        self._hosts[host].at = None

    def free(self, host: str) -> None:
        """It has nothing to do. What it was at and did not finish is left for another visit."""
        known = self._hosts[host]
        known.busy = False
        self._give_back(known)

    def refused(self, host: str, setup: Key, why: str) -> None:
        """It cannot build that one after all."""
        self._hosts[host].refused.setdefault(setup, why)

    def gone(self, host: str) -> Point | None:
        """It takes part no more; what it was at, which another one measures from its beginning."""
        known = self._hosts.pop(host, None)
        if known is None:
            return None
        for setup, why in known.refused.items():
            self._gone.setdefault(setup, {})[host] = why
        at = known.at
        self._give_back(known)
        return at

    def impossible(self) -> dict[Key, dict[str, str]]:
        """Set-ups of waiting points that no host can build, and what each host lacks."""
        found: dict[Key, dict[str, str]] = {}
        for setup in dict.fromkeys(point.setup for point in self.waiting):
            if all(setup in host.refused for host in self._hosts.values()):
                lacking = {name: host.refused[setup] for name, host in self._hosts.items()}
                found[setup] = lacking or self._gone.get(setup, {})
        return found

    def give_up(self, setups: Iterable[Key]) -> int:
        """These are measured by nobody; how many points that are."""
        left_out = set(setups)
        before = len(self.waiting)
        self.waiting = [point for point in self.waiting if point.setup not in left_out]
        return before - len(self.waiting)

    @property
    def hosts(self) -> Sequence[str]:
        """Those that take part."""
        return list(self._hosts)

    @property
    def under_way(self) -> bool:
        """Whether anything is measured now."""
        return any(host.at is not None for host in self._hosts.values())

    def _open_to(self, host: str) -> Iterator[Point]:
        refused = self._hosts[host].refused
        for point in self.waiting:
            owner = self._hosts.get(self._begun.get(point.block, ""))
            others = owner is not None and owner is not self._hosts[host] and point.setup not in owner.refused
            if point.setup not in refused and not others:
                yield point

    def _give_back(self, known: _Host) -> None:
        if known.at is not None:
            self.waiting.insert(0, known.at)
            known.at = None


def _same_cpus(one: HostOffer, other: HostOffer) -> bool:
    return one.boot_id == other.boot_id and bool(set(one.cpus) & set(other.cpus))
