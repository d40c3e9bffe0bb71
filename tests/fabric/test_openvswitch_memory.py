# SPDX-License-Identifier: Apache-2.0
"""How much memory a switch with DPDK has."""

from __future__ import annotations

import pytest

from weir.fabric import hugepages, openvswitch


def test_a_switch_takes_no_more_hugepages_than_were_planned_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """weir-dp, which begins later, has the rest."""
    monkeypatch.setattr(hugepages, "free_mb", lambda: 4096)
    monkeypatch.setattr(openvswitch, "node_of", lambda _cpu: 1)
    settings = dict(
        one.removeprefix("other_config:").split("=", 1) for one in openvswitch._memory([2, 3], 512)
    )
    assert settings["dpdk-socket-mem"] == settings["dpdk-socket-limit"] == "0,512"
