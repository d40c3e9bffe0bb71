# SPDX-License-Identifier: Apache-2.0
"""Whom `weir command` tells what, and what it refuses. What a function does then:
tests/smoke/test_nf_command.py."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from weir import plan, protocol
from weir.cli.main import app
from weir.lab import Lab
from weir.protocol.errors import DataPlaneError

from .fake_fabric import FakeDeployment, deployed

FIRST, SECOND = "small-00000001", "small-00000002"
ROUTE = ["prefix=192.0.2.0/24", "next_hop=02:00:00:00:01:01"]
runner = CliRunner()
Told = list[tuple[str, str, str, Mapping[str, Any]]]


class FakeClient:
    """In place of weir-dp's: keeps what it is told."""

    refuses: DataPlaneError | None = None

    def __init__(self, path: Path, told: Told) -> None:
        self._told = told
        assert path.name == plan.SOCKET

    def __enter__(self) -> FakeClient:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def command(self, area: str, stage: str, command: str, args: Mapping[str, Any]) -> None:
        if self.refuses is not None:
            raise self.refuses
        self._told.append((area, stage, command, args))


def chain(functions: Mapping[str, Any], *names: str, technology: str = "direct") -> FakeDeployment:
    """Deployed, with these functions."""
    values = {"weir": 1, "name": "small", "chain": [list(names)], "technology": technology}
    lab = Lab.model_validate(values | {"functions": functions})
    deployment = FakeDeployment(FIRST)
    deployment.topology = plan.build_topology(lab, technology, lab.chains()[0], FIRST)
    return deployment


def stages(*names: str) -> list[dict[str, str]]:
    return [{"nf": name} for name in names]


def routed(**more: Any) -> FakeDeployment:
    return chain({"edge": {"nf": "l3fwd", **more}}, "edge")


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> Told:
    made: Told = []
    monkeypatch.setattr(protocol, "DataPlaneClient", lambda path, **_: FakeClient(path, made))
    monkeypatch.setattr(FakeClient, "refuses", None)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    return made


def weir(*words: str) -> tuple[int, str, str]:
    done = runner.invoke(app, ["command", *words])
    return done.exit_code, done.stdout, done.stderr


