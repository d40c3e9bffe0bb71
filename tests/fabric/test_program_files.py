# SPDX-License-Identifier: Apache-2.0
"""What a user's program finds when it comes up, and what runs before it too."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from weir import plan
from weir.base.error import FabricError
from weir.fabric.function import commands, container, program_files
from weir.lab import Lab
from weir.plan import Step

LAB = {
    "weir": 1,
    "name": "own",
    "chain": [["mine"]],
    "technology": "linux-bridge",
    "functions": {
        "mine": {
            "kind": "program",
            "program": {
                "command": "nf {file.rules}",
                "user": "root",
                "files": {"rules": "in {left.name} below {runtime_directory}"},
                "commands": ["nft -f {file.rules}", "mkdir {runtime_directory}/{left.name}"],
            },
        }
    },
}


def steps_of(lab: dict[str, Any]) -> dict[str, Step]:
    its = Lab.model_validate_json(json.dumps(lab))
    topology = plan.build_topology(
        its, its.technology[0], its.chains()[0], plan.deployment_id("own", "0badcafe")
    )
    return {one.kind: one for one in plan.steps(topology, its)}


def site_of(folder: Path) -> Any:
    return SimpleNamespace(directory=folder, deployment="own-0badcafe")


def test_commands_before_a_program_find_its_files_and_its_runtime_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[list[str]] = []

    def run(_params: Any, _site: Any, words: list[str], _log: str) -> Any:
        said.append(words[4:])
        assert (tmp_path / "f1.files" / "rules").read_text() == f"in left below {tmp_path / 'f1.run'}"
        assert (tmp_path / "f1.run").is_dir()
        return SimpleNamespace(wait=lambda *_: None)

    monkeypatch.setattr(commands, "run", run)
    commands.Commands().do(steps_of(LAB)["commands"], site_of(tmp_path))
    assert said == [
        ["nft", "-f", str(tmp_path / "f1.files" / "rules")],
        ["mkdir", str(tmp_path / "f1.run" / "left")],
    ]


def test_what_a_command_has_made_of_a_file_stays_when_the_program_starts(tmp_path: Path) -> None:
    its = steps_of(LAB)
    program_files.written(its["commands"].params, site_of(tmp_path))
    rules = tmp_path / "f1.files" / "rules"
    rules.write_text("changed")
    values = program_files.written(its["program"].params, site_of(tmp_path), {"startup": "of its own"})
    assert (rules.read_text(), values["file.rules"]) == ("changed", str(rules))
    assert Path(values["file.startup"]).read_text() == "of its own"


@pytest.mark.parametrize(
    ("user", "mode", "owner"),
    [
        ({"uid": 1000, "gid": 1001}, 0o711, (1000, 1001)),
        ({"uid": 0, "gid": 0}, 0o700, None),
        (None, 0o700, None),
    ],
)
def test_whom_a_container_runs_as_reaches_its_files_and_may_make_sockets(
    user: dict[str, int] | None,
    mode: int,
    owner: tuple[int, int] | None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    owners: dict[Path, tuple[int, int]] = {}
    monkeypatch.setattr("os.chown", lambda path, uid, gid: owners.update({path: (uid, gid)}))
    (tmp_path / "config.json").write_text(json.dumps({"process": {"user": user}}))
    (run := tmp_path / "run").mkdir(mode=0o700)
    params = steps_of(LAB)["program"].params | {"bundle": str(tmp_path), "user": ""}
    program_files.written(params, site_of(run))
    assert run.stat().st_mode & 0o777 == mode
    assert owners == ({run / "f1.run": owner} if owner is not None else {})


@pytest.mark.parametrize("user", [{"uid": "me"}, {"uid": None}, {"uid": 1000, "gid": -1}])
def test_a_containers_user_that_is_no_number_is_refused(user: object, tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps({"process": {"user": user}}))
    with pytest.raises(
        FabricError, match=r"config.json is no bundle that can be run: its process.user has no"
    ):
        container.user_of({"bundle": str(tmp_path)})
