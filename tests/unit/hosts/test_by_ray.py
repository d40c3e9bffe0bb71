# SPDX-License-Identifier: Apache-2.0
"""What of the cluster is known without Ray: names of nodes, and whether its head is there."""

from __future__ import annotations

import socket
import time
from unittest.mock import MagicMock

import pytest

from weir.hosts import by_ray
from weir.hosts.times import CLUSTER_HEAD_S
from weir.hosts.transport import HostsError


def node(name: str, address: str, *, weir: float = 1, alive: bool = True) -> dict[str, object]:
    return {
        "Alive": alive,
        "Resources": {"weir": weir},
        "NodeManagerAddress": address,
        "NodeManagerHostname": name,
        "NodeID": address,
    }


def test_nodes_that_offer_themselves_have_their_names_and_addresses_where_names_are_the_same() -> None:
    nodes = [
        node("nfv2", "192.0.2.3"),
        node("nfv1", "192.0.2.1"),
        node("nfv1", "192.0.2.2"),
        node("head", "192.0.2.9", weir=0),
        node("nfv3", "192.0.2.4", alive=False),
    ]
    assert [name for name, _ in by_ray._named(nodes)] == ["192.0.2.1", "192.0.2.2", "nfv2"]


def test_a_head_is_gone_when_it_was_out_of_reach_for_long_and_not_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now_s = 0.0
    monkeypatch.setattr(time, "monotonic", lambda: now_s)
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        head = by_ray._Head(f"127.0.0.1:{port}")
        now_s = 100.0
        assert not head.gone()
    now_s = 100 + CLUSTER_HEAD_S - 1
    assert not head.gone()
    now_s = 100 + CLUSTER_HEAD_S + 5
    assert head.gone()
    with socket.create_server(("127.0.0.1", port)):
        now_s += 5
        assert not head.gone()


def test_a_cluster_that_is_gone_loses_all_hosts_with_rays_own_words_and_can_be_left(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ray = MagicMock()
    ray.nodes.return_value = [node("nfv1", "192.0.2.1"), node("nfv2", "192.0.2.2")]
    ray.wait.side_effect = ConnectionError("the client server has gone")
    monkeypatch.setattr(by_ray, "import_module", lambda _name: ray)
    hosts = by_ray.RayHosts("ray://192.0.2.1:10001")
    for host in hosts.names:
        hosts.begin(host)
    heard = hosts.heard(0)
    assert [(one.host, one.ended) for one in heard] == [
        ("nfv1", "is lost: the client server has gone"),
        ("nfv2", "is lost: the client server has gone"),
    ]
    ray.kill.side_effect = AssertionError("asks a cluster that is gone")
    hosts.close()
    ray.shutdown.assert_called_once()


def test_a_cluster_that_cannot_be_reached_is_told_with_what_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    ray = MagicMock()
    ray.init.side_effect = RuntimeError("no node info found")
    monkeypatch.setattr(by_ray, "import_module", lambda _name: ray)
    monkeypatch.setattr(by_ray, "require_head", lambda _address: None)
    with pytest.raises(HostsError, match=r"no node info found; expected one that this machine is a node of"):
        by_ray.RayHosts("192.0.2.1:6379")
    with pytest.raises(HostsError, match="no node info found; expected one with a client server there"):
        by_ray.RayHosts("ray://192.0.2.1:10001")
