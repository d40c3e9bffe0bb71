# SPDX-License-Identifier: Apache-2.0
"""Changes and reports of a function whose state is dealt out to workers: all of them are meant at once."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from weir.protocol import DataPlaneClient, DataPlaneError

from .one_function import Way, configuration, data_plane, running

NAT = {"nf": "nat", "options": {"external": "203.0.113.0/28"}}
WAYS: dict[str, Way] = {
    "dispatch": {"architecture": "dispatch", "workers": 3},
    "separated": {"architecture": "separated", "workers": 2, "state_cores": 3},
}
AREAS = {"dispatch": "f1.worker", "separated": "f1.state_core"}


@pytest.fixture(scope="module")
def client() -> Iterator[DataPlaneClient]:
    with data_plane() as connected:
        yield connected


def forward(client: DataPlaneClient, area: str, external_port: int) -> None:
    """Maps an external port to the web server inside."""
    port = {"external_port": external_port, "inside_port": 8080 + external_port}
    client.command(area, "nat", "static-add", {"inside": "10.0.0.1", **port})


@pytest.mark.parametrize("architecture", WAYS)
def test_a_command_to_the_dispatcher_changes_every_worker(client: DataPlaneClient, architecture: str) -> None:
    with running(client, configuration([NAT], WAYS[architecture])):
        forward(client, "f1.dispatcher", 80)
        for worker in range(3):
            with pytest.raises(DataPlaneError, match="static mapping already"):
                forward(client, f"{AREAS[architecture]}{worker}", 80)


def test_a_command_that_one_worker_refuses_changes_none(client: DataPlaneClient) -> None:
    with running(client, configuration([NAT], WAYS["dispatch"])):
        forward(client, "f1.worker1", 80)
        with pytest.raises(DataPlaneError, match="static mapping already"):
            forward(client, "f1.dispatcher", 80)
        for worker in (0, 2):
            forward(client, f"f1.worker{worker}", 80)


def test_a_report_of_the_dispatcher_names_the_workers(client: DataPlaneClient) -> None:
    with running(client, configuration([NAT], WAYS["dispatch"])):
        figures = client.report("f1.dispatcher", "nat").figures
    assert {area: of["sessions"] for area, of in figures.items()} == {f"f1.worker{i}": 0 for i in range(3)}


def test_an_area_without_functions_takes_no_command(client: DataPlaneClient) -> None:
    with (
        running(client, configuration([NAT], WAYS["dispatch"])),
        pytest.raises(DataPlaneError, match="no such area"),
    ):
        forward(client, "generator.left", 80)
