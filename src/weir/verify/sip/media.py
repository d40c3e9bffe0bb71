# SPDX-License-Identifier: Apache-2.0
"""RTP, counted by the kernels of both ends: SIPp tells of what it sends only while it does."""

from __future__ import annotations

import re
from itertools import starmap

from weir.results.calls import RtpCounts
from weir.verify.driver import CloudError, Hosts
from weir.verify.sip.functions import CALLEE, CALLER

ECHO_PORT = 6000
"""Where SIPp sends RTP back."""
PROGRAM = "iptables"
_RULES = (
    (CALLER, "OUTPUT", "--dport"),
    (CALLEE, "INPUT", "--dport"),
    (CALLEE, "OUTPUT", "--sport"),
    (CALLER, "INPUT", "--sport"),
)
"""In the order of RtpCounts: a rule that only counts, in each end's own network."""
_PACKETS = re.compile(r"^\s*(\d+)\s+\d+\s.*udp\s+(?:dpt|spt):6000\b", re.MULTILINE)
_ASK_S = 5.0


def begin(hosts: Hosts) -> None:
    """Counts from then on. CloudError."""
    for server, chain, side in _RULES:
        rule = [PROGRAM, "-w", "-A", chain, "-p", "udp", side, str(ECHO_PORT)]
        hosts.run(server, rule, _ASK_S)


def counted(hosts: Hosts) -> RtpCounts:
    """Since then. CloudError."""

    def packets(server: str, chain: str, _: str) -> int:
        said = hosts.run(server, [PROGRAM, "-w", "-nvxL", chain], _ASK_S)
        found = _PACKETS.search(said)
        if found is None:
            raise CloudError(f"{server} does not count RTP: {said.strip()[-120:]!r}")
        return int(found[1])

    sent, arrived, echoed, returned = starmap(packets, _RULES)
    return RtpCounts(sent=sent, arrived=arrived, echoed=echoed, returned=returned)


def since(now: RtpCounts, before: RtpCounts) -> RtpCounts:
    """What was counted meanwhile."""
    return RtpCounts(
        sent=now.sent - before.sent,
        arrived=now.arrived - before.arrived,
        echoed=now.echoed - before.echoed,
        returned=now.returned - before.returned,
    )
