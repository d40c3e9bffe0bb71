# SPDX-License-Identifier: Apache-2.0
"""fastclick-wire-most: the most that `l3fwd-fastclick-wire` could be, whatever router stood in place of ours.

testpmd that hands each packet back as it came (io) in the router's place: what it takes is the wire's. No
target.
"""

from __future__ import annotations

from bench.l3fwd_fastclick import VARIABLE, application
from bench.l3fwd_wire import routed_traffic, router
from bench.on_a_wire import compared, testpmd_system
from bench.pairs import Line
from bench.router import program


def run() -> list[Line]:
    """Ratio of packets a second, at full load."""
    click = router("fastclick", program(VARIABLE, "FastClick's click"), application)
    return compared(
        "fastclick-wire-most", (testpmd_system("io"), click), routed_traffic, target=None, rounds=0
    )
