# SPDX-License-Identifier: Apache-2.0
"""What the command line says of how a lab is measured, instead of what the lab itself says."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from weir.cli.exits import USAGE, CommandError

if TYPE_CHECKING:
    from weir.lab import Lab
    from weir.lab.ways import Way

DURATION_S = 10.0
"""Of each given rate, where nobody says it."""


@dataclass(frozen=True)
class Measured:
    """As the lab has it, but for what is said here."""

    rounds: int | None = None
    rates: Sequence[str] = ()
    """Sent one after the other, and nothing searched for; none: the lab's goals."""
    duration_s: float | None = None
    """Of each of them."""

    @classmethod
    def as_in(cls, stored: Lab, whole: Lab) -> Measured:
        """What makes a lab file's lab one that was measured: its rounds, and rates if these were given."""
        latency = stored.measure.latency
        if stored.measure.goals or latency is None or not whole.measure.goals:
            return cls(stored.measure.rounds)
        return cls(stored.measure.rounds, latency.loads, latency.duration_s)

    def of(self, lab: Lab, compared: Sequence[Way]) -> tuple[Lab, tuple[Way, ...]]:
        """The lab and its ways. CommandError for what their traffic is not measured by."""
        ways = tuple(compared)
        if self.rates:
            lab, ways = self._at_rates(lab, ways)
        elif self.duration_s is not None:
            raise CommandError("--duration is of each --rate; give one, or leave it out", USAGE)
        if self.rounds is not None:
            lab, ways = self._repeated(lab, ways, self.rounds)
        return lab, ways

    def _at_rates(self, lab: Lab, ways: Sequence[Way]) -> tuple[Lab, tuple[Way, ...]]:
        from weir.cli.labfile import require_packets
        from weir.lab.given_rates import at_rates, complaints

        require_packets(lab, "--rate")
        rates = [_rate(text) for text in self.rates]
        if len(set(rates)) < len(rates):
            raise CommandError("--rate names a rate twice; expected each of them once", USAGE)
        duration_s = DURATION_S if self.duration_s is None else self.duration_s

        def sent(one: Lab) -> Lab:
            return at_rates(one, rates, duration_s)

        known = set(complaints(lab))
        for complaint in complaints(sent(lab)):
            if complaint not in known:
                where = ".".join(map(str, complaint.path))
                raise CommandError(
                    f"--rate: {where} {complaint.message}; expected {complaint.expected}", USAGE
                )
        return sent(lab), _each(ways, sent)

    @staticmethod
    def _repeated(lab: Lab, ways: Sequence[Way], rounds: int) -> tuple[Lab, tuple[Way, ...]]:
        """CommandError for traffic that is measured in one round."""
        from weir.lab.traffic_check import traffic_complaints

        def repeated(one: Lab) -> Lab:
            return one.model_copy(update={"measure": one.measure.model_copy(update={"rounds": rounds})})

        for complaint in traffic_complaints(repeated(lab)):
            if complaint.path == ("measure", "rounds"):
                message = f"--repeat {rounds}: measure.rounds {complaint.message}"
                raise CommandError(f"{message}; expected {complaint.expected}", USAGE)
        return repeated(lab), _each(ways, repeated)


def _each(ways: Sequence[Way], change: Callable[[Lab], Lab]) -> tuple[Way, ...]:
    return tuple(dataclasses.replace(way, lab=change(way.lab)) for way in ways)


def _rate(text: str) -> str:
    """As a load in its one spelling: "1.5Mpps", "100Mbit/s"."""
    from weir.lab.delay import BOUNDS, load_of, rate_text

    try:
        found = load_of(text)
    except ValueError as error:
        units = "pps, kpps, Mpps, bit/s, kbit/s, Mbit/s or Gbit/s"
        bounds = (f"{least:g}{unit} to {most / 1e9:g}G{unit}" for unit, (least, most) in BOUNDS.items())
        expected = f"a number and its unit: {units}, such as 1.5Mpps; {' or '.join(bounds)}"
        raise CommandError(f"--rate {text}: expected {expected}", USAGE) from error
    if found.goal is not None:
        expected = "a rate such as 1.5Mpps; a lab has shares of a goal in measure.latency.loads"
        raise CommandError(f"--rate {text}: expected {expected}", USAGE)
    return rate_text(found)
