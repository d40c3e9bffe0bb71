# SPDX-License-Identifier: Apache-2.0
"""`weir graph LAB`: what was built is found as it was built; what is changed by hand is named."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from weir import fabric, plan
from weir.fabric.host_graph import read
from weir.fabric.host_graph.differences import differences
from weir.fabric.host_graph.intended import of_steps
from weir.lab import load_lab
from weir.plan import end_hosts
from weir.plan.cloud.names import InstancePort

from .clouds import NEEDS_CLOUDS, standing

pytestmark = NEEDS_CLOUDS
Said = tuple[str, str, str]


def found(deployment: fabric.Deployment) -> list[Said]:
    """Kind, interface and what is said of it."""
    intended = of_steps(deployment.steps())
    return [
        (one.kind, one.what, one.said) for one in differences(intended, read(0, None), deployment.run_dir)
    ]


def ip(namespace: str, words: str) -> None:
    subprocess.run(["ip", "-n", namespace, *words.split()], check=True, capture_output=True)


@contextmanager
def chain(
    folder: Path, technology: str, functions: str, *, hosts: bool = False
) -> Iterator[fabric.Deployment]:
    """Its network alone. `hosts`: with hosts at its ends."""
    (folder / "lab.yml").write_text(
        f"weir: 1\nname: drawn\nchain: [[f]]\ntechnology: {technology}\nfunctions: {{f: {functions}}}\n"
    )
    lab = load_lab(folder, cpus=sorted(os.sched_getaffinity(0)))
    topology = plan.build_topology(lab, technology, lab.chains()[0], plan.deployment_id(lab.name, "d1a90000"))
    if hosts:
        topology = end_hosts.with_hosts(topology, lab)
    whole = end_hosts.planned(topology, lab).steps if hosts else plan.steps(topology, lab)
    steps = [one for one in whole if one.kind not in ("weir-dp", "hugepages")]
    missing = next((why for why in map(fabric.lacking, steps) if why is not None), None)
    if missing is not None:
        pytest.skip(missing)
    deployment = fabric.Deployment.deploy(steps, topology, shares_cores=True)  # nothing polls
    try:
        yield deployment
    finally:
        deployment.destroy()


@pytest.mark.parametrize(
    ("technology", "functions"),
    [
        ("linux-bridge", "{nf: l2fwd}"),
        ("ovs", "{nf: l2fwd}"),
        ("linux-bridge", "{kind: kernel, nf: nat, options: {external: 203.0.113.0/28}}"),
    ],
)
def test_a_chain_is_as_it_was_built(tmp_path: Path, technology: str, functions: str) -> None:
    with chain(tmp_path, technology, functions) as deployment:
        assert found(deployment) == []


@pytest.mark.parametrize("functions", ["{nf: l2fwd}", "{nf: acl}"])
def test_a_chain_with_hosts_at_its_ends_is_as_it_was_built(tmp_path: Path, functions: str) -> None:
    with chain(tmp_path, "linux-bridge", functions, hosts=True) as deployment:
        assert found(deployment) == []


CHANGES: Sequence[tuple[str, str, Said]] = [
    ("sw", "link set f1.left mtu 1400", ("changed", "f1.left", "has an MTU of 1400, was made with 1518")),
    ("sw", "link set f1.left down", ("changed", "f1.left", "is down, was made up")),
    ("sw", "link set f1.left nomaster", ("changed", "f1.left", "is in no bridge, was put into net0")),
    ("sw", "link set f1.left master net1", ("changed", "f1.left", "is in net1, was put into net0")),
    ("sw", "link delete net1", ("missing", "net1", "bridge is not there")),
    ("sw", "link add spy type bridge", ("added", "spy", "bridge was not made by the deployment")),
    ("f1", "link delete left", ("missing", "left", "veth is not there")),
]


@pytest.mark.parametrize(("where", "words", "said"), CHANGES, ids=[words for _, words, _ in CHANGES])
def test_what_is_changed_by_hand_is_named(tmp_path: Path, where: str, words: str, said: Said) -> None:
    with chain(tmp_path, "linux-bridge", "{nf: l2fwd}") as deployment:
        ip(f"weir-d1a90000-{where}", words)
        assert said in found(deployment)


TENANTS = {
    "weir": 1,
    "name": "cloud",
    "cloud": {"security": "bridge-filter", "isolation": "vxlan", "compute_nodes": 2},
    "tenants": [
        {"name": "blue", "instances": 2, "floating": 1, "functions": [{"name": "dpi"}]},
        {"name": "red", "instances": 1},
    ],
}


@pytest.mark.long
@pytest.mark.parametrize("security", ["bridge-filter", "ovs-conntrack", "none"])
def test_a_cloud_is_as_it_was_built_and_a_port_in_another_tenants_network_is_named(
    security: str, tmp_path: Path
) -> None:
    text = json.dumps(TENANTS | {"cloud": {"security": security, "isolation": "vxlan", "compute_nodes": 2}})
    with standing(text, run_dir=tmp_path) as cloud:
        assert found(cloud.deployment) == []
        network = cloud.topology.tenant_networks[0]
        instance = cloud.instance("blue.1")
        port = InstancePort.of(network, instance)
        name = port.above if security == "bridge-filter" else port.tap
        socket = cloud.deployment.run_dir / f"ovs-{instance.node}" / "db.sock"
        subprocess.run(["ovs-vsctl", f"--db=unix:{socket}", "set", "Port", name, "tag=2"], check=True)
        ip(cloud.topology.namespace("blue.2"), "addr add 10.0.0.77/24 dev eth0")
        ip(cloud.topology.namespace("outside"), "addr flush dev eth0")
        assert found(cloud.deployment) == [
            ("changed", "eth0", "lacks address 198.18.0.1/16"),
            ("changed", "eth0", "has address 10.0.0.77/24 besides"),
            ("changed", name, "has VLAN 2, was made with 1"),
        ]
