# SPDX-License-Identifier: Apache-2.0
"""Steps for SR-IOV: a virtual function for each port; each link is a VLAN of the card's own switch.

Where the tester has network ports of its own, cabled to the parent device, the outermost links are untagged.
"""

from __future__ import annotations

from weir.plan.step import Step
from weir.spec.lab import Lab
from weir.spec.topology import Port, Topology


def sriov(topology: Topology, lab: Lab) -> list[Step]:
    """Binds one virtual function for each port that has no device yet."""
    outside = {port.link for port in topology.ports if port.interface is not None}
    wanted = [port for port in topology.ports if port.interface is None]
    return [
        _function(lab, vf, len(wanted), port, cabled=port.link in outside) for vf, port in enumerate(wanted)
    ]


def _function(lab: Lab, vf: int, functions: int, port: Port, *, cabled: bool) -> Step:
    options = lab.technologies.sr_iov
    vlan = 0 if cabled else options.first_vlan + port.link
    parent = options.parent or ""
    return Step(
        kind="sriov-vf",
        name=f"sriov-vf:{port.name}",
        params={
            "parent": parent,
            "vf": vf,
            "functions": functions,
            "mac": port.mac,
            "vlan": vlan,
            "driver": options.driver,
            "port": port.name,
        },
        text=(
            f"bind virtual function {vf} of {parent or 'a network card that has enough'} to {options.driver} "
            f"for {port.name}" + (f", VLAN {vlan}" if vlan else "")
        ),
        undo_text=f"give virtual function {vf} back to its driver",
    )
