# SPDX-License-Identifier: Apache-2.0
"""`functions` of a lab: what stands between two ports, and how it is run."""

from __future__ import annotations

from typing import Annotated, get_args

from pydantic import AliasChoices, Field

from weir.base.cores import CpuList
from weir.base.node import Architecture, Forwarder, FunctionKind, OffloadKind
from weir.base.record import LabSection
from weir.lab.kernel import ContainerOptions, KernelOptions, ProgramOptions
from weir.lab.nf import Scalar, network_functions
from weir.lab.router import RouterOptions
from weir.lab.units import Seconds
from weir.lab.vm import VmOptions

FunctionName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]{0,15}$")]
ARCHITECTURES: tuple[Architecture, ...] = get_args(Architecture)
DEFAULT_WORKERS = 2
DEFAULT_STATE_CORES = 1
DEFAULT_FASTPATH_FLOWS = 65536
DEFAULT_OFFLOAD_FLOWS = 4096
DEFAULT_OFFLOAD_PACKETS = 64
_STATION_OPTIONS = frozenset({"addresses", "inbound_addresses"})
N4_ADDRESS = "n4_address"
"""The option of functions that are controlled by N4 (PFCP, 3GPP TS 29.244); without it nobody listens."""
_NF = "name of the network function; `weir-dp --describe` lists them"


class NfOptions(LabSection):
    """One network function of several that stand together."""

    nf: str = Field(description=_NF)
    options: dict[str, Scalar] = Field(default={}, description="its options")

    def is_station(self) -> bool:
        """Whether it has addresses of its own, and so answers by the side that asks."""
        return not _STATION_OPTIONS.isdisjoint(self.options)


class N4Options(LabSection):
    """Of a upf with the option `n4_address`: an SMF of yours controls its sessions."""

    netns: str | None = Field(
        default=None,
        pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}$",
        description="name of the network namespace (`ip netns`) that has the address; absent: that of weir, "
        "where 127.0.0.1 to 127.255.255.254 always do",
    )
    sessions: int = Field(
        default=0,
        ge=0,
        le=1 << 24,
        description="so many must stand by N4 before packets are sent; 0: nobody waits for any",
    )
    time_limit_s: Seconds = Field(default=60.0, gt=0, le=3600, description="longest time until they do")


class OffloadOptions(LabSection):
    """Entries of a fast path below the data plane: their packets do not come up at all."""

    kind: OffloadKind = Field(
        description="xdp: in an eBPF program at the interfaces of the function's ports, which are ends of "
        "veth pairs (linux-bridge, ovs); rte_flow: as rules in the network card of these ports (sr-iov), "
        "which no card has run yet"
    )
    flows: int = Field(
        default=DEFAULT_OFFLOAD_FLOWS, ge=1, le=1 << 20, description="most entries, at each of its ports"
    )
    packets: int = Field(
        default=DEFAULT_OFFLOAD_PACKETS,
        ge=1,
        le=(1 << 32) - 1,
        description="elephants first: a flow's entry goes down once so many of its packets came within a "
        "quarter of a second, and comes up after two seconds without any",
    )


