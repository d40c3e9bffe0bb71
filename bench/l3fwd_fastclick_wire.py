# SPDX-License-Identifier: Apache-2.0
"""l3fwd-fastclick-wire: l3fwd against FastClick's router, both as systems under test on a vhost-user wire.

As `bench.l3fwd_wire`, with the elements of `bench.l3fwd_fastclick`. FASTCLICK is the path of its `click`.
"""

from __future__ import annotations

from bench.l3fwd_fastclick import VARIABLE, application
from bench.l3fwd_wire import against
from bench.pairs import Line
from bench.router import program


def run() -> list[Line]:
    """Ratios of packets a second: at full load, NDR and PDR."""
    click = program(VARIABLE, "FastClick's click")
    return against("l3fwd-fastclick-wire", "fastclick", click, application, target=2.0)
