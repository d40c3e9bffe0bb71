# SPDX-License-Identifier: Apache-2.0
"""What limits after the limit is gone, and how far that is."""

from __future__ import annotations

from weir.explain.cores import Core
from weir.explain.seen import Seen
from weir.explain.verdict import Verdict
from weir.results.explanation import Second

_OF_A_CORE = frozenset({"stage", "ports", "switch", "kernel", "tester"})


def second(one: Seen, verdict: Verdict) -> Second | None:
    """The next core by cycles a packet; on a single core the next part. None where no core was the limit.

    A core that is not full takes its packets in smaller bursts, which cost more each: it is at most as far
    on as this says.
    """
    core, part = verdict.core, verdict.part
    if core is None or part is None or verdict.limit.kind not in _OF_A_CORE:
        return None
    others = [other for other in one.cores if other is not core and other.parts]
    if others:
        return _core(one, core, max(others, key=lambda other: other.cycles))
    rest = [other for other in core.parts if other is not part and other.tester == part.tester]
    if not rest:
        return None
    return Second(
        name=rest[0].name(),
        core=core.number,
        cycles_per_packet=rest[0].cycles,
        share_of_limit=rest[0].cycles / part.cycles,
        sentence=f"{rest[0].name()} on the same core takes {rest[0].cycles / part.cycles:.0%} as much.",
    )


def _core(one: Seen, core: Core, other: Core) -> Second:
    share = other.cycles / core.cycles
    name = other.dearest().name()
    return Second(
        name=name,
        core=other.number,
        cycles_per_packet=other.cycles,
        share_of_limit=share,
        sentence=(
            f"Core {other.number}, most of it {name}, spends {share:.0%} as many cycles on a packet: alone "
            f"it would carry {one.hz / other.cycles / 1e6:.3f} Mpps or a little more."
        ),
    )