class FunctionOptions(LabSection):
    """What chains can name: a network function, or several between two ports, and how they are run."""

    kind: FunctionKind = Field(
        default="process",
        description="process: in the one weir-dp that the tester runs in too; vm: in a virtual machine; "
        "kernel: Linux forwards, in a network namespace; with `nf` or `chain` as those functions do, where "
        "it has counterparts of them; program: one of yours, in a network namespace; container: "
        "likewise, in an OCI container",
    )
    vm: VmOptions | None = Field(default=None, description="the virtual machine; of kind vm")
    kernel: KernelOptions | None = Field(default=None, description="how Linux forwards; of kind kernel")
    program: ProgramOptions | None = Field(
        default=None,
        description="the program; of kind program, and of kind container where its image does not say it all",
    )
    container: ContainerOptions | None = Field(default=None, description="its container; of kind container")
    nf: str | None = Field(default=None, description=f"{_NF}; absent: see `chain`, `router`, `vm`, `kernel`")
    options: dict[str, Scalar] = Field(default={}, description="its options")
    chain: tuple[NfOptions, ...] = Field(
        default=(),
        max_length=16,
        description="instead of `nf`: network functions from the inside, left, to the outside",
    )
    router: RouterOptions | None = Field(
        default=None, description="instead of `nf`: joins tenants' networks and an external one"
    )
    n4: N4Options | None = Field(
        default=None,
        description="of a upf with the option `n4_address`: where an SMF of yours finds it, and how many of "
        "its sessions are waited for",
    )
    architecture: Architecture = Field(
        default="run-to-completion",
        description="all functions in one area; an area each, joined by rings; workers with private state, "
        "to which a dispatcher brings whole flows; or state cores that decide, and workers that rewrite",
    )
    workers: int | None = Field(
        default=None, ge=1, le=8, description=f"of dispatch and separated; absent: {DEFAULT_WORKERS}"
    )
    state_cores: int | None = Field(
        default=None,
        ge=1,
        le=4,
        validation_alias=AliasChoices("state_cores", "owners"),  # what it was called before
        description=f"of separated; absent: {DEFAULT_STATE_CORES}",
    )
    fastpath: bool = Field(
        default=False, description="what all functions decided on a flow's first packet holds for the flow"
    )
    fastpath_flows: int | None = Field(
        default=None,
        ge=1,
        le=1 << 24,
        description=f"room of each fast path; absent: {DEFAULT_FASTPATH_FLOWS}",
    )
    offload: OffloadOptions | None = Field(
        default=None, description="where entries of the fast path may live below weir-dp; absent: nowhere"
    )
    cores: CpuList | None = Field(
        default=None,
        description="its own, instead of a part of the lab's: of pipeline one a function, in their order; of "
        "dispatch and separated first that of dispatcher and collector, then one for each state core and "
        "worker; fewer are shared, and one may be named again",
    )

    def machine(self) -> VmOptions | None:
        """The virtual machine that it runs in; None: none."""
        return (self.vm or VmOptions()) if self.kind == "vm" else None

    def namespaced(self) -> KernelOptions | None:
        """How Linux forwards in a namespace of its own; None: something else does."""
        return (self.kernel or KernelOptions()) if self.kind == "kernel" else None

    def programmed(self) -> ProgramOptions | None:
        """The program that does it, in a container or not; None: something else does."""
        if self.kind == "container":
            return self.program or ProgramOptions()
        return self.program if self.kind == "program" else None

    def in_namespace(self) -> bool:
        """Whether it stands between two interfaces of a network namespace of its own."""
        return self.kind in ("kernel", "program", "container")

    def forwards_by(self) -> Forwarder | None:
        """What runs it; None: an image or a program of the user's."""
        if self.kind in ("program", "container"):
            return None
        if self.kind == "kernel":
            return "kernel"
        machine = self.machine()
        return "weir-dp" if machine is None else machine.forwards_by()

    def area_count(self) -> int:
        """How many areas it is run in."""
        workers, state_cores = self.workers or DEFAULT_WORKERS, self.state_cores or DEFAULT_STATE_CORES
        return {
            "run-to-completion": 1,
            "pipeline": len(self.nfs()),
            "dispatch": workers + 3,
            "separated": state_cores + workers + 2,
        }[self.architecture]

    def cores_max(self) -> int:
        """To how many cores its areas can be laid: the collectors stay with the dispatcher. Of a virtual
        machine: its CPUs. The kernel takes as many as there are."""
        if self.in_namespace():
            return len(self.cores or ())
        machine = self.machine()
        if machine is not None:
            return machine.vcpus
        workers, state_cores = self.workers or DEFAULT_WORKERS, self.state_cores or DEFAULT_STATE_CORES
        return {
            "run-to-completion": 1,
            "pipeline": len(self.nfs()),
            "dispatch": 1 + workers,
            "separated": 1 + state_cores + workers,
        }[self.architecture]

    def nfs(self) -> tuple[NfOptions, ...]:
        """The network functions of weir-dp, inside first."""
        if self.router is not None:
            return tuple(NfOptions(nf=nf, options=options) for nf, options in self.router.stages())
        return () if self.in_namespace() else self._named()

    def written(self, index: int, name: str) -> str:
        """Where a lab says the network function of that index, in the function of that name."""
        if self.router is not None:
            return f"functions.{name}.router"
        return f"functions.{name}" if self.nf is not None else f"functions.{name}.chain[{index}]"

    def linux_as(self) -> tuple[NfOptions, ...]:
        """Those that Linux does in their place, likewise."""
        return self._named() if self.kind == "kernel" else ()

    def stands_for(self) -> tuple[NfOptions, ...]:
        """Those that a program of the user's is a counterpart of."""
        return self._named() if self.kind == "program" else ()

    def _named(self) -> tuple[NfOptions, ...]:
        return self.chain if self.nf is None else (NfOptions(nf=self.nf, options=self.options),)

    def offloaded(self) -> OffloadOptions | None:
        """Where entries of its fast path may live; None: they stay in it."""
        return None if self.offload is None or self.offload.kind == "none" else self.offload

    def n4_options(self) -> N4Options:
        """How N4 is used; those of nobody where nothing is said."""
        return self.n4 or N4Options()

    def by_n4(self) -> dict[int, str]:
        """At which address those of `nfs` listen that are controlled by N4, by their index."""
        known = network_functions()
        return {
            index: str(one.options[N4_ADDRESS])
            for index, one in enumerate(self.nfs())
            if N4_ADDRESS in one.options and one.nf in known and known[one.nf].option(N4_ADDRESS) is not None
        }

    def both_ways(self) -> bool:
        """Whether packets may leave by either port, wherever they came from."""
        return self.router is not None or any(one.is_station() for one in self.nfs())

    def inbound(self) -> tuple[int, ...]:
        """Which of `nfs` packets on their way back pass, in their order."""
        return self.router.inbound() if self.router is not None else tuple(reversed(range(len(self.nfs()))))
