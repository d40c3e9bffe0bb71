# SPDX-License-Identifier: Apache-2.0
"""What the schema of the control protocol refuses, weir-dp refuses, says where, and goes on."""

from __future__ import annotations

import copy
import json
import socket
from collections.abc import Iterator
from typing import Any, get_args

import pytest
from pydantic import ValidationError

from tests.packet.one_function import configuration
from tests.polled_core import CORE
from tests.private_data_plane import private_data_plane
from tools.docs.dataplane_schema import COMMANDS, Answer, Failure
from weir.protocol import DataPlaneClient
from weir.protocol import configuration as configuration_shapes
from weir.protocol import connections as connections_shapes
from weir.protocol import traffic as traffic_shapes
from weir.protocol.configuration import Configure, HopPath, Nothing, Request
from weir.protocol.traffic import TrafficConfigure, TrafficStart

from .wire import PORTS, area_of, stream

Place = tuple[str | int, ...]
CODES = get_args(Failure.model_fields["code"].annotation)
SHAPE_MODULES = (configuration_shapes, connections_shapes, traffic_shapes)
SHAPES = {command.name: command.arguments for command in COMMANDS}
CHAIN = {
    "name": "functions",
    "core": CORE,
    "kind": "chain",
    "fastpath_flows": 64,
    "offload": {"kind": "none"},
    "paths": [
        {
            "name": "forth",
            "direction": "outbound",
            "in": "near",
            "stages": [{"nf": "acl", "name": "first", "options": {"default": "permit"}}],
            "out": ["near"],
        }
    ],
}
CONFIGURATION = {
    "ports": [
        *PORTS,
        {"name": "near", "kind": "memory", "peer": "far", "rx_queue_size": 64, "tx_queue_size": 64},
        {"name": "far", "kind": "memory", "peer": "near", "wire": "virtual"},
        {"name": "taught", "kind": "null", "mac": "02:00:00:00:00:09"},
        {"name": "asking", "kind": "memory", "peer": "answering"},
        {"name": "answering", "kind": "memory", "peer": "asking"},
    ],
    "rings": [{"name": "between", "size": 64}],
    "areas": [
        area_of("generator", "left"),
        area_of("receiver", "right"),
        area_of("clients", "asking"),
        area_of("servers", "answering"),
        CHAIN,
    ],
    "stall_threshold_us": {str(CORE): 100},
    "ledger": True,
    "mbufs": 4096,
}


def connecting(port: str) -> dict[str, str]:
    return {"port": port, "src_mac": "02:00:00:00:00:01", "dst_mac": "02:00:00:00:00:02"}


STAGE = {"area": "functions", "stage": "first"}
ARGUMENTS: dict[str, dict[str, Any]] = {
    "configure": CONFIGURATION,
    "nf.command": {**STAGE, "command": "reload", "args": {"rules": "x"}},
    "nf.listen": {**STAGE, "netns": "/run/netns/none"},
    "nf.report": {**STAGE, "from": 0, "limit": 10},
    "trace": {"area": "functions", "path": "forth", "frames": ["00" * 60], "at_us": 0},
    "exchange": {"frames": {"far": ["00" * 60]}, "quiet_ms": 0},
    "announce": {"count": 1},
    "traffic.configure": {
        "streams": [
            stream(
                pacing="poisson",
                flows={"count": 2, "distribution": "zipf", "zipf_s": 1.5, "seed": 3, "vary": ["src_ip"]},
                fields=[
                    {"field": "src_ip", "order": "random", "from": 7, "count": 9, "step": 2, "seed": 5},
                    {
                        "field": "dst_port",
                        "order": "random",
                        "values": [53, 80],
                        "weights": [1, 2],
                        "seed": 5,
                    },
                ],
            )
        ]
    },
    "traffic.start": {
        "duration_ns": 10**6,
        "rates_pps": {"0": 1},
        "drain_ns": 0,
        "delay": {"settle_ns": 0, "first_packets": False, "variation": True},
    },
    "traffic.delays": {"stream": 0, "of": "ipdv"},
    "traffic.result": {"wait_ms": 0},
    "connections.configure": {
        "clients": {**connecting("asking"), "address": "198.18.0.1", "last_port": 2000},
        "servers": {**connecting("answering"), "address": "198.19.0.1", "addresses": 2},
        "mss": 1400,
        "retries": 2,
        "retransmit_ns": 10**8,
        "services": [
            {"port": 80, "request_bytes": 16, "answer_bytes": 1, "close": "reset"},
            {"l4": "udp", "port": 53, "weight": 2, "request_bytes": 64, "answer_bytes": 200, "think_ns": 5},
        ],
    },
    "connections.start": {
        "rate": 1.5,
        "arrivals": "poisson",
        "duration_ns": 10**6,
        "connections": 1,
        "hold": True,
        "drain_ns": 0,
    },
    "connections.result": {"wait_ms": 0},
}
WRONG: dict[type, list[Any]] = {
    bool: [1, "nonsense"],
    int: [True, -1, 2**63 - 1, 0.5, "nonsense"],
    float: [True, -1, 1e300, "nonsense"],
    str: [7, "", ["nonsense"], {"x": 1}],
    list: [7, "nonsense", [[]]],
    dict: [7, "nonsense", [1], {"x": []}],
}


