# SPDX-License-Identifier: Apache-2.0
"""Functions of kind program: what is accepted, and what is refused with its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from weir.lab import load_lab
from weir.lab.problem import LabFileError, Problem

from .lab_text import load, problem

BRIDGE = "weir: 1\nname: small\nchain: PVP\ntechnology: {technology}\n"


def function(text: str, technology: str = "linux-bridge") -> str:
    lab = BRIDGE.replace("{technology}", technology)
    return lab + f"functions:\n  default: {{kind: program, {text}}}\n"


def test_a_command_is_enough() -> None:
    program = load(function("program: {command: './nf --in {left.name}'}")).functions["default"].program
    assert program is not None
    assert (program.command, program.ready, program.user) == ("./nf --in {left.name}", None, None)


def test_it_runs_where_the_lab_file_lies(tmp_path: Path) -> None:
    (tmp_path / "lab.yml").write_text(function("program: {command: ./nf}"))
    program = load_lab(tmp_path).functions["default"].program
    assert program is not None
    assert program.directory == str(tmp_path)
    assert [one.name for one in load_lab(tmp_path).programs("PVP")] == ["ip", "./nf"]


@pytest.mark.parametrize(
    ("text", "key", "message", "expected"),
    [
        ("cores: [1]", "functions.default", "names no program", "program: with its command"),
        ("program: {command: ''}", "functions.default.program.command", "names no program", "a program"),
        (
            "program: {command: '{file.run}', files: {run: x}}",
            "functions.default.program.command",
            "begins with a name that is only known later",
            "name or path",
        ),
        (
            "program: {command: 'nf {left.nmae}'}",
            "functions.default.program.command",
            "unknown name {left.nmae}",
            "left.name",
        ),
        (
            "program: {command: 'nf {file.conf}'}",
            "functions.default.program.command",
            "unknown name {file.conf}",
            "one of",
        ),
        (
            "program: {command: 'nf', files: {conf: 'in {lft.name}'}}",
            "functions.default.program.files.conf",
            "unknown name {lft.name}",
            "left.name",
        ),
        (
            "program: {command: nf, ready: '('}",
            "functions.default.program.ready",
            "is no regular expression",
            "as Python",
        ),
        (
            "program: {command: nf, directory: nowhere}",
            "functions.default.program.directory",
            "there is no directory",
            "relative to",
        ),
        (
            "nf: l2fwd, program: {command: nf}",
            "functions.default.nf",
            "means nothing to a program",
            "process",
        ),
    ],
)
def test_an_impossible_one_is_refused_where_it_is(
    text: str, key: str, message: str, expected: str, tmp_path: Path
) -> None:
    (tmp_path / "lab.yml").write_text(function(text))
    found = problem(function(text)) if "directory" not in text else _problem_of(tmp_path)
    assert found.key == key
    assert message in found.message
    assert expected in (found.expected or "")


def _problem_of(folder: Path) -> Problem:
    with pytest.raises(LabFileError) as refused:
        load_lab(folder)
    return refused.value.problems[0]


@pytest.mark.parametrize("technology", ["direct", "ovs-dpdk", "sr-iov"])
def test_technologies_that_join_no_interface_say_why(technology: str) -> None:
    found = problem(function("program: {command: nf}", technology))
    assert found.key == "technology"
    assert "joins no interface of the kernel, which default needs" in found.message


def test_what_belongs_to_a_program_means_nothing_to_others() -> None:
    found = problem(
        BRIDGE.replace("{technology}", "ovs") + "functions:\n  default: {nf: l2fwd, program: {command: x}}\n"
    )
    assert (found.key, found.expected) == ("functions.default.program", "kind: program")


def test_braces_of_the_programs_own_stay() -> None:
    files = "files: {conf: '{env.HOME} ${x.y} {cores.all}'}"
    program = load(function(f"program: {{command: nf, {files}}}")).functions["default"].program
    assert program is not None
    assert program.files["conf"] == "{env.HOME} ${x.y} {cores.all}"
