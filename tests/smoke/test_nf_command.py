# SPDX-License-Identifier: Apache-2.0
"""`weir command`: rules of a firewall that stands are other ones then, and it says so itself."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.weir_command import WEIR
from weir import fabric
from weir.cli.exits import USAGE
from weir.cli.main import app
from weir.plan import SOCKET
from weir.protocol import DataPlaneClient

from .surroundings import Surroundings
from .tiny import LAB

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="starts weir-dp: run as root"),
]

FUNCTIONS = "functions: {edge: {nf: firewall, options: {rules: rules}}}\n"


def weir(*words: str) -> tuple[int, str, str]:
    done = CliRunner().invoke(app, ["command", *words])
    return done.exit_code, done.stdout, done.stderr


def rules(deployment: fabric.Deployment) -> int:
    """As the function reports them."""
    with DataPlaneClient(deployment.run_dir / SOCKET) as client:
        return client.report("f1", "firewall").figures["f1"]["rules"]


@pytest.mark.long
def test_rules_of_a_firewall_that_stands_change_one_by_one_and_from_a_file(
    surroundings: Surroundings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = LAB.read_text().replace("chain: PVP", "chain: [[edge]]")
    (tmp_path / "lab.yml").write_text(
        text.replace("[direct, linux-bridge, ovs, ovs-dpdk]", "direct") + FUNCTIONS
    )
    (tmp_path / "rules").write_text("permit udp any any\n")
    subprocess.run([*WEIR, "deploy", str(tmp_path)], check=True)
    (deployment,) = fabric.deployments()
    surroundings.tokens.add(deployment.id.rsplit("-", 1)[1])
    assert rules(deployment) == 1

    code, said, complaint = weir("tiny", "edge", "change", "change_list=add deny tcp any any any 23 first")
    assert (code, said) == (0, "f1 (firewall): change is done\n"), complaint
    assert rules(deployment) == 2

    code, _, complaint = weir("tiny", "edge", "change", "change_list=remove permit icmp any any")
    assert code == USAGE
    assert complaint.startswith(
        "weir: f1 (firewall): change: change_list:1: there is no rule permit icmp any any;"
    )
    assert rules(deployment) == 2

    (tmp_path / "others").write_text("permit udp any any\npermit tcp any any\npermit icmp any any\n")
    monkeypatch.chdir(tmp_path)
    assert weir(deployment.id, "f1", "reload", "rules=others") == (0, "f1 (firewall): reload is done\n", "")
    assert rules(deployment) == 3
    deployment.destroy()
    surroundings.check("destroyed")
