# SPDX-License-Identifier: Apache-2.0
"""The client of weir-dp's control protocol, against a peer that answers as it is told."""

from __future__ import annotations

import json
import math
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from weir.protocol import (
    DataPlaneClient,
    DataPlaneError,
    DataPlaneGoneError,
    DataPlaneTester,
    DataPlaneTimeoutError,
)
from weir.protocol import client as client_module
from weir.protocol.client import PROTOCOL_VERSION
from weir.protocol.configuration import Configure
from weir.protocol.traffic import CaptureConfig, FrameSize, StreamConfig, Template, TrafficConfigure

HELLO = {
    "version": "0.1",
    "protocol": PROTOCOL_VERSION,
    "dpdk": "22.11",
    "pid": 1,
    "tsc_hz": 10**9,
    "cores": [0],
    "memory": "no-huge",
}
DONE = {
    "state": "done",
    "run": 4,
    "tx_duration_ns": 1e6,
    "streams": [{"id": 0, "intended": 9, "offered": 9, "tx_refused": 0, "delivered": 9}],
    "something_new": True,
}
Answer = Callable[[dict[str, Any]], list[bytes]]


def ok(request: dict[str, Any], result: object) -> bytes:
    return json.dumps({"id": request["id"], "ok": True, "result": result}).encode() + b"\n"


