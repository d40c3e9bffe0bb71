# SPDX-License-Identifier: Apache-2.0
"""Whether a cloud works at all: the nine cases of Functest's tier of that name (Chung and Wang, Table A1)."""

from __future__ import annotations

import re
import secrets
from functools import partial

from weir.verify.case import Case, NotSoError, Running, Suite, active
from weir.verify.driver import ServerWanted, StackWanted

NETWORK = {"network", "subnet", "router"}
READY = NETWORK | {"image", "flavor"}
SERVER = READY | {"server"}
PINGS = 3
SAID = "vPing OK"
"""On the console of the second server, as in Functest."""
_ANSWERED = re.compile(r"(\d+) packets transmitted, (\d+) (?:packets )?received")


def connection_check(run: Running) -> None:
    """Every service answers."""
    if not run.services("ask every service"):
        raise NotSoError("no service answered, as there is none")


def tenant_network(run: Running, *, new_project: bool) -> None:
    """What a project needs to have servers at all."""
    _standing(run, NETWORK, StackWanted(new_project=new_project))


def vm_ready(run: Running, *, new_project: bool) -> None:
    """And what a server is made of."""
    _standing(run, READY, StackWanted(new_project=new_project))


def _standing(run: Running, kinds: set[str], wanted: StackWanted) -> None:
    with run.stack(f"make {', '.join(sorted(kinds))}", wanted) as stack, run.doing("look at them") as done:
        done.found = ", ".join(f"{one.kind} {one.state}" for one in active(stack, kinds))


def single_vm(run: Running, *, new_project: bool) -> None:
    """A server boots and can be logged in to."""
    wanted = StackWanted(servers=(ServerWanted("vm"),), new_project=new_project)
    with run.stack("boot a server", wanted) as stack:
        active(stack, SERVER)
        token = secrets.token_hex(8)
        with run.doing("log in by SSH from outside") as done:
            said = stack.run("vm", f"echo {token}; uname -sr; cut -d' ' -f1 /proc/uptime", run.left_s())
            done.found = " ".join(said.split()[1:])
        if not said.startswith(token):
            raise NotSoError(f"the server says {said.strip()[:80]!r}, and was asked for {token}")


def vping_ssh(run: Running) -> None:
    """Two servers of a network reach each other, seen from inside."""
    wanted = StackWanted(servers=(ServerWanted("first"), ServerWanted("second")))
    with run.stack("boot two servers", wanted) as stack:
        to = stack.address("second")
        with run.doing("ping one from the other, by SSH") as done:
            said = stack.run("first", f"ping -c {PINGS} -W 2 {to}", run.left_s())
            sent, received = _pings(said)
            done.found = f"{received} of {sent} answered"
        if received != PINGS:
            raise NotSoError(f"{received} of {PINGS} pings from the first server to the second were answered")


def _pings(said: str) -> tuple[int, int]:
    found = _ANSWERED.search(said)
    if found is None:
        raise NotSoError(f"ping says {said.strip()[-120:]!r}")
    return int(found[1]), int(found[2])


def vping_userdata(run: Running) -> None:
    """A server runs the script that it was booted with, and that reaches the other one."""
    script = f"until ping -c 1 -W 1 {{first}}; do sleep 1; done\necho {SAID}"
    wanted = StackWanted(servers=(ServerWanted("first"), ServerWanted("second", script)))
    with (
        run.stack("boot two servers, one with a script", wanted) as stack,
        run.doing("wait for what the script says on its console"),
    ):
        while SAID not in (said := stack.console("second")):
            run.pause()
            if run.over():
                last = said.strip().splitlines()[-3:]
                raise NotSoError(f"the second server has not said {SAID!r}; last: {' | '.join(last)}")


_NEW = "in a project of its own, beside one with the same addresses"
SUITE = Suite(
    "healthcheck",
    "Does the cloud work at all?",
    (
        Case("connection_check", "every service of the cloud answers", connection_check),
        Case(
            "tenantnetwork1",
            "a project gets a network, a subnet and a router to the outside",
            partial(tenant_network, new_project=False),
        ),
        Case("tenantnetwork2", f"the same {_NEW}", partial(tenant_network, new_project=True)),
        Case(
            "vmready1",
            "an image and a flavor for servers are there too",
            partial(vm_ready, new_project=False),
        ),
        Case("vmready2", f"the same {_NEW}", partial(vm_ready, new_project=True)),
        Case(
            "singlevm1",
            "a server boots, and runs a command by SSH at its floating address",
            partial(single_vm, new_project=False),
        ),
        Case("singlevm2", f"the same {_NEW}", partial(single_vm, new_project=True)),
        Case("vping_ssh", "a server reaches another one of its network, asked by SSH", vping_ssh),
        Case(
            "vping_userdata",
            "a server runs the script that it is booted with, and reaches another one",
            vping_userdata,
        ),
    ),
)
