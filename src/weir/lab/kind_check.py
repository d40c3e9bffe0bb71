# SPDX-License-Identifier: Apache-2.0
"""Functions outside weir-dp, in network namespaces, that are well formed and yet impossible."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress

from weir.lab.command_check import command_complaints
from weir.lab.complaint import Complaint, show
from weir.lab.counterparts import PROGRAMS
from weir.lab.function import FunctionOptions, NfOptions
from weir.lab.kernel import (
    EAL,
    FILE_PREFIX,
    PORT_NAMES,
    PROGRAM_NAMES,
    SIDES,
    ProgramOptions,
    names_in,
    words_of,
)
from weir.lab.lab import Lab
from weir.lab.linux_check import linux_as_complaints, needs_complaints
from weir.lab.problem import nearest
from weir.lab.source import KeyPath
from weir.technology import TECHNOLOGIES

_SETTING = re.compile(r"net(\.[a-zA-Z0-9_-]+)+")
_OF_WEIR_DP = ("nf", "chain", "router", "options", "fastpath", "offload")
_HEADS = (*SIDES, FILE_PREFIX.rstrip("."))
"""What names in braces begin with."""
_UNCLOSED = re.compile(rf"\{{(?:{'|'.join(_HEADS)})\.[\w-]+(?=[^{{}}]*$)")
_OF_LINUX_TOO = ("nf", "chain", "options")
_OF_COUNTERPARTS_TOO = ("nf", "options")
_FORWARDS = {
    "kernel": "Linux",
    "program": "a program of yours",
    "container": "a program in a container",
    "vm": "the image",
}
"""What does, by kind of function, where weir-dp does not."""


def of_weir_dp_alone(
    path: KeyPath, function: FunctionOptions, about: tuple[KeyPath, ...]
) -> Iterator[Complaint]:
    """Keys that only weir-dp understands, where something else forwards."""
    who = _FORWARDS[function.kind]
    wanted = "vm.forwarder: weir-dp" if function.kind == "vm" else "kind: process"
    if function.kind == "vm" and function.forwards_by() == "kernel":
        who = "the guest's kernel"
    understood: tuple[str, ...] = _OF_LINUX_TOO if function.kind == "kernel" else ()
    if function.program is not None and function.program.counterpart:
        understood = _OF_COUNTERPARTS_TOO
    for key in _OF_WEIR_DP:
        if getattr(function, key) and key not in understood:
            yield Complaint((*path, key), f"means nothing to {who}", wanted, about=about)
    if function.architecture != "run-to-completion":
        yield Complaint((*path, "architecture"), f"means nothing to {who}", wanted, about=about)


def kernel_complaints(path: KeyPath, function: FunctionOptions) -> Iterator[Complaint]:
    """What contradicts itself in one function."""
    at: KeyPath = (*path, "kernel")
    if function.kernel is not None and function.kind != "kernel":
        about: tuple[KeyPath, ...] = ((*path, "kind"), at)
        yield Complaint(at, f"means nothing to kind {function.kind}", "kind: kernel", about=about)
        return
    options = function.namespaced()
    if options is None:
        return
    yield from of_weir_dp_alone(path, function, ((*path, "kind"),))
    yield from linux_as_complaints(path, function)
    for index, command in enumerate(options.commands):
        yield from _of_command((*at, "commands", index), command, PORT_NAMES)
    for key, value in options.sysctls.items():
        if _SETTING.fullmatch(key) is None:
            wanted = "a setting of the network, such as net.ipv4.conf.left.rp_filter"
            yield Complaint((*at, "sysctls", key), "is none that a network namespace has of its own", wanted)
        elif isinstance(value, str) and (not value or not value.isprintable()):
            yield Complaint((*at, "sysctls", key), "is no value", "a number, or a text of one line")


def program_complaints(path: KeyPath, function: FunctionOptions) -> Iterator[Complaint]:
    """What contradicts itself in one function."""
    at, program = (*path, "program"), function.program
    yield from _container(path, function)
    if function.kind not in ("program", "container"):
        if program is not None:
            about: tuple[KeyPath, ...] = ((*path, "kind"), at)
            yield Complaint(at, f"means nothing to kind {function.kind}", "kind: program", about=about)
        return
    yield from of_weir_dp_alone(path, function, ((*path, "kind"),))
    if program is None and function.kind == "container":
        return
    if program is None:
        yield Complaint(path, "names no program", "program: with its command", about=((*path, "kind"),))
        return
    yield from _one_program(path, function, program)
    known = tuple(_known_names(program))
    if program.command is not None:
        yield from _of_command((*at, "command"), program.command, known)
        longer = [word for word in _split(program.command) if word != f"{{{EAL}}}"]
        yield from _eal_within((*at, "command"), longer)
        if names_in(words[:1] if (words := _split(program.command)) else ()):
            message, expected = "begins with a name that is only known later", "a program's name or path"
            yield Complaint((*at, "command"), message, expected)
    if program.ready_socket is not None:
        yield from _unknown_names((*at, "ready_socket"), program.ready_socket, known)
        yield from _eal_within((*at, "ready_socket"), program.ready_socket)
    for index, command in enumerate(program.commands):
        yield from _of_command((*at, "commands", index), command, known)
        yield from _eal_within((*at, "commands", index), command)
    for section, texts in (("files", program.files), ("environment", program.environment)):
        for name, text in texts.items():
            yield from _unknown_names((*at, section, name), text, known)
            yield from _eal_within((*at, section, name), text)
    try:
        re.compile(program.ready or "")
    except re.error as error:
        message = f"is no regular expression: {error}"
        yield Complaint((*at, "ready"), message, "one as Python's re has them")


def _one_program(path: KeyPath, function: FunctionOptions, program: ProgramOptions) -> Iterator[Complaint]:
    """Either a command, or a program that is known, in the place of the function that it can stand for."""
    at: KeyPath = (*path, "program")
    if program.counterpart is None:
        if program.command is None and function.kind == "program":
            wanted = "program.command, or program.counterpart and nf"
            yield Complaint(at, "names no program", wanted, about=((*path, "kind"),))
        if program.path is not None:
            message = "is of a counterpart, and there is none"
            yield Complaint((*at, "path"), message, "program.counterpart, or no path")
        return
    if program.command is not None:
        message = "stands beside counterpart"
        yield Complaint((*at, "command"), message, "one of command and counterpart")
    known = PROGRAMS[program.counterpart]
    does = known.stands_for
    if function.nf not in does:
        found = f"nf: {function.nf}" if function.nf is not None else "no nf"
        what = f"{does[0]} does" if len(does) == 1 else f"{', '.join(does[:-1])} and {does[-1]} do"
        message = f"{program.counterpart} does what {what}, and the function has {found}"
        wanted = f"nf: {' or '.join(does)}"
        yield Complaint((*at, "counterpart"), message, wanted, about=((*path, "nf"),))
    elif function.nf is not None:
        one = NfOptions(nf=function.nf, options=function.options)
        yield from needs_complaints((*path, "nf"), one, program.counterpart)
    if program.ports not in known.ports:
        message = f"{program.counterpart} is not set up with ports of kind {program.ports}"
        wanted = f"ports: {' or '.join(known.ports)}"
        yield Complaint((*at, "ports"), message, wanted, about=((*at, "counterpart"),))


_OUTSIDE_ALONE = {
    "counterpart": "is started as it is installed here, and not in a container",
    "user": "is of this host, and whom a container runs as is its config.json's to say",
}


def _container(path: KeyPath, function: FunctionOptions) -> Iterator[Complaint]:
    """A container where there is none, or none where there is one."""
    at, about = (*path, "container"), ((*path, "kind"),)
    if function.kind != "container":
        if function.container is not None:
            yield Complaint(at, f"means nothing to kind {function.kind}", "kind: container", about=about)
        return
    if function.container is None:
        yield Complaint(path, "names no container", "container: with its bundle", about=about)
    for key, why in _OUTSIDE_ALONE.items():
        if function.program is not None and getattr(function.program, key) is not None:
            yield Complaint((*path, "program", key), why, f"no {key}, or kind: program", about=about)


def _known_names(program: ProgramOptions) -> Iterator[str]:
    """What may stand in braces: of a program at sockets no interface, of another one no socket."""
    lacks = {"interface": "socket", "any": ""}.get(program.ports, "name")
    yield from (name for name in PROGRAM_NAMES if name.partition(".")[2] != lacks or "." not in name)
    yield from (f"{FILE_PREFIX}{name}" for name in program.files)


def _split(command: str | Sequence[str]) -> tuple[str, ...]:
    with suppress(ValueError):  # which is a complaint of its own
        return words_of(command)
    return ()


def _of_command(path: KeyPath, command: str | Sequence[str], known: Sequence[str]) -> Iterator[Complaint]:
    """What is wrong with one command. `known`: the names that it may have in braces."""
    yield from command_complaints(path, command)
    yield from _unknown_names(path, command, known)


def _unknown_names(path: KeyPath, text: str | Sequence[str], known: Sequence[str]) -> Iterator[Complaint]:
    for part in [text] if isinstance(text, str) else text:
        if (unclosed := _UNCLOSED.search(part)) is not None:
            said = f"has {show(unclosed[0])}, a name without its closing brace"
            close = nearest(unclosed[0][1:], known)
            yield Complaint(path, said, "a closing brace" if close is None else f"{{{close}}}")
    for name in names_in(text):
        head, dot, _ = name.partition(".")
        ours = head in _HEADS or nearest(head, _HEADS) is not None  # {env.HOME} is the command's own
        if name not in known and dot and ours:
            listed = "one of " + ", ".join(known)
            yield Complaint(path, f"has the unknown name {{{name}}}", listed, nearest(name, known))


_EAL = re.compile(rf"(?<!\$)\{{{EAL}\}}")  # ${eal} is a shell's


def _eal_within(path: KeyPath, text: str | Sequence[str]) -> Iterator[Complaint]:
    """What {eal} stands for are many words: where it is not one of the command's own, nothing replaces it."""
    if any(_EAL.search(part) for part in ([text] if isinstance(text, str) else text)):
        wanted = f"{{{EAL}}} between blanks in program.command, or as an element of its list"
        yield Complaint(path, f"has {{{EAL}}}, which only stands as a word of program.command", wanted)


