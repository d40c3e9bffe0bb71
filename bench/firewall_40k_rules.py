# SPDX-License-Identifier: Apache-2.0
"""firewall-40k-rules: the classifier at 1,000 rules against itself at 40,000; the target is a third."""

from __future__ import annotations

from bench.firewall import slowdown
from bench.pairs import Line


def run() -> list[Line]:
    """Ratio of times a packet, a line for each kind of rule set."""
    return list(slowdown("firewall-40k-rules", target=1 / 3))
