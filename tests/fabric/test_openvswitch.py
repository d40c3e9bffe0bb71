# SPDX-License-Identifier: Apache-2.0
"""Asking ovs-vswitchd at its control socket."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from weir.fabric import FabricError
from weir.fabric.openvswitch import appctl, control_socket
from weir.fabric.site import Site
from weir.technology.openvswitch import DIRECTORY


@pytest.fixture
def site(tmp_path: Path) -> Site:
    (tmp_path / DIRECTORY).mkdir()
    return cast(Site, SimpleNamespace(directory=tmp_path))


@pytest.fixture
def switch(site: Site) -> Iterator[Callable[[list[bytes]], list[Any]]]:
    """Answers one question with those pieces, and notes it."""
    threads = []

    def answering(pieces: list[bytes]) -> list[Any]:
        asked: list[Any] = []
        server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        server.bind(str(control_socket(site, DIRECTORY)))
        server.listen()

        def answer() -> None:
            with server, server.accept()[0] as connection:
                asked.append(json.loads(connection.recv(4096)))
                for piece in pieces:
                    connection.sendall(piece)

        threads.append(threading.Thread(target=answer))
        threads[0].start()
        return asked

    yield answering
    for thread in threads:
        thread.join()


def test_an_answer_in_pieces_is_put_together(switch: Callable[[list[bytes]], list[Any]], site: Site) -> None:
    whole = json.dumps({"id": 0, "result": "lookups: {1}\n", "error": None}).encode()
    asked = switch([whole[at : at + 1] for at in range(len(whole))])
    assert appctl(site, "dpctl/show", "-s", "netdev@ovs-netdev") == "lookups: {1}\n"
    assert asked == [{"id": 0, "method": "dpctl/show", "params": ["-s", "netdev@ovs-netdev"]}]


def test_a_refusal_is_told(switch: Callable[[list[bytes]], list[Any]], site: Site) -> None:
    switch([b'{"id":0,"result":null,"error":"\\"nonsense\\" is not a valid command\\n"}'])
    with pytest.raises(FabricError, match=r'refuses nonsense: "nonsense" is not a valid command$'):
        appctl(site, "nonsense")


def test_a_switch_that_ends_before_its_answer_is_told(
    switch: Callable[[list[bytes]], list[Any]], site: Site
) -> None:
    switch([b'{"id":0,"resu'])
    with pytest.raises(FabricError, match="does not answer version: it closed the connection"):
        appctl(site, "version")


def test_a_switch_that_is_not_there_is_told_with_the_place_of_its_logs(site: Site) -> None:
    with pytest.raises(FabricError, match=rf"does not answer version: .*logs in {site.directory}/ovs"):
        appctl(site, "version")
