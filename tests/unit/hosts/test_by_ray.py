# SPDX-License-Identifier: Apache-2.0
"""What of the cluster is known without Ray: names of nodes, and whether its head is there."""

from __future__ import annotations

import socket
import time

import pytest

from weir.hosts import by_ray


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
    now_s = 100 + by_ray.HEAD_S - 1
    assert not head.gone()
    now_s = 100 + by_ray.HEAD_S + 5
    assert head.gone()
    with socket.create_server(("127.0.0.1", port)):
        now_s += 5
        assert not head.gone()
