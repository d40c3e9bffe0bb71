# SPDX-License-Identifier: Apache-2.0
"""A run of which this machine can measure nothing is refused before it begins."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from typer.testing import CliRunner

from weir import fabric
from weir.cli import exits
from weir.cli.main import app
from weir.fabric import probe

runner = CliRunner()
COMMANDS = [["run"], ["rfc2544", "--test", "throughput"]]


@pytest.fixture(autouse=True)
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a root who may do everything but what a test takes away; nothing is measured."""
    monkeypatch.setenv("WEIR_RUN_DIR", str(tmp_path / "run"))
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(probe, "makes_namespaces", lambda: True)
    monkeypatch.setattr("weir.procedures.campaign.Campaign.run", lambda _: pytest.fail("measures"))


def refused(words: list[str], lab: str, folder: Path) -> str:
    path, store = folder / "lab.yml", folder / "results.db"
    path.write_text(f"weir: 1\nname: small\n{lab}\n")
    done = runner.invoke(app, [words[0], str(path), *words[1:], "--store", str(store)])
    assert done.exit_code == exits.ENVIRONMENT
    assert not store.exists()
    return done.stderr


@pytest.mark.parametrize("words", [*COMMANDS, ["soak", "--rate", "1kpps"]], ids=" ".join)
def test_without_weir_dp(words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEIR_DP", "/nowhere/weir-dp")
    said = refused(words, "chain: PVP\ntechnology: [direct]", tmp_path)
    assert said == (
        "weir: there is no weir-dp at /nowhere/weir-dp; get it by `make native`, or set WEIR_DP\n"
    )


CHAIN = "chain: PVP\ntechnology: [direct]"
GUEST = """chain: PVP
technology: [linux-bridge]
functions:
  default: {kind: vm, vm: {forwarder: kernel}}"""
CLOUD = "tenants: [{name: one}]"


@pytest.mark.parametrize(
    ("words", "lab"),
    [
        ("deploy", CHAIN),
        ("deploy", f"{CLOUD}\ncloud: {{router: weir}}"),
        ("run", f"{CLOUD}\nmeasure: {{loads: [1kpps]}}"),
        ("model calibrate", CHAIN),
        ("migrate --rate 1kpps", GUEST),
    ],
)
def test_what_does_not_go_to_the_store_is_refused_too_without_weir_dp(
    words: str, lab: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WEIR_DP", "/nowhere/weir-dp")
    for name in ("deploy", "Deployment.deploy"):
        monkeypatch.setattr(f"weir.fabric.{name}", lambda *_, **__: pytest.fail("builds"), raising=False)
    path = tmp_path / "lab.yml"
    path.write_text(f"weir: 1\nname: small\n{lab}\n")
    done = runner.invoke(app, [*words.split(), str(path)])
    assert (done.exit_code, done.stdout) == (exits.ENVIRONMENT, "")
    assert done.stderr == (
        "weir: there is no weir-dp at /nowhere/weir-dp; get it by `make native`, or set WEIR_DP\n"
    )


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_where_no_technology_of_the_lab_is_possible(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fabric, "require_to_measure", lambda: None)
    monkeypatch.setattr(probe, "makes_namespaces", lambda: False)
    said = refused(words, "chain: [PVP, PVVP]\ntechnology: [linux-bridge, ovs]", tmp_path)
    setups = "linux-bridge PVP, linux-bridge PVVP, ovs PVP, ovs PVVP"
    reason = "root may not make network namespaces here"
    assert said.startswith(f"weir: nothing of this lab can be measured here: {setups}: {reason}: ")
