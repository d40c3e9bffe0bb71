# SPDX-License-Identifier: Apache-2.0
"""Builds a chain of servers that forward: each has a port at the network that the tester is at, and another
by which it is reached by SSH, as the servers of other cases are."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from weir.lab.sut import CloudChains, NewFlavor
from weir.lab.tenants_measure import DISCARD_PORT
from weir.plan.attached import SOURCES
from weir.verify.driver import CannotRunError, ChainWanted, CloudError

from .building import Building, address, given
from .chain_script import script
from .connection import AnsweredError
from .kinds import FORBIDDEN, looked_at
from .stack import Server, Standing

SPECS: Mapping[str, Mapping[str, str]] = {
    "pinned": {"hw:cpu_policy": "dedicated"},
    "hugepages": {"hw:mem_page_size": "large"},
}
"""What a flavor has for an acceleration, in the words of Nova's extra specs."""
_PAGES_OF_ANY_SIZE = ("small", "any")
_INGRESS = (
    {
        "protocol": "udp",
        "port_range_min": DISCARD_PORT,
        "port_range_max": DISCARD_PORT,
        "remote_ip_prefix": SOURCES,
    },
)
_NO_HOST = re.compile(r"No valid host|NUMA topology|[Bb]inding failed|PortBindingFailed|PCI", re.DOTALL)
"""Of a server's fault: no host of the cloud has what its flavor, or its port, asks for."""
_UNKNOWN = re.compile(r"Unrecogni[sz]ed attribute")
_VHOST_USER = "vhostuser"
"""How a port is bound to a switch on DPDK."""


@dataclass(frozen=True)
class StandingChain:
    """Servers in a row; `standing` has them in that order."""

    standing: Standing
    macs: Mapping[str, str]
    """Of their ports at the tester's network."""
    bound: tuple[str, ...]
    """How these are bound at their nodes ("ovs", "bridge"), each kind once; none: the user is not told."""