class Line:
    """The control socket as it is: lines of JSON, or of anything."""

    def __init__(self, path: str) -> None:
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.settimeout(10)
        self._socket.connect(path)
        self._answers = self._socket.makefile("rb")

    def ask(self, line: bytes) -> dict[str, Any]:
        self._socket.sendall(line + b"\n")
        answer: dict[str, Any] = json.loads(self._answers.readline())
        Answer.model_validate_json(json.dumps(answer), strict=True)
        return answer

    def request(self, command: Any, arguments: Any) -> dict[str, Any]:
        return self.ask(json.dumps({"id": 1, "cmd": command, "args": arguments}).encode())

    def close(self) -> None:
        self._answers.close()
        self._socket.close()


@pytest.fixture(scope="module")
def line() -> Iterator[Line]:
    """Of a weir-dp with every kind of thing configured, and running."""
    with private_data_plane(CORE, memory_mb=256, huge=False) as path:
        with DataPlaneClient(path, connect_s=20) as client:
            client.configure(Configure.model_validate(CONFIGURATION))
            client.configure_traffic(TrafficConfigure.model_validate(ARGUMENTS["traffic.configure"]))
            client.start()
        line = Line(str(path))
        yield line
        line.close()


def changed(value: Any) -> Iterator[Any]:
    """`value` with one thing in it wrong, or gone, each way once."""
    yield from WRONG[type(value)]
    if isinstance(value, dict):
        for key, inner in value.items():
            yield {name: other for name, other in value.items() if name != key}
            yield from ({**value, key: one} for one in changed(inner))
        yield {**value, "colour": "red"}
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from ([*value[:index], one, *value[index + 1 :]] for one in changed(inner))


def is_valid(command: str, arguments: Any) -> bool:
    try:
        SHAPES[command].model_validate_json(json.dumps(arguments), strict=True)
    except ValidationError:
        return False
    return True


@pytest.mark.parametrize("command", [command.name for command in COMMANDS])
def test_what_the_schema_refuses_weir_dp_refuses(line: Line, command: str) -> None:
    valid = ARGUMENTS.get(command, {})
    assert is_valid(command, valid)
    if command == "configure":
        line.request("reset", {})
    refused = [arguments for arguments in changed(valid) if not is_valid(command, arguments)]
    for arguments in refused:
        answer = line.request(command, arguments)
        assert not answer["ok"], arguments
        assert answer["error"]["code"] == "bad_argument", (arguments, answer)
    assert len(refused) >= len(WRONG[dict])
    if command == "configure":
        assert line.request("configure", valid)["ok"]
        assert line.request("traffic.configure", ARGUMENTS["traffic.configure"])["ok"]
        assert line.request("start", {})["ok"]


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b'"hello"',
        b'{"id": 1, "cmd": 7}',
        b'{"id": 1, "cmd": "hello", "cmd": "quit"}',
        b'{"id": 1, "cmd": "hello", "args": {"\xff": 1}}',
        b'{"id": 1, "cmd": "announce", "args": {"count": 99999999999999999999}}',
        b'{"id": 1, "cmd": "hello", "colour": "red"}',
        b"[" * 10_000,
    ],
    ids=lambda text: text[:40].decode(errors="replace"),
)
def test_what_is_no_request_is_answered_too(line: Line, text: bytes) -> None:
    assert line.ask(text)["error"]["code"] in ("bad_request", "bad_argument")
    assert line.request("hello", {})["ok"]


@pytest.mark.parametrize("bytes_before", range(4))
def test_a_text_that_is_cut_within_a_character_is_still_json(line: Line, bytes_before: int) -> None:
    key = "x" * bytes_before + "\U0001f999" * 100
    error = line.request("announce", {key: 1})["error"]
    assert error["code"] in CODES
    assert error["message"].startswith("unknown key 'x" if bytes_before else "unknown key '\U0001f999")


