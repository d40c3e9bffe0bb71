# SPDX-License-Identifier: Apache-2.0
"""firewall-classifier: 40,000 rules, each packet a new flow: the classifier alone against rte_acl."""

from __future__ import annotations

from bench.firewall import against_rte_acl
from bench.pairs import Line


def run() -> Line:
    """Ratio of times a packet."""
    return against_rte_acl("firewall-classifier", "classifier", "rte_acl", target=1.5)
