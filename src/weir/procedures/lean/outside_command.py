# SPDX-License-Identifier: Apache-2.0
"""`weir lean` of a lab whose functions are outside weir-dp: what of its options holds for them."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from weir.cli.exits import USAGE, CommandError
from weir.cli.labfile import (
    chosen_chain,
    chosen_frame,
    chosen_technology,
    own_cores,
    require_packets,
    require_possible,
)

if TYPE_CHECKING:
    from weir.lab import Lab

OUTSIDE_LOAD = "100kpps"


@dataclass(frozen=True)
class Asked:
    """Which of a lab's, as it was said; None: not said."""

    chain: str | None
    frame: str | None
    rate: str | None
    technology: str | None


def measure_outside(
    lab: Lab, asked: Asked, repeats: int, given: Mapping[str, object], *, as_json: bool, wait: bool
) -> None:
    """Prints what they cost. `given`: options that mean nothing to them, None where they were not given."""
    from weir.fabric import stop_signals
    from weir.procedures.driver import planned, take_down_leftovers
    from weir.procedures.lean import outside
    from weir.procedures.lean.text import render_outside

    named = [f"--{name}" for name, value in given.items() if value is not None]
    if named:
        raise CommandError(
            f"{', '.join(named)}: of functions of weir-dp, and this chain has others, of which only the CPU "
            "time at a load (--rate) can be had",
            USAGE,
        )
    require_packets(lab, "weir lean")
    chosen, measured = chosen_technology(lab, asked.technology), chosen_chain(lab, asked.chain)
    size, load_pps = chosen_frame(lab, asked.frame), _pps(asked.rate or OUTSIDE_LOAD)
    require_possible(lab, chosen, measured.name)
    topology = planned(lab, chosen, measured)
    with own_cores([topology], wait=wait), stop_signals.held():
        take_down_leftovers(say)
        result = outside.measure(lab, topology, size, load_pps, repeats=repeats, say=say)
    say("")
    print(
        result.model_dump_json(indent=2) if as_json else render_outside(result),
        end="\n" if as_json else "",
    )


def _pps(text: str) -> float:
    from weir.lab.delay import load_of

    try:
        load = load_of(text)
    except ValueError as error:
        raise CommandError(f"--rate {error}", USAGE) from None
    if load.pps is None:
        raise CommandError(f"--rate {text}: expected packets a second, such as 100kpps", USAGE)
    return load.pps


def say(text: str) -> None:
    """Progress, where somebody looks: on a line of its own that the next one replaces."""
    if sys.stderr.isatty():
        print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)
