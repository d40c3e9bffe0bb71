# SPDX-License-Identifier: Apache-2.0
"""A technology is one file and its place in the list: nothing else names it, and a new one works at once."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.contributing import copied, perform
from tests.each_file import each_file
from tests.syntax import tree_of
from weir.base.step import Step
from weir.lab import Lab, load_lab
from weir.plan import build_topology, deployment_id, steps
from weir.technology import TECHNOLOGIES

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "weir"
LAB = ROOT / "labs" / "switching"

# A string that is a technology's name and means something else, or a feature that there is under one alone.
ELSEWHERE = {
    "procedures/migration/command.py": "migration is under linux-bridge alone",
    "host/device_checks.py": "the subject of a finding about cards",
    "lab/performance.py": "how the paper calls ways to build a chain in any cloud",
    "verify/drivers/local_chain.py": "likewise, those that this cloud does not have",
    "verify/drivers/openstack/chain_building.py": "likewise, what each asks of ports and flavors",
    "planning/calibration/drawing.py": "what stored models say of their switch",
}
WIRES = "direct"  # the model and the placement are of wires unless somebody says otherwise

USED = """
from weir.fabric.check import check
from weir.plan import build_topology, deployment_id, steps
from weir.lab import load_lab

lab = load_lab({path!r}, cpus=(0, 1, 2, 3))
assert lab.technology == ("patch",)
chain = lab.chains()[0]
topology = build_topology(lab, "patch", chain, deployment_id(lab.name, "00000000"))
assert topology.switch_cores == (3,)
assert [port.socket for port in topology.ports][:1] == ["tester.left.sock"]
assert [one.params["length_m"] for one in steps(topology, lab) if one.text == "lay it"] == [7, 7]
refusal = check("patch", lab.options("patch"))
print(refusal.fix if refusal is not None else "")
"""


def names_in(path: Path) -> set[str]:
    """Technologies that a module has as strings of their own; not in texts for people."""
    constants = (node for node in ast.walk(tree_of(path)) if isinstance(node, ast.Constant))
    return {str(node.value) for node in constants if isinstance(node.value, str)} & set(TECHNOLOGIES)


@each_file(sorted(PACKAGE.rglob("*.py")))
def test_only_its_own_file_names_a_technology(path: Path) -> None:
    place = path.relative_to(PACKAGE).as_posix()
    if place.startswith("technology/") or place in ELSEWHERE:
        return
    assert not names_in(path) - {WIRES}, f"{place} names a technology: ask its descriptor"


def test_the_exceptions_are_still_needed() -> None:
    assert all(names_in(PACKAGE / place) for place in ELSEWHERE)


@pytest.fixture(scope="module")
def lab() -> Lab:
    return load_lab(LAB)


@pytest.mark.parametrize("technology", TECHNOLOGIES)
def test_each_makes_what_joins_its_ports(technology: str, lab: Lab) -> None:
    topology = build_topology(lab, technology, lab.chains()[0], deployment_id(lab.name, "00000000"))
    described = TECHNOLOGIES[technology]
    made: list[Step] = described.steps(topology, lab.options(technology))
    assert bool(made) == described.network
    names = [step.name for step in steps(topology, lab)]
    assert len(set(names)) == len(names)
    assert [step.name for step in made] == [name for name in names if name in {step.name for step in made}]


@pytest.mark.long
def test_a_new_technology_is_one_file_and_one_word_in_the_list(tmp_path: Path) -> None:
    """As CONTRIBUTING.md says it is done, in a copy."""
    copy = copied(tmp_path, "src/weir")
    perform("To add a switching technology", copy)
    path = tmp_path / "lab.yml"
    path.write_text("weir: 1\nname: a\nchain: PVP\ntechnology: patch\ntechnologies: {patch: {length_m: 7}}\n")
    done = subprocess.run(
        [sys.executable, "-c", USED.format(path=str(path))],
        env={**os.environ, "PYTHONPATH": str(copy / "src")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    if os.geteuid() == 0:
        assert done.stdout.strip() == "give it 9999 cores or more"
