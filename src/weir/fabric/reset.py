# SPDX-License-Identifier: Apache-2.0
"""What of a chain that stands can be reset while traffic runs, and how (RFC 6201, 4.2).

What is made anew belongs to the step that made it first, carries its marker, and is taken down from the
same journal.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from weir.base.node import PortKind
from weir.base.step import StepKind
from weir.fabric.deployment import Deployment
from weir.fabric.host import isolated
from weir.fabric.journal import Entry
from weir.fabric.links import index
from weir.fabric.openvswitch import control_socket
from weir.fabric.site import Facts, Site
from weir.fabric.step_handlers import step_handler
from weir.fabric.vm.command_line import Files
from weir.fabric.vm.monitor import end_on_reboot, reset


@dataclass(frozen=True)
class Reset:
    """Something that can be reset."""

    what: str  # and how: "ovs-vswitchd killed and started again"
    clause: str  # the kind of reset: "RFC 6201, 4.2.2"
    do: Callable[[], None]


def resets(deployment: Deployment) -> list[Reset]:
    """Of a chain: what can be reset while traffic runs, all of one kind at once; empty where nothing can."""
    assert deployment.topology is not None
    kinds = [step.kind for step in deployment.steps()]
    ports = {port.kind for port in deployment.topology.ports}
    return [
        Reset(way.said(kinds.count(kind)), way.clause, partial(deployment.remake, kind, way.first, way.do))
        for kind, way in _WAYS.items()
        if kind in kinds and way.not_with not in ports
    ]


@dataclass(frozen=True)
class _Way:
    """How the things that steps of one kind made are reset."""

    text: str
    clause: str
    do: Callable[[Entry, Site], Facts]  # what the step's undo has to know from then on
    first: Callable[[Entry, Site], None] = lambda _entry, _site: None  # with all of them before any `do`
    not_with: PortKind | None = None  # ports of virtual machines that do not come back

    def said(self, count: int) -> str:
        """The text, with how many there are."""
        return self.text.format(count=count, s="s" if count > 1 else "")


def _bridge(entry: Entry, site: Site) -> Facts:
    """With the same ports, and nothing learnt."""
    netns, name = str(entry.step.params["netns"]), str(entry.step.params["bridge"])
    route = site.route(netns)
    ports = [int(link["index"]) for link in route.get_links(master=index(site, netns, name))]
    handler = step_handler("bridge")
    handler.undo(entry.step.params, entry.facts, site)
    facts = handler.do(entry.step, site)
    for port in ports:
        route.link("set", index=port, master=index(site, netns, name))
    return facts


def _switch(entry: Entry, site: Site) -> Facts:
    """The database stands: bridges and ports come back from it. Polling threads are placed as they were."""
    site.kill(int(entry.facts["pid"]))
    control_socket(site, str(entry.step.params["directory"])).unlink(missing_ok=True)
    facts = step_handler("ovs-vswitchd").do(entry.step, site)
    for realtime in site.noted("realtime") if "polling_switch" in facts else ():
        isolated.place_switch(int(facts["pid"]), bool(realtime))
    return facts


def _pressed(entry: Entry, site: Site) -> None:
    reset(_monitor(entry, site))


def _booted(entry: Entry, site: Site) -> Facts:
    """Until it forwards, told what to do as the first time. One of the user's image is not waited for: what
    its console says, it has said before."""
    facts = step_handler("vm-ready").do(entry.step, site)
    if entry.step.params["forwarder"]:
        end_on_reboot(_monitor(entry, site))
    return facts


def _monitor(entry: Entry, site: Site) -> Path:
    return Files(site.directory, str(entry.step.params["node"])).monitor


_WAYS: Mapping[StepKind, _Way] = {
    "bridge": _Way("{count} bridge{s} of the kernel deleted and made again", "RFC 6201, 4.2.2", _bridge),
    "ovs-vswitchd": _Way("ovs-vswitchd killed and started again", "RFC 6201, 4.2.2", _switch),
    # Emulated guests with vhost-user ports do not come back in time.
    "vm-ready": _Way(
        "{count} guest{s} reset by QEMU and booted again",
        "RFC 6201, 4.2.1",
        _booted,
        _pressed,
        not_with="vm-vhost-user",
    ),
}
