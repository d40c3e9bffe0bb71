# SPDX-License-Identifier: Apache-2.0
"""The ordered steps that build a topology. Undone in reverse order. Pure."""

from __future__ import annotations

from weir.base.step import Step
from weir.base.topology import Topology
from weir.lab.lab import Lab
from weir.plan.memory import memory_mb
from weir.plan.tuning import deployment_steps, hugepages
from weir.plan.vm_steps import vm_steps
from weir.technology import TECHNOLOGIES
from weir.technology.kernel_links import kernel_wire

_REALTIME = {True: "realtime", False: "", "auto": "realtime where it can be"}
SOCKET = "weir-dp.sock"
LOG = "weir-dp.log"


def steps(topology: Topology, lab: Lab) -> list[Step]:
    """What to do, in order, until weir-dp runs and can be configured."""
    switched = any(link.network for link in topology.links)
    if switched:
        middle = TECHNOLOGIES[topology.technology].steps(topology, lab.options(topology.technology))
    elif topology.ports[0].netns is not None:
        middle = kernel_wire(topology)
    else:
        middle = []
    return [
        _run_directory(topology),
        *hugepages(topology, lab),
        *deployment_steps(topology, lab),
        *middle,
        *vm_steps(topology, lab),
        _weir_dp(topology, lab),
    ]


def _run_directory(topology: Topology) -> Step:
    return Step(
        kind="run-directory",
        name="run-directory",
        params={"deployment": topology.deployment, "lab": topology.lab},
        text=f"make the run directory of {topology.deployment}",
        undo_text="remove the run directory",
    )


def _weir_dp(topology: Topology, lab: Lab) -> Step:
    cores = sorted({core for node in topology.nodes if node.machine is None for core in node.cores})
    listed = ", ".join(map(str, cores))
    return Step(
        kind="weir-dp",
        name="weir-dp",
        params={
            "cores": cores,
            "memory_mb": memory_mb(topology, lab),
            "pci": [port.interface for port in topology.ports if port.kind == "physical" and port.interface],
            "socket": SOCKET,
            "log": LOG,
            "huge": lab.host.hugepages != "none",
            "pinned": lab.host.pinning,
            "rt": lab.host.rt is not False,
        },
        text=f"start weir-dp, polling on core{'s' if len(cores) > 1 else ''} {listed}" + _how(lab),
        undo_text="end weir-dp",
    )


def _how(lab: Lab) -> str:
    said = ["" if lab.host.pinning else "unpinned", _REALTIME[lab.host.rt]]
    said.append("in 4 KiB pages" if lab.host.hugepages == "none" else "")
    listed = ", ".join(word for word in said if word)
    return f" ({listed})" if listed else ""
