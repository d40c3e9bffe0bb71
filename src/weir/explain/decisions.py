# SPDX-License-Identifier: Apache-2.0
"""Where functions drop packets by their own decision: that is no lack of speed."""

from __future__ import annotations

from collections.abc import Sequence

from weir.explain.conclusion import Verdict, unknown
from weir.explain.evidence import busy
from weir.explain.trial import Analysis, Decision, losses
from weir.results.explanation import Evidence, Limit
from weir.results.result import Trial


def decision(one: Analysis) -> Verdict:
    """By the rules of the function that drops most."""
    return _decided(one, one.losses.decisions[:1], "packets", "")


def nothing_comes(one: Analysis, light: Trial) -> Verdict:
    """Whatever else was so: what is lost of a light load says why."""
    lost = losses(light, one.topology)
    if lost.decided <= lost.overflowed:
        return unknown(one.problem or "nothing comes through.")
    sides = [stream.direction for stream in light.silent]
    what = "all packets" if len(sides) == len(light.streams) else f"all packets {' and '.join(sides)}"
    of_it = f", of the {light.offered:,} of a light load"
    return _decided(one, lost.decisions[:3], f"{what}, however light the load,", of_it)


def _decided(one: Analysis, shown: Sequence[Decision], what: str, of_it: str) -> Verdict:
    """By the first of those that are shown."""
    worst = shown[0]
    says = f"{worst.stage} drops {what} by its own decision ({worst.reason}): that is no lack of speed."
    dropped = [
        Evidence(
            what=f"dropped at {each.place}", value=each.packets, unit="packets", note=f"{each.reason}{of_it}"
        )
        for each in shown
    ]
    return Verdict(Limit(kind="decision", name=worst.stage, sentence=says), (*dropped, *busy(one)))