_INTERFACE = "interface of the kernel"


def _joins(technology: str, function: FunctionOptions) -> bool:
    """Whether that has ports for the function; one in weir-dp or a virtual machine is another matter."""
    if not function.in_namespace():
        return True
    ports = function.program.ports if function.program is not None else "interface"
    return TECHNOLOGIES[technology].program_port(ports) is not None


def _ports_of(function: FunctionOptions) -> str:
    ports = function.program.ports if function.program is not None else "interface"
    return _INTERFACE if ports == "interface" else f"{'virtio-user' if ports == 'any' else ports} port"


def _beside_each_other(lab: Lab) -> tuple[str, ...]:
    """The first two functions that are programs and neighbours in a chain; none."""
    for chain in lab.chains():
        named = [name for name in chain.functions if name in lab.functions]
        for pair in itertools.pairwise(named):
            if all(lab.functions[name].programmed() is not None for name in pair):
                return pair
    return ()


def kernel_lab_complaints(lab: Lab) -> Iterator[Complaint]:
    """Functions of this kind where nothing joins them, or where they could not forward what the lab sends."""
    used = dict.fromkeys(name for chain in lab.chains() for name in chain.functions)
    functions = {name: lab.functions[name] for name in used if name in lab.functions}
    about: tuple[KeyPath, ...] = (("functions",), ("chain",))
    for index, technology in enumerate(lab.technology):
        refusing = next((one for one in functions if not _joins(technology, functions[one])), None)
        if refusing is not None:
            message = f"{technology} joins no {_ports_of(functions[refusing])}, which {refusing} needs"
            why = TECHNOLOGIES[technology].no_interface
            message += f": {why}" if why is not None and _ports_of(functions[refusing]) == _INTERFACE else ""
            able = ", ".join(name for name in TECHNOLOGIES if _joins(name, functions[refusing]))
            yield Complaint(("technology", index), message, f"one of {able}", about=about)
        elif not TECHNOLOGIES[technology].network and (pair := _beside_each_other(lab)):
            message = (
                f"{technology} has wires, and {' and '.join(pair)} are programs beside each other: nothing"
                " counts what passes between them"
            )
            wanted = "a function of weir-dp between them, or a technology with a switch"
            yield Complaint(("technology", index), message, wanted, about=about)
    for name, function in functions.items():
        if function.container is not None and lab.host.isolation == "partition":
            message = f"isolates cores, and {name} is a container, whose runtime would take it off them"
            wanted = "no isolation, or kind: program"
            yield Complaint(("host", "isolation"), message, wanted, about=(("functions", name, "kind"),))
        options = function.namespaced()
        if options is not None and options.addressing == "routed" and lab.traffic.vlan is not None:
            message = f"makes tagged frames, and the interfaces of {name} have addresses for untagged ones"
            wanted = "no tag, or kernel.addressing: none, and commands that make interfaces for the tag"
            yield Complaint(("traffic", "vlan"), message, wanted, about=(("functions", name, "kernel"),))
