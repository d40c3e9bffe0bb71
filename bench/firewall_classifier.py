# SPDX-License-Identifier: Apache-2.0
"""firewall-classifier: 40,000 rules, each packet a new flow: the classifier alone against rte_acl."""

from __future__ import annotations

from dataclasses import replace

from bench.firewall import against_rte_acl, misses
from bench.pairs import Line


def run() -> Line:
    """Ratio of times a packet; the detail has that of packets which no rule matches too."""
    found = against_rte_acl("firewall-classifier", "classifier", "rte_acl", target=1.5)
    return replace(found, detail=found.detail | misses())
