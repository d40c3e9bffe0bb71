# SPDX-License-Identifier: Apache-2.0
"""Servers of the local driver for programs of a case's own: where each is, and on which CPUs."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast
from unittest.mock import patch

import pytest

from weir import fabric
from weir.base.cloud import CloudTopology
from weir.lab.application import Variant
from weir.lab.sut import SutFile
from weir.verify.driver import CannotRunError, HostsWanted
from weir.verify.drivers import local
from weir.verify.drivers.local import LocalDriver
from weir.verify.drivers.local_hosts import LocalHosts
from weir.verify.sip.functions import PATHS


@contextmanager
def planned(
    wanted: HostsWanted, directory: Path, compute_nodes: int = 2
) -> Iterator[tuple[LocalHosts, CloudTopology]]:
    """Servers of a cloud that is not built."""
    built: list[CloudTopology] = []

    @contextmanager
    def deployed(_steps: Any, topology: CloudTopology, _watch: Any) -> Iterator[fabric.Deployment]:
        built.append(topology)
        yield cast(fabric.Deployment, SimpleNamespace(run_dir=directory, id="own-12345678"))

    sut = SutFile.model_validate({"weir": 1, "name": "own", "local": {"compute_nodes": compute_nodes}})
    with patch.object(local, "deployed_cloud", deployed):
        try:
            with LocalDriver(sut, directory).hosts(wanted) as hosts:
                yield hosts, built[0]
        except CannotRunError:
            assert built == []
            raise


def places(wanted: HostsWanted, directory: Path, compute_nodes: int) -> dict[str, str]:
    """The node of each server."""
    with planned(wanted, directory, compute_nodes) as (hosts, topology):
        nodes = {one.address: one.node for one in topology.tenant_networks[-1].instances}
        return {name: nodes[hosts.address(name)] for name in wanted.names}


@pytest.mark.parametrize("variant", ["ims", "proxy"])
def test_neighbours_in_a_call_are_at_different_nodes_wherever_there_are_two(
    variant: Variant, tmp_path: Path
) -> None:
    path = PATHS[variant]
    at = places(HostsWanted(path), tmp_path, 2)
    assert [(one, other) for one, other in itertools.pairwise(path) if at[one] == at[other]] == []
    assert set(at.values()) == {"compute1", "compute2"}


def test_all_servers_are_at_one_node_where_there_is_one(tmp_path: Path) -> None:
    assert set(places(HostsWanted(PATHS["ims"]), tmp_path, 1).values()) == {"compute1"}


def test_servers_with_more_cpus_than_this_host_has_are_skipped_before_anything_is_built(
    tmp_path: Path,
) -> None:
    there = len(os.sched_getaffinity(0))
    wanted = HostsWanted(PATHS["proxy"], there + 1)
    why = f"^servers can have {there} of this machine's CPUs, not {there + 1}$"
    with pytest.raises(CannotRunError, match=why), planned(wanted, tmp_path):
        pytest.fail("they stand")
