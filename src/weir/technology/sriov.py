# SPDX-License-Identifier: Apache-2.0
"""`sr-iov` (never run on hardware): a virtual function for each port; each link is a VLAN of the card's own
switch.

Where the tester has network ports of its own, cabled to the parent device, the outermost links are untagged.
"""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from weir.base.error import USAGE, WeirError
from weir.base.node import Port
from weir.base.step import Step
from weir.base.topology import Topology
from weir.technology.descriptor import Need, Technology, TechnologyOptions


class SrIovOptions(TechnologyOptions):
    """Virtual functions of a network card (never run on hardware); its own embedded switch joins the
    chain, one VLAN a network."""

    parent: str | None = Field(
        default=None,
        pattern=r"^[A-Za-z0-9_.-]{1,15}$",
        examples=["enp1s0f0"],
        description="network device whose virtual functions are used; absent: the first that has enough",
    )
    functions: tuple[Annotated[int, Field(ge=0, le=255)], ...] | None = Field(
        default=None,
        description="numbers of virtual functions of `parent` that are there already and may be used; "
        "absent: only such as Weir makes, on a card that has none",
    )
    driver: Literal["vfio-pci", "igb_uio", "uio_pci_generic"] = Field(
        default="vfio-pci", description="driver that hands virtual functions to weir-dp"
    )
    first_vlan: int = Field(default=100, ge=1, le=4000, description="VLAN of the chain's first network")

    @model_validator(mode="after")
    def _of_one_card(self) -> Self:
        if self.functions is not None and self.parent is None:
            raise ValueError("`functions` are numbers on one card: name it, as `parent`")
        if self.functions is not None and len(set(self.functions)) < len(self.functions):
            raise ValueError("`functions` names one twice")
        return self


class TooFewFunctionsError(WeirError):
    """The lab names fewer virtual functions than the chain has ports."""

    exit_code = USAGE


def _steps(topology: Topology, options: SrIovOptions) -> list[Step]:
    """Binds one virtual function for each port that has no device yet."""
    outside = {port.link for port in topology.ports if port.interface is not None}
    wanted = [port for port in topology.ports if port.interface is None]
    if options.functions is not None and len(options.functions) < len(wanted):
        raise TooFewFunctionsError(
            f"technologies.sr-iov.functions names {len(options.functions)} virtual functions of "
            f"{options.parent}, and {topology.chain} needs {len(wanted)}: name more, or use a shorter chain"
        )
    numbers = range(len(wanted)) if options.functions is None else options.functions
    return [
        _function(options, vf, len(wanted), port, cabled=port.link in outside)
        for vf, port in zip(numbers, wanted, strict=False)
    ]


def _function(options: SrIovOptions, vf: int, functions: int, port: Port, *, cabled: bool) -> Step:
    vlan = 0 if cabled else options.first_vlan + port.link
    parent = options.parent or ""
    return Step(
        kind="sriov-vf",
        name=f"sriov-vf:{port.name}",
        params={
            "parent": parent,
            "vf": vf,
            "functions": functions,
            "named": options.functions is not None,
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


TECHNOLOGY = Technology(
    name="sr-iov",
    options=SrIovOptions,
    ends=lambda _options: ("physical", "physical"),
    switch="none",
    steps=_steps,
    needs=lambda _options: (Need("virtual-functions"),),
    physical=True,
    no_jumbo=lambda _options: "the MTU of the network card is not Weir's to set",
)
