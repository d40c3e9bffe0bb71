# SPDX-License-Identifier: Apache-2.0
"""What makes a server's Linux forward in a chain: a script that it is booted with (user data), for any `sh`
with ip(8), or with what busybox has of it."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from string import Template

from weir.lab.kernel import CommandForm
from weir.plan.attached import DESTINATION

FORWARDS, FAILED = "weir-chain: forwards", "weir-chain: failed"
"""On the server's console."""
_SCRIPT = Template("""#!/bin/sh
# What comes in for $destination goes out at the same port, to the next one of the chain.
fail() {
	echo "$failed: $$*"
	exit 1
}
port=
for link in /sys/class/net/*; do
	[ "$$(cat "$$link/address" 2>/dev/null)" = $mac ] && port=$${link##*/}
done
[ -n "$$port" ] || fail "there is no interface $mac"
set_to() {
	[ ! -e "/proc/sys/net/$$2" ] || echo "$$1" >"/proc/sys/net/$$2" || fail "net/$$2 cannot be $$1"
}
ip link set "$$port" up || fail "$$port does not come up"
set_to 1 ipv4/ip_forward
set_to 1 "ipv6/conf/$$port/disable_ipv6"
for each in all "$$port"; do
	set_to 0 "ipv4/conf/$$each/rp_filter"
	set_to 0 "ipv4/conf/$$each/send_redirects"
done
ip route replace $destination/32 dev "$$port" || fail "no route to $destination"
ip neigh replace $destination lladdr $next dev "$$port" nud permanent 2>/dev/null ||
	arp -i "$$port" -s $destination $next || fail "no neighbour $next: it takes ip(8), or arp(8)"
${commands}echo "$forwards as $name"
""")


def script(name: str, mac: str, next_mac: str, commands: Sequence[CommandForm]) -> str:
    """`mac`: of the port at the tester's network; `next_mac`: whom it sends on to. `commands`: of the user's,
    run last, without a shell's expansions; one that fails is said."""
    lines = [one if isinstance(one, str) else shlex.join(one) for one in commands]
    return _SCRIPT.substitute(
        name=name,
        mac=mac,
        next=next_mac,
        destination=DESTINATION,
        forwards=FORWARDS,
        failed=FAILED,
        commands="".join(f"{shlex.join(shlex.split(one))} || fail {shlex.quote(one)}\n" for one in lines),
    )


def said_of(console: str) -> str | None:
    """What went wrong, as the script said on its server's console; empty: nothing, and it forwards. None: it
    has not come to its end."""
    for line in console.splitlines():
        if FAILED in line:
            return line.partition(FAILED)[2].strip(": \r")
        if FORWARDS in line:
            return ""
    return None
