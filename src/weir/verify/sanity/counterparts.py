# SPDX-License-Identifier: Apache-2.0
"""Scenarios that can be done by stacks alone, on any driver: what they make is a project's whole network, as
the cloud builds it, and servers in it. Others need an API."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from weir.verify.case import NotSoError, Running, active
from weir.verify.driver import CloudError, Done, Iteration, ScenarioWanted, ServerWanted, Stack, StackWanted

_SERVER = (ServerWanted("server"),)
_TWO_SERVERS = (ServerWanted("first"), ServerWanted("second"))
_ADDRESS = re.compile(r"inet (\S+)/\d+")
REMOVE = "take it down"
_SSH_S = 30.0


@dataclass(frozen=True)
class Counterpart:
    """How a scenario is done by a stack."""

    wanted: StackWanted
    make: str
    """What the stack is, in words."""
    look: str
    see: Callable[[Running, Stack], str]
    """At what stands; in words, or NotSoError."""
    removed: bool = False
    """Whether taking it down is a part of the scenario."""


def _kinds(*kinds: str) -> Callable[[Running, Stack], str]:
    def see(_run: Running, stack: Stack) -> str:
        return ", ".join(f"{one.kind} {one.name}" for one in active(stack, set(kinds)))

    return see


def _interfaces(_run: Running, stack: Stack) -> str:
    """As the server itself lists them."""
    active(stack, {"server"})
    address = stack.address("server")
    said = stack.run("server", "ip addr", _SSH_S)
    listed = _ADDRESS.findall(said)
    if address not in listed:
        raise NotSoError(f"the server's interfaces have {', '.join(listed) or 'no address'}, not {address}")
    return address


def _reached(_run: Running, stack: Stack) -> str:
    """From outside, at its floating address."""
    said = stack.run("server", "cat /proc/uptime", _SSH_S).split()
    if len(said) != 2:
        raise NotSoError(f"the server says {' '.join(said)[:80]!r}, not how long it runs")
    return f"up for {said[0]} s"


def _network(name: str, *kinds: str, project: bool = False) -> dict[str, Counterpart]:
    """Made and listed; and made and deleted, where there is such a scenario."""
    return {
        f"NeutronNetworks.create_and_{verb}_{name}": Counterpart(
            StackWanted(new_project=project),
            "make a network, a subnet and a router",
            f"list {name}",
            _kinds(*kinds),
            removed=verb == "delete",
        )
        for verb in ("delete", "list")
    }


COUNTERPARTS: Mapping[str, Counterpart] = {
    **_network("networks", "network"),
    **_network("subnets", "subnet"),
    **_network("routers", "router"),
    "GlanceImages.create_and_list_image": Counterpart(
        StackWanted(servers=_SERVER), "make an image and a server of it", "list images", _kinds("image")
    ),
    "GlanceImages.create_image_and_boot_instances": Counterpart(
        StackWanted(servers=_TWO_SERVERS), "make an image, and boot two servers", "list servers",
        _kinds("image", "server"),
    ),
    "KeystoneBasic.create_and_list_tenants": Counterpart(
        StackWanted(new_project=True), "make a project beside another one", "list its network",
        _kinds("network"),
    ),
    "NovaServers.boot_server_and_list_interfaces": Counterpart(
        StackWanted(servers=_SERVER), "boot a server", "list its interfaces, by SSH", _interfaces
    ),
    "NovaServers.boot_server_associate_and_dissociate_floating_ip": Counterpart(
        StackWanted(servers=_SERVER), "boot a server with a floating address", "reach it there", _reached,
        removed=True,
    ),
}  # fmt: skip


def iterations(run: Running, counterpart: Counterpart, wanted: ScenarioWanted) -> list[Iteration]:
    """One after the other. What went wrong is the iteration's cause, as with a driver's own."""
    return [_iteration(run, counterpart) for _ in range(wanted.iterations)]


def _iteration(run: Running, counterpart: Counterpart) -> Iteration:
    first, before, clean_up_s, cause = len(run.operations), len(run.left), run.clean_up_s, None
    run.left_s()
    try:
        with run.stack(counterpart.make, counterpart.wanted) as stack, run.doing(counterpart.look) as done:
            done.found = counterpart.see(run, stack)
    except CloudError as error:
        cause = str(error)
    left = "; ".join(run.left[before:]) or None  # what one before it left is no fault of this one
    took = [Done(one.name, one.seconds) for one in run.operations[first:]]
    if cause is not None and took:
        took[-1] = Done(took[-1].name, took[-1].seconds, failed=True)
    if cause is None and counterpart.removed:
        took.append(Done(REMOVE, run.clean_up_s - clean_up_s, failed=left is not None))
    return Iteration(sum(one.seconds for one in took), cause or left, tuple(took))
