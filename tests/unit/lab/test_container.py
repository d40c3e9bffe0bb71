# SPDX-License-Identifier: Apache-2.0
"""Functions of kind container: what is accepted, and what is refused with its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from weir.lab import load_lab
from weir.lab.problem import LabFileError

from .lab_text import load, problem

LAB = "weir: 1\nname: small\nchain: PVP\ntechnology: linux-bridge\nfunctions:\n  default: {%s}\n"

CPUS = tuple(range(8))


@pytest.fixture
def bundle(tmp_path: Path) -> str:
    (tmp_path / "config.json").write_text("{}")
    return str(tmp_path)


def test_its_bundle_is_where_the_lab_file_says_and_its_image_says_the_rest(tmp_path: Path) -> None:
    (tmp_path / "nf").mkdir()
    (tmp_path / "nf/config.json").write_text("{}")
    (tmp_path / "lab.yml").write_text(LAB % "kind: container, container: {bundle: nf}")
    lab = load_lab(tmp_path)
    container = lab.functions["default"].container
    assert container is not None
    assert container.bundle == str(tmp_path / "nf")
    assert [(one.name, one.or_else) for one in lab.programs("PVP")] == [("ip", ()), ("runc", ("crun",))]


def test_a_bundle_that_is_not_there_is_named(tmp_path: Path) -> None:
    (tmp_path / "lab.yml").write_text(LAB % "kind: container, container: {bundle: nf}")
    with pytest.raises(LabFileError) as refused:
        load_lab(tmp_path)
    (found,) = refused.value.problems
    assert found.key == "functions.default.container.bundle"
    assert found.message == f"there is no {tmp_path / 'nf/config.json'}"


@pytest.mark.parametrize(
    ("text", "key", "message"),
    [
        ("kind: container", "functions.default", "names no container"),
        (
            "kind: program, program: {command: nf}, container: {bundle: nf}",
            "functions.default.container",
            "means nothing to kind program",
        ),
        (
            "kind: container, container: {bundle: nf}, program: {command: nf, user: nobody}",
            "functions.default.program.user",
            "is of this host",
        ),
        (
            "kind: container, container: {bundle: nf}, program: {counterpart: testpmd}, nf: l2fwd",
            "functions.default.program.counterpart",
            "not in a container",
        ),
        (
            "kind: container, container: {bundle: nf, runtime: lxc}",
            "functions.default.container.runtime",
            "lxc",
        ),
        (
            "kind: container, container: {bundle: nf}, nf: l2fwd",
            "functions.default.nf",
            "a program in a container",
        ),
    ],
)
def test_an_impossible_one_is_refused_where_it_is(text: str, key: str, message: str, bundle: str) -> None:
    found = problem(LAB % text.replace("bundle: nf", f"bundle: {bundle}"))
    assert found.key == key
    assert message in found.message


def test_its_command_has_names_as_a_programs(bundle: str) -> None:
    lab = load(
        LAB % f"kind: container, container: {{bundle: {bundle}}}, program: {{command: 'nf {{left.name}}'}}"
    )
    assert lab.functions["default"].programmed() is not None
    found = problem(
        LAB % f"kind: container, container: {{bundle: {bundle}}}, program: {{command: 'nf {{left.nam}}'}}"
    )
    assert "unknown name {left.nam}" in found.message


def test_cores_of_a_partition_which_its_runtime_would_take_it_off_are_refused(bundle: str) -> None:
    lab = LAB % f"kind: container, container: {{bundle: {bundle}}}"
    found = problem(lab + "host: {isolation: partition}\n", cpus=CPUS)
    assert (found.key, found.expected) == ("host.isolation", "no isolation, or kind: program")
    assert "default is a container" in found.message
    load(lab + "host: {isolation: auto}\n", cpus=CPUS)
    load((LAB % "kind: program, program: {command: nf}") + "host: {isolation: partition}\n", cpus=CPUS)
