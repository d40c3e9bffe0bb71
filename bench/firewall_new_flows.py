# SPDX-License-Identifier: Apache-2.0
"""firewall-new-flows: 40,000 rules, each packet a new flow: the whole firewall against rte_acl alone."""

from __future__ import annotations

from bench.firewall import against_rte_acl
from bench.pairs import Line


def run() -> list[Line]:
    """Ratio of times a packet, a line for each kind of rule set."""
    return list(against_rte_acl("firewall-new-flows", "new_flows", "rte_acl", target=1.5, uniform_target=1.0))