class ChainBuilding(Building):
    """One chain, on the way."""

    def chain(
        self, wanted: ChainWanted, chains: CloudChains, tester_mac: str, public_key: Path
    ) -> StandingChain:
        """CloudError, with what could not be made and why; CannotRunError where that is rights, or a
        technique that the cloud does not have."""
        external = self._external()
        network = self._own_network(chains.network) if chains.network is not None else external
        standing = Standing(self._cloud, external)
        image = self._image() if chains.image is None else self._forwarding(chains.image)
        standing.ids |= {"image": image, "flavor": self._flavor_of(wanted)}
        standing.ids |= self._network("own", external)
        key, group = self._access(public_key)
        filtered = None if wanted.uses("unfiltered") else self._group("chain-group", _INGRESS)
        names = [f"vnf{number}" for number in range(1, wanted.instances + 1)]
        access = {name: self._port(name, standing, group) for name in names}
        ports = {name: self._chain_port(name, network, filtered, wanted) for name in names}
        macs = {
            name: given(port.mac_address, f"the port of {name} no MAC address")
            for name, port in ports.items()
        }
        for name, next_mac in zip(names, [*list(macs.values())[1:], tester_mac], strict=True):
            floating = self._floating(name, standing, access[name])
            both, commands = [access[name], ports[name]], wanted.performance.instance_commands
            if chains.image is None:
                made = self._boot(name, standing, both, key, script(name, macs[name], next_mac, commands))
            else:
                told = {"weir_port_mac": macs[name], "weir_next_mac": next_mac}
                made = self._boot(name, standing, both, key, metadata=told)
            standing.servers[name] = Server(made, address(name, access[name]), floating)
        self._await_all(standing, wanted)
        bound = self._bound([str(port.id) for port in ports.values()])
        if wanted.uses("ovs-dpdk") and _VHOST_USER not in bound:
            how = f"its ports are bound as {', '.join(bound)}" if bound else "that is told to administrators"
            raise CannotRunError(f"ports of this cloud are not known to be at a switch on DPDK: {how}")
        return StandingChain(standing, macs, bound)

    def _own_network(self, name: str) -> str:
        with self._own.asking(f"look for network {name}", self._deadline):
            found = self._own.sdk.network.find_network(name, ignore_missing=True)
        if found is None:
            raise CloudError(f"there is no network {name}", "see `openstack.chains.network` of the file")
        return str(found.id)

    def _forwarding(self, image: str) -> str:
        return self._existing("chains.image", image, "image")

    def _flavor_of(self, wanted: ChainWanted) -> str:
        """The file's, where it has what the technique and the number of vCPUs ask for; else one that is as
        large, with that."""
        needed = {
            key: value for name, specs in SPECS.items() if wanted.uses(name) for key, value in specs.items()
        }
        base, id_ = self._base_flavor()
        vcpus = wanted.vcpus or base.vcpus
        if (
            id_ is not None
            and vcpus == base.vcpus
            and all(_has(base.extra_specs.get(key), value) for key, value in needed.items())
        ):
            return id_
        kept = {key: value for key, value in needed.items() if not _has(base.extra_specs.get(key), value)}
        return self._new_flavor(
            base.model_copy(update={"vcpus": vcpus, "extra_specs": {**base.extra_specs, **kept}})
        )

    def _base_flavor(self) -> tuple[NewFlavor, str | None]:
        """What the file names, and its identifier where it is there."""
        if self._options.new_flavor is not None:
            return self._options.new_flavor, None
        id_ = self._flavor()
        with self._cloud.asking(f"look at flavor {self._options.flavor}", self._deadline):
            compute = self._cloud.sdk.compute
            there = compute.fetch_flavor_extra_specs(compute.get_flavor(id_))
            found = NewFlavor.model_construct(
                vcpus=int(there.vcpus), ram_mib=int(there.ram), disk_gib=int(there.disk),
                extra_specs={str(key): str(value) for key, value in (there.extra_specs or {}).items()},
            )  # fmt: skip
        return found, id_

    def _chain_port(self, name: str, network: str, filtered: str | None, wanted: ChainWanted) -> Any:
        """It may send in the names of the tester's packets, and gets these."""
        vnic = "direct" if wanted.uses("sr-iov") else self._options.vnic_type
        how: dict[str, Any] = (
            {"is_port_security_enabled": False}
            if filtered is None
            else {"security_group_ids": [filtered], "allowed_address_pairs": [{"ip_address": SOURCES}]}
        )
        try:
            return self._make("port", f"{name}-chain-port", network_id=network, binding_vnic_type=vnic, **how)
        except AnsweredError as error:
            if error.status == FORBIDDEN:
                raise CannotRunError(
                    "a port that may send in others' names takes the owner of the tester's network, or an "
                    f"administrator, and the user of {self._own.name} is neither: {error}"
                ) from error
            if filtered is None and _UNKNOWN.search(str(error)):
                raise CannotRunError(f"this cloud makes no ports without filters: {error}") from error
            raise

    def _await_all(self, standing: Standing, wanted: ChainWanted) -> None:
        special = [name for name in (*SPECS, "sr-iov") if wanted.uses(name)]
        try:
            for name, server in standing.servers.items():
                self._await(name, server.id)
        except CloudError as error:
            if special and _NO_HOST.search(str(error)):
                raise CannotRunError(f"no host of this cloud has {' and '.join(special)}: {error}") from error
            raise

    def _bound(self, ports: list[str]) -> tuple[str, ...]:
        seen = (looked_at(self._cloud, "port", one, self._deadline) for one in ports)
        found = [str(one.binding_vif_type) for one in seen if one is not None and one.binding_vif_type]
        return tuple(dict.fromkeys(found))


def _has(there: str | None, wanted: str) -> bool:
    """Large pages are those of any size that is named, too."""
    if wanted == SPECS["hugepages"]["hw:mem_page_size"]:
        return there is not None and there not in _PAGES_OF_ANY_SIZE
    return there == wanted
