# SPDX-License-Identifier: Apache-2.0
"""What an ordinary user can do, and what they are told about the rest."""

from __future__ import annotations

import json
import os
import secrets
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.weir_command import WEIR
from weir import fabric, plan
from weir.cli.exits import ENVIRONMENT, FAILED, OK, USAGE
from weir.fabric import namespace

from .tiny import LAB, tiny_lab

# May read everything, because the interpreter and this source tree may be in root's home.
ONLY_READS = "-all,+dac_read_search"
ORDINARY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", f"--inh-caps={ONLY_READS}"]
ORDINARY += [f"--ambient-caps={ONLY_READS}", f"--bounding-set={ONLY_READS}"]


def as_ordinary_user(*words: str) -> subprocess.CompletedProcess[str]:
    """weir, run by a user who may change nothing."""
    program = [*WEIR, *words]
    return subprocess.run(
        [*(ORDINARY if os.geteuid() == 0 else []), *program], capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize(
    "words",
    [
        ["validate", str(LAB)],
        ["deploy", str(LAB), "--dry-run"],
        ["deploy", str(LAB), "--dry-run", "--technology", "ovs-dpdk", "--json"],
        ["inspect"],
    ],
)
def test_looking_needs_no_root(words: list[str]) -> None:
    done = as_ordinary_user(*words)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""


@pytest.mark.parametrize("command", ["run", "deploy"])
def test_building_says_what_needs_root_and_what_does_not(command: str) -> None:
    done = as_ordinary_user(command, str(LAB))
    assert done.returncode == ENVIRONMENT
    assert "need root: for network namespaces, hugepages and the ports of weir-dp" in done.stderr
    assert "`weir deploy --dry-run`" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.long
def test_verifying_a_cloud_says_what_needs_root_and_what_does_not() -> None:
    with TemporaryDirectory(dir="/tmp") as folder:
        Path(folder).chmod(0o755)
        (Path(folder) / "sut.yml").write_text("weir: 1\nname: own\ndriver: local\n")
        done, listed = as_ordinary_user("verify", folder), as_ordinary_user("verify", folder, "--dry-run")
    assert done.returncode == ENVIRONMENT
    assert done.stderr.startswith("weir: verifying Weir's own cloud needs root: for the network namespaces")
    assert done.stderr.count("\n") == 1
    assert "`weir verify --dry-run` says without root what would be run" in done.stderr
    assert (listed.returncode, listed.stderr) == (OK, "")
    assert listed.stdout.endswith("nothing was run\n")


@pytest.mark.long
@pytest.mark.root
@pytest.mark.skipif(os.geteuid() != 0, reason="makes namespaces: run as root")
def test_a_graph_says_what_an_ordinary_user_does_not_see_and_what_to_do() -> None:
    name = f"weir-{secrets.token_hex(4)}-x"
    namespace.create(name)
    try:
        text, page = as_ordinary_user("graph"), as_ordinary_user("graph", "--format", "json")
        named = as_ordinary_user("graph", "-n", name)
        followed = as_ordinary_user("graph", "--path", name, "198.18.0.1")
        deployed = as_ordinary_user("graph", str(LAB))
    finally:
        namespace.delete(name)
    unseen, mend = f"network namespace {name}: only root may look at it", "run it as root or with sudo to see"
    assert text.returncode == page.returncode == OK, text.stderr + page.stderr
    assert f"\n  {unseen}\n" in text.stdout
    assert text.stderr == f"weir: not all of this host was seen; {mend} the rest\n"
    assert unseen in json.loads(page.stdout)["unseen"]
    assert page.stderr.startswith("weir: not seen: ")
    assert mend in page.stderr
    assert named.returncode == followed.returncode == USAGE
    assert f"no namespace has {name} in its name; there are: host; not all were seen: {mend}" in named.stderr
    assert f"nothing is called {name};" in followed.stderr
    assert mend in followed.stderr
    assert deployed.returncode == ENVIRONMENT
    assert "looking into what is deployed needs root: nobody else may enter" in deployed.stderr
    assert "`weir graph` of this user's own namespace, need no root" in deployed.stderr


@pytest.mark.long
@pytest.mark.root
@pytest.mark.skipif(os.geteuid() != 0, reason="makes namespaces: run as root")
def test_what_root_has_deployed_can_be_seen_and_not_be_destroyed(run_root: Path) -> None:
    run_root.chmod(0o755)
    lab = tiny_lab("linux-bridge")
    name = plan.deployment_id(lab.name, secrets.token_hex(4))
    topology = plan.build_topology(lab, "linux-bridge", lab.chains()[0], name)
    steps = [step for step in plan.steps(topology, lab) if step.kind != "weir-dp"]
    deployment = fabric.Deployment.deploy(steps, topology)
    diagnosed = as_ordinary_user("doctor", "--json")  # somebody works on it
    assert diagnosed.returncode in (OK, FAILED), diagnosed.stderr
    said = [one["what"] for one in json.loads(diagnosed.stdout)["findings"]]
    assert f"{name}: another weir works on it" in said
    seen, refused = as_ordinary_user("inspect"), as_ordinary_user("destroy", name)
    assert seen.returncode == 0, seen.stderr
    assert f"{name}  PVP under linux-bridge" in seen.stdout
    assert refused.returncode == ENVIRONMENT
    assert "is another user's; run this as root or with sudo" in refused.stderr
    deployment.destroy()