class Peer:
    """Listens like weir-dp. `answer` gives the pieces to send for a request; None in place of it hangs up."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.requests: list[dict[str, Any]] = []
        self.answer: Answer | None = lambda request: [ok(request, {})]
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._listener.bind(str(path))
        self._listener.listen()
        self.connection: socket.socket | None = None
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        try:
            self.connection, _ = self._listener.accept()
        except OSError:  # closed before anybody came
            return
        for line in self.connection.makefile():
            self.requests.append(json.loads(line))
            if self.answer is None:
                self.hang_up()
                return
            for piece in self.answer(self.requests[-1]):
                self.connection.sendall(piece)

    def hang_up(self) -> None:
        assert self.connection is not None
        self.connection.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self._listener.close()
        if self.connection is not None:
            self.connection.close()


@pytest.fixture
def peer(tmp_path: Path) -> Iterator[Peer]:
    peer = Peer(tmp_path / "weir-dp.sock")
    yield peer
    peer.close()


@pytest.fixture
def client(peer: Peer) -> Iterator[DataPlaneClient]:
    with DataPlaneClient(peer.path, timeout_s=0.2) as client:
        yield client


def test_a_command_goes_out_as_one_line_and_its_result_comes_back(
    peer: Peer, client: DataPlaneClient
) -> None:
    peer.answer = lambda request: [ok(request, HELLO)]
    assert client.hello().cores == (0,)
    client.announce(3)
    assert peer.requests == [
        {"id": 1, "cmd": "hello", "args": {}},
        {"id": 2, "cmd": "announce", "args": {"count": 3}},
    ]


def test_an_answer_in_pieces_is_put_together(peer: Peer, client: DataPlaneClient) -> None:
    def in_pieces(request: dict[str, Any]) -> list[bytes]:
        whole = ok(request, {"run": 7})
        return [whole[:5], whole[5:9], whole[9:]]

    peer.answer = in_pieces
    assert client.start_traffic({0: 1.5, 1: 0}, 10**6, 10) == 7
    assert peer.requests[0]["args"] == {
        "duration_ns": 10**6,
        "rates_pps": {"0": 1.5, "1": 0},
        "drain_ns": 10,
        "then": [],
        "skip": False,
        "switch_cpus": [],
        "learn": False,
    }


def test_a_refusal_says_what_where_what_was_expected_and_what_to_do(
    peer: Peer, client: DataPlaneClient
) -> None:
    error = {
        "code": "bad_argument",
        "message": "no such core",
        "where": "areas[2].core",
        "expected": "0 or 1",
        "fix": "use a core of --cores",
    }
    peer.answer = lambda request: [
        json.dumps({"id": request["id"], "ok": False, "error": error}).encode() + b"\n"
    ]
    with pytest.raises(DataPlaneError) as caught:
        client.configure(Configure.model_validate({}))
    assert str(caught.value) == (
        "areas[2].core: configure: no such core; expected 0 or 1; use a core of --cores"
    )
    assert caught.value.code == "bad_argument"


def test_a_request_that_could_not_be_read_is_refused_without_an_id(
    peer: Peer, client: DataPlaneClient
) -> None:
    peer.answer = lambda _request: [b'{"id": null, "ok": false, "error": {"code": "bad_request"}}\n']
    with pytest.raises(DataPlaneError, match="refused without a message"):
        client.start()


def test_the_end_of_weir_dp_is_noticed_during_a_command(peer: Peer, client: DataPlaneClient) -> None:
    peer.answer = None
    with pytest.raises(DataPlaneGoneError, match=r"weir-dp has ended; its log: .*/weir-dp\.log$"):
        client.ledger()
    with pytest.raises(DataPlaneGoneError):
        client.ledger()


def test_the_end_of_weir_dp_is_noticed_while_a_trial_runs(peer: Peer, client: DataPlaneClient) -> None:
    client.start()
    threading.Timer(0.05, peer.hang_up).start()
    began = time.monotonic()
    with pytest.raises(DataPlaneGoneError):
        client.wait(30)
    assert time.monotonic() - began < 5


def capturing(*paths: str) -> TrafficConfigure:
    headers = Template(
        src_mac="02:00:00:00:00:01", dst_mac="02:00:00:00:00:02", src_ip="198.18.0.1", dst_ip="198.19.0.1"
    )
    streams = tuple(
        StreamConfig(
            id=number,
            port="tester.left",
            frame=FrameSize(bytes=64),
            template=headers,
            capture=CaptureConfig(path=path),
        )
        for number, path in enumerate(paths)
    )
    return TrafficConfigure(streams=streams)


def test_captures_may_take_longer_to_be_read_than_a_command_takes(
    peer: Peer, client: DataPlaneClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read(request: dict[str, Any]) -> list[bytes]:
        time.sleep(0.4)  # twice as long as this client waits for commands
        return [ok(request, {"captures": {}})]

    peer.answer = read
    assert client.configure_traffic(capturing("office.pcap")).captures == {}
    monkeypatch.setattr(client_module, "CONFIGURE_TIMEOUT_S", 0.0)
    peer.answer = lambda _request: []
    with pytest.raises(DataPlaneTimeoutError, match=r"has not read /labs/a\.pcap, /labs/b\.pcap in 0\.2 s"):
        client.configure_traffic(capturing("/labs/a.pcap", "/labs/b.pcap"))


def facts(frames: int) -> dict[str, Any]:
    return {"frames": frames, "mean_frame_bytes": 100, "frame_bytes_most": 200, "recorded_pps": 10,
            "lead_ns": 0, "span_ns": 1e9}  # fmt: skip


def test_a_capture_that_changes_between_two_readings_is_refused(peer: Peer, client: DataPlaneClient) -> None:
    frames = iter((9, 9, 7))
    peer.answer = lambda request: [ok(request, {"captures": {"0": facts(next(frames))}})]
    config = capturing("/labs/a.pcap")
    for _ in range(2):
        assert client.configure_traffic(config).captures["0"].frames == 9
    with pytest.raises(DataPlaneError, match=r"a\.pcap has changed .*: 7 frames are sent of it, 9 before"):
        client.configure_traffic(config)


def test_a_late_answer_is_not_taken_for_the_next_one(peer: Peer, client: DataPlaneClient) -> None:
    held: list[dict[str, Any]] = []

    def late(request: dict[str, Any]) -> list[bytes]:
        held.append(request)
        return [] if len(held) == 1 else [ok(held[0], {"run": 1}), ok(request, {"run": 2})]

    peer.answer = late
    with pytest.raises(DataPlaneTimeoutError, match=r"did not answer traffic\.start in time"):
        client.start_traffic({0: 1}, 10**6, 1)
    assert client.start_traffic({0: 1}, 10**6, 1) == 2


def test_ctrl_c_while_waiting_leaves_the_connection_usable(
    peer: Peer, client: DataPlaneClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("weir.protocol.client.select.select", interrupted)
        with pytest.raises(KeyboardInterrupt):
            client.start()
    peer.answer = lambda request: [ok(request, HELLO)]
    assert client.hello().pid == 1


def test_another_protocol_is_refused(peer: Peer, client: DataPlaneClient) -> None:
    peer.answer = lambda request: [ok(request, {**HELLO, "protocol": 1})]
    with pytest.raises(DataPlaneError, match=r"0\.1 speaks protocol 1; expected 4; take weir-dp and weir"):
        client.hello()


def test_a_run_that_weir_dp_could_not_take_is_refused_with_the_value_that_is_wrong(
    peer: Peer, client: DataPlaneClient
) -> None:
    with pytest.raises(DataPlaneError, match=r"TrafficStart\.duration_ns: .* equal to 1000000"):
        client.start_traffic({0: 1}, 1, 1)
    assert peer.requests == []


@pytest.mark.parametrize("line", [b"not json\n", b"[1]\n", b'{"id": 1, "ok": true, "result": {}}\n'])
def test_an_answer_of_another_shape_is_an_error_and_not_a_crash(
    peer: Peer, client: DataPlaneClient, line: bytes
) -> None:
    peer.answer = lambda _request: [line]
    with pytest.raises(DataPlaneError):
        client.hello()


def test_no_weir_dp_at_all_is_said(tmp_path: Path) -> None:
    with pytest.raises(DataPlaneGoneError, match="cannot connect: No such file"):
        DataPlaneClient(tmp_path / "nothing.sock", connect_s=0.05)


def test_the_tester_waits_for_the_end_of_its_own_run(peer: Peer, client: DataPlaneClient) -> None:
    answers = iter([{"run": 4}, {"state": "running"}, {**DONE, "run": 3}, DONE])
    peer.answer = lambda request: [ok(request, next(answers))]
    result = DataPlaneTester(client).run({0: 9}, 0.001, 0.001)
    assert result.run == 4
    assert result.streams[0].delivered == 9


@pytest.mark.parametrize(
    ("most_pps", "each_pps"), [(math.inf, 10_000), (100_000, 10_000), (500, 500), (30, 30), (1, 25)]
)
def test_flows_are_learned_no_faster_than_was_asked_for_unless_it_took_long(
    peer: Peer, client: DataPlaneClient, most_pps: float, each_pps: float
) -> None:
    """A hundred of the one stream that is answered, four seconds a try at the longest."""
    asked: list[dict[str, Any]] = []
    answers = iter([{"run": 4}, DONE] * 3)

    def answer(request: dict[str, Any]) -> list[bytes]:
        asked.append(request)
        return [ok(request, next(answers))]

    peer.answer = answer
    flows = SimpleNamespace(count=100)
    streams = [
        SimpleNamespace(id=0, answers=None, flows=flows),
        SimpleNamespace(id=1, answers=0, flows=flows),
    ]
    DataPlaneTester(client).learn(cast("Any", SimpleNamespace(streams=streams)), most_pps)
    assert asked[0]["args"]["rates_pps"] == {"0": each_pps, "1": each_pps}


def test_whoever_measures_through_a_data_plane_next_knows_what_came_last(client: DataPlaneClient) -> None:
    before, after = DataPlaneTester(client), DataPlaneTester(client)
    assert after.is_empty
    before.is_empty = False
    assert not after.is_empty


def test_a_run_that_never_ends_is_given_up(
    peer: Peer, client: DataPlaneClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("weir.protocol.tester.LATE_S", 0.1)
    peer.answer = lambda request: [ok(request, {"run": 1, "state": "running"})]
    with pytest.raises(DataPlaneTimeoutError, match="run 1 did not end"):
        DataPlaneTester(client).run({0: 9}, 0.001, 0.001)


@pytest.mark.parametrize(("load", "said"), [(2.1, False), (5.0, True)])
def test_an_answer_that_does_not_come_on_a_loaded_machine_says_who_may_have_the_core(
    monkeypatch: pytest.MonkeyPatch, load: float, said: bool
) -> None:
    monkeypatch.setattr(os, "getloadavg", lambda: (load, 0.0, 0.0))
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    error = DataPlaneTimeoutError("timeout", "weir-dp did not answer ping in time", fix="its log: x")
    assert ("the load is 5.0 on 2 CPUs" in str(error)) == said
    assert str(error).startswith("weir-dp did not answer ping in time")
    assert str(error).endswith("; its log: x")