@pytest.mark.parametrize("lab", [FIRST, "small"])
@pytest.mark.parametrize("function", ["edge", "f1", "edge/l3fwd"])
def test_the_function_is_told_the_command_with_its_keys_as_their_kinds(
    lab: str, function: str, told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    deployed(monkeypatch, routed())
    code, said, _ = weir(lab, function, "route-add", *ROUTE, "egress=1")
    assert (code, said) == (0, "f1 (l3fwd): route-add is done\n")
    args = {"prefix": "192.0.2.0/24", "next_hop": "02:00:00:00:01:01", "egress": 1}
    assert told == [("f1", "l3fwd", "route-add", args)]


def test_what_has_an_equals_sign_is_of_the_value(told: Told, monkeypatch: pytest.MonkeyPatch) -> None:
    deployed(monkeypatch, chain({"upf": {"nf": "upf", "options": {"sessions_max": 8}}}, "upf"))
    sessions = "ue=10.46.0.1, ue=10.46.0.2"
    assert weir(FIRST, "upf", "sessions-remove", f"sessions={sessions}")[0] == 0
    assert told == [("f1", "upf", "sessions-remove", {"sessions": sessions})]


@pytest.mark.parametrize("architecture", ["dispatch", "separated"])
def test_of_workers_the_dispatcher_is_told_for_all(
    architecture: str, told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    deployed(monkeypatch, routed(architecture=architecture))
    code, said, _ = weir(FIRST, "edge", "route-delete", "prefix=192.0.2.0/24")
    assert (code, said) == (0, "f1.dispatcher (l3fwd): route-delete is done, by all its workers\n")
    assert [where[:3] for where in told] == [("f1.dispatcher", "l3fwd", "route-delete")]


def test_of_a_pipeline_the_area_with_the_stage_is_told(told: Told, monkeypatch: pytest.MonkeyPatch) -> None:
    deployed(
        monkeypatch, chain({"edge": {"chain": stages("acl", "l3fwd"), "architecture": "pipeline"}}, "edge")
    )
    assert weir(FIRST, "edge", "route-delete", "prefix=192.0.2.0/24")[0] == 0
    assert [where[:2] for where in told] == [("f1.l3fwd", "l3fwd")]


def test_a_command_of_several_stages_needs_the_name_of_one(
    told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    deployed(monkeypatch, chain({"edge": {"chain": stages("acl", "acl")}}, "edge"))
    code, _, complaint = weir(FIRST, "edge", "change", "change_list=add permit udp any any")
    assert (code, told) == (2, [])
    assert complaint == "weir: edge has change in several stages; name one: edge/acl, edge/acl2\n"
    assert weir(FIRST, "edge/acl2", "change", "change_list=add permit udp any any")[0] == 0
    assert [where[:2] for where in told] == [("f1", "acl2")]


def test_a_file_is_looked_for_where_the_command_is_given(
    told: Told, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deployed(monkeypatch, routed())
    monkeypatch.chdir(tmp_path)
    (tmp_path / "new.txt").touch()
    assert weir(FIRST, "edge", "routes-load", "routes=new.txt")[0] == 0
    assert told == [("f1", "l3fwd", "routes-load", {"routes": str(tmp_path / "new.txt")})]


def test_what_is_no_file_to_weir_dp_too_is_refused(
    told: Told, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deployed(monkeypatch, routed())
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe")
    reading, writing = os.pipe()
    (tmp_path / "round").symlink_to("round")
    refusals = (
        ("pipe", "is no regular file"),
        ("none", "there is no file"),
        (".", "is a directory"),
        ("permit any any any " * 99, "File name too long"),
        ("round", "in a circle"),
    )
    for word, why in refusals:
        code, _, said = weir(FIRST, "edge", "routes-load", f"routes={word}")
        assert (code, why in said) == (2, True), said
    code, _, said = weir(FIRST, "edge", "routes-load", f"routes=/dev/fd/{reading}")
    assert (code, "is no regular file" in said) == (2, True), said
    with (tmp_path / "routes").open("w") as file:
        assert weir(FIRST, "edge", "routes-load", f"routes=/dev/fd/{file.fileno()}")[0] == 0
    os.close(reading)
    os.close(writing)
    assert [args for *_, args in told] == [{"routes": str(tmp_path / "routes")}]


def test_json_says_what_was_told_whom(told: Told, monkeypatch: pytest.MonkeyPatch) -> None:
    deployed(monkeypatch, routed())
    code, said, _ = weir("small", "edge", "route-add", *ROUTE, "--json")
    assert (code, len(told)) == (0, 1)
    assert json.loads(said) == {
        "deployment": FIRST,
        "function": "edge",
        "area": "f1",
        "stage": "l3fwd",
        "command": "route-add",
        "args": {"prefix": "192.0.2.0/24", "next_hop": "02:00:00:00:01:01"},
    }


def test_without_a_command_it_says_which_there_are_with_their_keys(
    told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    deployed(monkeypatch, chain({"edge": {"chain": stages("acl", "l3fwd", "l2fwd")}}, "edge"))
    code, said, _ = weir(FIRST, "edge")
    assert (code, told) == (0, [])
    lines = said.splitlines()
    assert [line for line in lines if not line.startswith(" ")] == [
        "f1 (acl)", "f1 (l3fwd)", "f1 (l2fwd): no commands",
    ]  # fmt: skip
    assert [line.split()[0] for line in lines[lines.index("f1 (l3fwd)") + 1 : -1]] == [
        *("route-add:", "prefix=:", "next_hop=:", "egress=:", "via=:"),
        *("route-delete:", "prefix=:", "routes-load:", "routes=:"),
    ]
    document = json.loads(weir(FIRST, "edge/l3fwd", "--json")[1])
    assert [(one["area"], one["stage"], one["nf"]) for one in document] == [("f1", "l3fwd", "l3fwd")]
    assert document[0]["commands"][1]["name"] == "route-delete"
    assert document[0]["commands"][1]["arguments"][0]["name"] == "prefix"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["egde"], "small-00000001 has no function 'egde'; it has edge (did you mean edge?)"),
        (["edge/acl"], "edge has no stage 'acl'; it has l3fwd"),
        (
            ["edge", "route-del"],
            "edge has no command 'route-del'; it has route-add, route-delete, routes-load",
        ),
        (
            ["edge", "route-delete", "prefix"],
            "route-delete: 'prefix' where KEY=VALUE is expected; it has prefix",
        ),
        (["edge", "route-delete", "prefx=::/0"], "no key 'prefx'; it has prefix (did you mean prefix?)"),
        (["edge", "route-delete", "prefix=::/0", "prefix=::/0"], "prefix is given twice; expected it once"),
        (["edge", "route-add", "egress=one"], "egress is 'one'; expected a whole number from 0 to"),
        (["edge", "route-add", "next_hop=02"], "next_hop is '02'; expected a MAC address such as"),
        (
            ["edge", "route-add", f"prefix={'1' * 100_000}"],
            f"prefix is '{'1' * 56}…; expected a text in UTF-8, of 1 to 16383 bytes",
        ),
    ],
)
def test_what_is_not_of_the_function_is_refused_before_weir_dp_is_asked(
    words: list[str], said: str, told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    deployed(monkeypatch, routed())
    code, out, complaint = weir(FIRST, *words)
    assert (code, out, told) == (2, "", [])
    assert said in complaint
    assert complaint.count("\n") == 1


def test_a_function_that_the_chain_has_twice_is_named_by_its_node(
    told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    deployed(monkeypatch, chain({"edge": {"nf": "l3fwd"}}, "edge", "edge"))
    code, _, complaint = weir(FIRST, "edge", "route-delete", "prefix=::/0")
    assert (code, told) == (2, [])
    assert complaint == "weir: small-00000001 has edge more than once; name one by its node: f1 and f2\n"
    assert weir(FIRST, "f2", "route-delete", "prefix=::/0")[0] == 0
    assert [where[0] for where in told] == ["f2"]


def test_what_weir_dp_does_not_run_takes_no_command_of_it(
    told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    deployed(monkeypatch, chain({"edge": {"kind": "kernel"}}, "edge", technology="linux-bridge"))
    code, _, complaint = weir(FIRST, "edge")
    assert (code, told) == (2, [])
    assert complaint.startswith("weir: edge is Linux, outside weir-dp; expected a function in weir-dp")


@pytest.mark.parametrize(("kind", "exit_code"), [("bad_argument", 2), ("no_memory", 3)])
def test_what_weir_dp_refuses_is_said_with_its_place_and_what_was_expected(
    kind: str, exit_code: int, told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    deployed(monkeypatch, routed())
    refused = DataPlaneError(
        kind,
        "there is none",
        where="args.prefix",
        expected="a prefix that has a route",
        fix="look",
        request="nf.command",
    )
    monkeypatch.setattr(FakeClient, "refuses", refused)
    code, out, complaint = weir(FIRST, "edge", "route-delete", "prefix=::/0", "--json")
    assert (code, out, told) == (exit_code, "", [])
    place = "f1 (l3fwd): route-delete.prefix"
    assert complaint == f"weir: {place}: there is none; expected a prefix that has a route; look\n"


def test_without_root_or_a_deployment_it_says_what_is_needed(
    told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    deployed(monkeypatch, routed(), FakeDeployment(SECOND))
    code, _, complaint = weir("small", "edge")
    assert (code, complaint) == (
        2,
        f"weir: small is deployed more than once; name one in place of small: {FIRST}, {SECOND}\n",
    )
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    code, _, complaint = weir(FIRST, "edge", "route-delete", "prefix=::/0")
    assert (code, told) == (3, [])
    assert complaint == "weir: weir-dp takes commands from root alone; run it as root or with sudo\n"


def test_a_weir_dp_that_is_gone_is_said_with_its_log(monkeypatch: pytest.MonkeyPatch) -> None:
    deployed(monkeypatch, routed())
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    code, _, complaint = weir(FIRST, "edge", "route-delete", "prefix=::/0")
    assert code == 3
    assert "cannot connect: No such file or directory; its log: /nonexistent" in complaint
