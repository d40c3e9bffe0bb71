# SPDX-License-Identifier: Apache-2.0
"""firewall-10k-flows: 40,000 rules, 10,000 flows that are known: the whole firewall against rte_acl."""

from __future__ import annotations

from bench.firewall import against_rte_acl
from bench.pairs import Line


def run() -> list[Line]:
    """Ratio of times a packet, a line for each kind of rule set."""
    return list(against_rte_acl("firewall-10k-flows", "flows_10k", "rte_acl_10k", target=5.0))
