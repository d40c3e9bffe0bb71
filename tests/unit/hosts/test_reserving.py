# SPDX-License-Identifier: Apache-2.0
"""Hosts of a Ray cluster for a chain that spans them, without Ray: all at once, or what is lacking."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from unittest.mock import MagicMock

import pytest

from weir.hosts import by_ray
from weir.hosts.by_ray import RayHosts
from weir.hosts.transport import HostsError

from .test_by_ray import node


def cluster(monkeypatch: pytest.MonkeyPatch, *names: str, turns: int = 1) -> tuple[RayHosts, MagicMock]:
    """Of these nodes; its placement groups are there after so many looks, the last node first."""
    groups, ray = MagicMock(), MagicMock()
    ray.nodes.return_value = [node(name, f"192.0.2.{at}") for at, name in enumerate(names, 1)]
    groups.placement_group.return_value.wait.side_effect = [False] * (turns - 1) + [True]
    placed = {number: f"192.0.2.{at}" for number, at in enumerate(range(len(names), 0, -1))}
    groups.placement_group_table.return_value = {"bundles_to_node_id": placed}
    strategies = SimpleNamespace(
        PlacementGroupSchedulingStrategy=lambda _group, bundle: ("bundle", bundle),
        NodeAffinitySchedulingStrategy=lambda node_id, soft: ("node", node_id, soft),
    )
    modules = {"ray": ray, "ray.util.placement_group": groups, "ray.util.scheduling_strategies": strategies}
    monkeypatch.setattr(by_ray, "import_module", modules.__getitem__)
    hosts = RayHosts("ray://192.0.2.9:10001")
    groups.started = lambda: [
        call.kwargs["scheduling_strategy"] for call in ray.remote.return_value.options.call_args_list
    ]
    return hosts, groups


def nobody(_text: str) -> None:
    pytest.fail("it waits for nothing")


def told(said: list[str]) -> Callable[[str], None]:
    return said.append


def test_hosts_are_reserved_all_at_once_each_another_one_and_programs_start_in_what_was_reserved(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    hosts, groups = cluster(monkeypatch, "nfv1", "nfv2")
    assert hosts.reserve([None, None], nobody) == ["nfv2", "nfv1"]
    assert groups.placement_group.call_args.args == ([{"weir": 1.0}, {"weir": 1.0}],)
    assert groups.placement_group.call_args.kwargs == {"strategy": "STRICT_SPREAD"}
    assert [hosts.address(name) for name in ("nfv1", "nfv2")] == ["192.0.2.1", "192.0.2.2"]
    for name in ("nfv2", "nfv1"):
        hosts.begin(name)
    assert groups.started() == [("bundle", 0), ("bundle", 1)]
    hosts.close()
    groups.remove_placement_group.assert_called_once()


def test_a_machine_that_the_lab_names_is_asked_for_by_its_address(monkeypatch: pytest.MonkeyPatch) -> None:
    hosts, groups = cluster(monkeypatch, "nfv1", "nfv2")
    hosts.reserve(["nfv2", "192.0.2.1"], nobody)
    (bundles,) = groups.placement_group.call_args.args
    assert [sorted(one) for one in bundles] == [["node:192.0.2.2", "weir"], ["node:192.0.2.1", "weir"]]
    assert all(0 < one[name] < 0.01 for one in bundles for name in one if name.startswith("node:"))


def test_who_waits_for_hosts_is_told_so_once(monkeypatch: pytest.MonkeyPatch) -> None:
    hosts, _ = cluster(monkeypatch, "nfv1", "nfv2", turns=4)
    said: list[str] = []
    hosts.reserve([None, None], told(said))
    assert said == ["waits for 2 hosts at once: another campaign measures on some of them"]


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        ([None, None, None], "span 3 hosts, and these offer themselves to Weir: nfv1, nfv2; start Ray"),
        (["nfv3", None], "span 2 hosts, among them nfv3, and these offer themselves to Weir: nfv1, nfv2"),
    ],
)
def test_what_a_cluster_lacks_is_said_before_anything_is_reserved(
    monkeypatch: pytest.MonkeyPatch, wanted: list[str | None], said: str
) -> None:
    hosts, groups = cluster(monkeypatch, "nfv1", "nfv2")
    with pytest.raises(HostsError, match=said):
        hosts.reserve(wanted, nobody)
    groups.placement_group.assert_not_called()


def test_a_node_that_dies_while_its_hosts_are_waited_for_ends_the_waiting(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    hosts, groups = cluster(monkeypatch, "nfv1", "nfv2", turns=100)
    alive = hosts._ray.nodes.return_value
    hosts._ray.nodes.side_effect = [alive, alive, alive[:1]]
    with pytest.raises(HostsError, match="these offer themselves to Weir: nfv1;"):
        hosts.reserve([None, None], lambda _text: None)
    hosts.close()
    groups.remove_placement_group.assert_called_once()
