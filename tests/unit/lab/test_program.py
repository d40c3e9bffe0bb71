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


@pytest.mark.parametrize(
    "own", ["awk {left.x = 1}", "{left.mac,right.mac}", "{left.name:0}", "{file.rules.txt}"]
)
def test_braces_that_are_the_commands_own_are_left_alone(own: str) -> None:
    load(function(f"program: {{command: [nf, '{own}']}}"))


def test_it_runs_where_the_lab_file_lies(tmp_path: Path) -> None:
    (tmp_path / "lab.yml").write_text(function("program: {command: ./nf}"))
    program = load_lab(tmp_path).functions["default"].program
    assert program is not None
    assert program.directory == str(tmp_path)
    assert [one.name for one in load_lab(tmp_path).programs("PVP")] == ["ip", "./nf"]


@pytest.mark.parametrize(
    ("text", "key", "message", "expected"),
    [
        (
            "nf: nat, program: {counterpart: vpp}",
            "functions.default.options",
            "has no external, of which vpp is set up",
            "external",
        ),
        (
            "nf: lb, program: {counterpart: vpp}",
            "functions.default.options",
            "has no services and no services_file, of which vpp is set up",
            "services or services_file",
        ),
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
            "program: {command: [nf, '--of={left.name']}",
            "functions.default.program.command",
            "has '{left.name', a name without its closing brace",
            "{left.name}",
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


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("command: [sh, -c, 'nf {eal} -- -p 3']", "command"),
        ("command: nf, commands: ['nf-check {eal}']", "commands[0]"),
        ("command: nf, files: {conf: 'args {eal}'}", "files.conf"),
        ("command: nf, environment: {ARGS: '{eal}'}", "environment.ARGS"),
    ],
)
def test_what_dpdk_is_told_is_refused_where_nothing_would_replace_it(text: str, key: str) -> None:
    found = problem(function(f"program: {{{text}}}"))
    assert (found.key, found.message) == (
        f"functions.default.program.{key}",
        "has {eal}, which only stands as a word of program.command",
    )


def test_a_shells_variable_of_the_name_of_dpdks_words_is_its_own() -> None:
    load(function("program: {command: [sh, -c, 'eal=-n4; exec nf ${eal}']}"))


@pytest.mark.parametrize("technology", ["direct", "ovs-dpdk", "sr-iov"])
def test_technologies_that_join_no_interface_say_why(technology: str) -> None:
    found = problem(function("program: {command: nf}", technology))
    assert found.key == "technology"
    assert "joins no interface of the kernel, which default needs" in found.message


@pytest.mark.parametrize(
    ("ports", "technology"),
    [
        ("virtio-user", "direct"),
        ("virtio-user", "ovs-dpdk"),
        ("vhost-user", "direct"),
        ("memif", "direct"),
        ("any", "[direct, linux-bridge, ovs, ovs-dpdk]"),
    ],
)
def test_technologies_with_sockets_join_a_dpdk_program(ports: str, technology: str) -> None:
    command = "'nf {eal} -- {left.gateway_mac} {memory_mb} {file_prefix} {right.vdev}'"
    lab = load(function(f"program: {{command: {command}, ports: {ports}}}", technology))
    program = lab.functions["default"].program
    assert program is not None
    assert program.ports == ports


@pytest.mark.parametrize(
    ("ports", "technology", "lacks"),
    [
        ("virtio-user", "linux-bridge", "linux-bridge joins no virtio-user port, which default needs"),
        ("vhost-user", "ovs-dpdk", "ovs-dpdk joins no vhost-user port, which default needs"),
        ("memif", "ovs", "ovs joins no memif port, which default needs"),
        ("any", "sr-iov", "sr-iov joins no virtio-user port, which default needs"),
    ],
)
def test_technologies_that_cannot_carry_its_ports_are_named(ports: str, technology: str, lacks: str) -> None:
    found = problem(function(f"program: {{command: nf, ports: {ports}}}", technology))
    assert (found.key, found.message) == ("technology", lacks)


def test_two_programs_on_one_wire_are_refused_since_nothing_counts_between_them() -> None:
    lab = function("program: {command: nf, ports: any}", "direct").replace("PVP", "PVVP")
    found = problem(lab)
    assert found.key == "technology"
    assert "default and default are programs beside each other" in found.message
    load(lab.replace("direct", "ovs-dpdk"))


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("command: 'nf {left.name}', ports: virtio-user", "left.name"),
        ("command: 'nf {right.socket}'", "right.socket"),
        ("command: nf, ports: memif, ready_socket: '{lft.socket}'", "lft.socket"),
    ],
)
def test_a_name_that_its_ports_do_not_have_is_refused(text: str, name: str) -> None:
    technology = "direct" if "ports" in text else "ovs"
    found = problem(function(f"program: {{{text}}}", technology))
    assert f"unknown name {{{name}}}" in found.message


def test_a_counterpart_stands_in_the_place_of_its_function() -> None:
    text = "nf: l2fwd, options: {mode: mac-swap}, program: {counterpart: testpmd, ports: any}"
    lab = load(function(text, "direct"))
    assert [(one.nf, one.options) for one in lab.functions["default"].stands_for()] == [
        ("l2fwd", {"mode": "mac-swap"})
    ]
    assert [(one.name, one.package) for one in lab.programs("PVP")][1:] == [("dpdk-testpmd", "dpdk")]


@pytest.mark.parametrize(
    ("text", "key", "message"),
    [
        ("nf: l3fwd, program: {counterpart: testpmd}", "counterpart", "does what l2fwd does"),
        ("program: {counterpart: dpdk-l3fwd}", "counterpart", "the function has no nf"),
        ("nf: l2fwd, program: {counterpart: testpmd, command: nf}", "command", "beside counterpart"),
        ("program: {command: nf, path: ./l3fwd}", "path", "is of a counterpart"),
    ],
)
def test_a_counterpart_of_something_else_is_refused(text: str, key: str, message: str) -> None:
    found = problem(function(text))
    assert found.key == f"functions.default.program.{key}"
    assert message in found.message


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