@pytest.mark.parametrize(
    ("changes", "where"),
    [
        ({"areas": [CHAIN, CHAIN]}, "areas[1].name"),
        ({"areas": [{**CHAIN, "name": "n" * 64}]}, "areas[0].name"),
        ({"rings": [{"name": "between"}, {"name": "between"}]}, "rings[1].name"),
        ({"rings": [{"name": "near"}]}, "rings[0].name"),
        ({"rings": [{"name": "wire-0"}]}, "rings[0].name"),
        ({"rings": [{"name": "MP_weir-ports"}]}, "rings[0].name"),
        ({"ports": [{"name": "a", "kind": "null"}, {"name": "a", "kind": "null"}]}, "ports[1].name"),
        ({"ports": [{"name": "a", "kind": "memory", "peer": "a"}]}, "ports[0].peer"),
        ({"ports": [{"name": "a", "kind": "nul"}]}, "ports[0].kind"),
        ({"ports": [{"name": "a", "kind": "null", "mac": "x"}]}, "ports[0].mac"),
        ({"ports": [{"name": "a", "kind": "memory"}]}, "ports[0]"),
        ({"stall_threshold_us": {"4095": 50}}, "stall_threshold_us.4095"),
    ],
)
def test_names_are_unique_and_whole(line: Line, changes: dict[str, Any], where: str) -> None:
    line.request("reset", {})
    error = line.request("configure", {**CONFIGURATION, **changes})["error"]
    assert (error["code"], error["where"]) == ("bad_argument", where)
    assert line.request("configure", CONFIGURATION)["ok"]


def test_ports_of_areas_take_part_in_no_exchange(line: Line) -> None:
    line.request("start", {})
    error = line.request("exchange", {"frames": {"near": []}})["error"]
    assert error["message"] == "port 'near' is an area's"


def test_nothing_is_taught_while_a_run_goes_on(line: Line) -> None:
    assert line.request("traffic.configure", ARGUMENTS["traffic.configure"])["ok"]
    assert line.request("start", {})["ok"]
    assert line.request("traffic.start", {"duration_ns": 10**10, "rates_pps": {"0": 1}})["ok"]
    assert line.request("announce", {})["error"]["code"] == "bad_state"
    assert line.request("stop", {})["ok"]
    assert line.request("announce", {})["ok"]


def shapes_in(request: Request, at: Place = ()) -> Iterator[tuple[type[Request], tuple[str | int, ...]]]:
    """Every object of a request, and where it is."""
    yield type(request), at
    for name, field in type(request).model_fields.items():
        value, key = getattr(request, name), field.serialization_alias or name
        inside = enumerate(value) if isinstance(value, tuple) else [(None, value)]
        for index, one in inside:
            if isinstance(one, Request):
                yield from shapes_in(one, (*at, key) if index is None else (*at, key, index))


def with_key(value: Any, at: Place, key: str) -> Any:
    """The arguments with one key more in the object there."""
    changed: Any = copy.deepcopy(value)
    inner = changed
    for step in at:
        inner = inner[step]
    inner[key] = "red"
    return changed


def complete() -> Iterator[tuple[str, Request]]:
    """Requests in which every shape is: those above, a capture, and of the architectures that hand packets
    on."""
    yield from ((command, SHAPES[command].model_validate(one)) for command, one in ARGUMENTS.items())
    then = ({"after_ns": 1, "factor": 0.5},)
    yield "traffic.start", TrafficStart.model_validate({**ARGUMENTS["traffic.start"], "then": then})
    exchanged = [{"from": "10.0.0.0/8", "to": "11.0.0.0/8"}]
    capture = {
        "path": "/nowhere.pcap",
        "stamp": True,
        "template_macs": True,
        "filter": "ip",
        "addresses": exchanged,
    }
    replayed = {"streams": [stream(capture=capture, pacing="recorded")]}
    yield "traffic.configure", TrafficConfigure.model_validate(replayed)
    nat = {"nf": "nat", "options": {"external": "203.0.113.0/24"}}
    for architecture in ("dispatch", "separated"):
        yield "configure", Configure.model_validate(configuration([nat], {"architecture": architecture}))


EXAMPLES = {
    shape: (command, request.arguments(), at)
    for command, request in complete()
    for shape, at in shapes_in(request)
}


def test_every_shape_of_a_request_has_an_example() -> None:
    found = [one for module in SHAPE_MODULES for one in vars(module).values()]
    shapes = {one for one in found if isinstance(one, type) and issubclass(one, Request)}
    parts = {one for one in shapes if not one.__name__.startswith("_")}
    assert parts - {Request, Nothing} == set(EXAMPLES)


@pytest.mark.parametrize("shape", EXAMPLES, ids=lambda shape: shape.__name__)
def test_weir_dp_knows_the_keys_of_every_shape_and_no_others(line: Line, shape: type[Request]) -> None:
    command, arguments, at = EXAMPLES[shape]
    if command == "configure":
        line.request("reset", {})
    error = line.request(command, with_key(arguments, at, "colour"))["error"]
    assert error["message"] == "unknown key 'colour'", error
    keys = {field.serialization_alias or name for name, field in shape.model_fields.items()}
    unused = {"direction"} if shape is HopPath else set()  # weir-dp reads the paths of all areas alike
    assert set(error["expected"].split(", ")) == keys | unused
    if command == "configure":
        assert line.request("configure", CONFIGURATION)["ok"]
        assert line.request("traffic.configure", ARGUMENTS["traffic.configure"])["ok"]
        assert line.request("start", {})["ok"]
