# SPDX-License-Identifier: Apache-2.0
"""firewall-classifier: 40,000 rules, each packet a new flow: the classifier alone against rte_acl."""

from __future__ import annotations

from bench.firewall import against_rte_acl, misses
from bench.pairs import Line

NAME = "firewall-classifier"
TARGET = 1.5


def run() -> list[Line]:
    """Ratio of times a packet, a line for each kind of rule set; and for packets which no rule matches."""
    return [
        *against_rte_acl(NAME, "classifier", "rte_acl", target=TARGET),
        *misses(NAME, target=TARGET),
    ]
